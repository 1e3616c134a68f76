# Everything a person or a machine runs here has one of these names. `make help` lists them.

PYTHON ?= python3
WORKERS ?= 3
ARGS ?=
# A worker begins with files of its own, whose fixtures are then made once, and ends by taking tests from the others.
PARALLEL := -n $(WORKERS) --dist worksteal

DEV := .venv
DEMO := .venv-demo
BIN := $(DEV)/bin

# An environment is ready for exactly these pins, this project file, this native kernel and this Python.
NATIVE := $(wildcard native/pyproject.toml native/setup.py native/c/* native/src/memoriter_fast/*.py)
KEY := $(shell { cat constraints.txt pyproject.toml $(NATIVE); $(CC) --version; $(PYTHON) -V; } 2>&1 | cksum | tr -dc '0-9')
DEV_READY := $(DEV)/ready-$(KEY)
DEMO_READY := $(DEMO)/ready-$(KEY)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# Without byte code on disk every process of the suite would compile the package and its tests anew.
unexport PYTHONDONTWRITEBYTECODE PYTHONPATH PYTHONHOME PIP_USER PIP_TARGET PIP_PREFIX VIRTUAL_ENV

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help demo test check laws conform claims beside hosts bench night docs pictures format lock clean python crash

# $(call quiet,what a person reads,command): one line when it works, all of its output when it does not.
quiet = printf '%-44s' '$(1)' && start=$$(date +%s) && \
	if out=$$( { $(2); } 2>&1 ); then echo "ok  $$(($$(date +%s) - start)) s"; \
	else echo 'FAILED'; printf '%s\n' "$$out"; exit 1; fi

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(DEMO_READY)  ## set everything up, then show an explained recall (offline, a few seconds)
	@$(DEMO)/bin/memoriter demo $(ARGS)

test: $(DEV_READY)  ## the whole test suite; tests/shape is part of make check
	@$(BIN)/python -m tools.browser
	@$(BIN)/pytest $(PARALLEL) --ignore=tests/shape $(ARGS)

check: $(DEV_READY)  ## format, lint, types, imports, shape
	@$(call quiet,format (ruff format --check),$(BIN)/ruff format --check .)
	@$(call quiet,lint (ruff check),$(BIN)/ruff check .)
	@$(call quiet,types (pyright),$(BIN)/pyright --pythonpath $(BIN)/python)
	@$(call quiet,imports (lint-imports),$(BIN)/lint-imports --no-cache)
	@$(call quiet,shape (pytest tests/shape),$(BIN)/pytest -q tests/shape)

laws: $(DEV_READY)  ## the property tests named in LAWS.md
	@$(BIN)/pytest $(PARALLEL) tests/property $(ARGS)

conform: $(DEV_READY)  ## the contract suite on every store
	@$(BIN)/pytest $(PARALLEL) tests/contract $(ARGS)

claims: $(DEV_READY)  ## what the five systems promise, number by number, and how each stands
	@$(BIN)/python -m tests.claims -n $(WORKERS) $(ARGS)

beside: $(DEV_READY)  ## our answers beside those of engrava and mnestic, which it installs (MEMORITER_DATA, MEMORITER_SIDEBYSIDE_CORPORA, _SEED, _VENV)
	@MEMORITER_SIDEBYSIDE=1 $(BIN)/pytest -q tests/sidebyside $(ARGS)

hosts: $(DEV_READY)  ## the adapters in the environments of their hosts, which it installs (ARGS=langgraph for one)
	@$(BIN)/python -m tools.hosts $(ARGS)

bench: $(DEV_READY)  ## measure; prints tables and never fails on speed
	@$(BIN)/python -m bench $(ARGS)

night: $(DEV_READY)  ## all tests with the long counts and a random seed, with and without the native kernel
	@MEMORITER_NIGHT=1 $(BIN)/pytest $(PARALLEL) -m '' $(ARGS)
	@MEMORITER_NIGHT=1 MEMORITER_KERNEL=numpy $(BIN)/pytest $(PARALLEL) -m '' $(ARGS)

crash: $(DEV_READY)  ## the crash laboratory: power cuts, kills, full disks, flipped bits
	@$(BIN)/pytest $(PARALLEL) tests/crash $(ARGS)

docs: $(DEV_READY)  ## run the examples in the docstrings
	@$(BIN)/pytest -q src $(ARGS)

pictures: $(DEV_READY)  ## draw the pictures of the README anew
	@$(BIN)/python -m tools.picture
	@$(BIN)/python -m tools.page_pictures

format: $(DEV_READY)  ## write what follows from declarations, format, mend what the linter can
	@$(BIN)/python -m tools.record_fields
	@$(BIN)/python -m tools.kinds
	@$(BIN)/python -m tools.plugins
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lock: python  ## resolve all dependencies anew and write constraints.txt
	@rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	@$(call quiet,pip-tools,.venv-lock/bin/pip install -q pip-tools)
	@$(call quiet,runtime part,$(PYTHON) -c "$$SPLIT" && $(COMPILE) -o .venv-lock/run.txt .venv-lock/run.in)
	@$(call quiet,development part,$(COMPILE) -o .venv-lock/all.txt .venv-lock/all.in)
	@$(PYTHON) -c "$$JOIN"
	@rm -rf .venv-lock

clean:  ## remove environments, caches and build products
	@rm -rf $(DEV) $(DEMO) .venv-lock .venv-host-* build dist src/memoriter.egg-info native/build native/src/*.egg-info .pytest_cache .ruff_cache \
		.hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ------------------------------------------------------------------------------------- set-up

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Memoriter needs Python 3.11 or newer (tested: 3.11, 3.12, 3.13)." >&2; \
		echo "'$(PYTHON)' is $$($(PYTHON) -V 2>&1 || true). Name another: make PYTHON=python3.12 …" >&2; \
		exit 1; }

$(DEMO_READY): | python
	@$(call quiet,environment $(DEMO),$(PYTHON) -m venv --clear $(DEMO))
	@sed '/^# development/,$$d' constraints.txt > $(DEMO)/runtime.txt
	@$(call quiet,runtime dependencies (pinned and hashed),$(call install,$(DEMO),$(DEMO)/runtime.txt))
	@$(call quiet,memoriter,$(call link,$(DEMO)))
	@$(call native,$(DEMO))
	@touch $@

$(DEV_READY): | python
	@$(call quiet,environment $(DEV),$(PYTHON) -m venv --clear $(DEV))
	@$(call quiet,all dependencies (pinned and hashed),$(call install,$(DEV),constraints.txt))
	@$(call quiet,memoriter,$(call link,$(DEV)))
	@$(call native,$(DEV))
	@touch $@

install = $(1)/bin/python -m pip install -q --require-hashes --no-deps -r $(2)
# The build backend is one of the pins, so nothing is fetched in this step.
link = $(1)/bin/python -m pip install -q --no-deps --no-build-isolation -e .
# The native kernel is optional: without a C compiler numpy does the same work.
native = if command -v $(firstword $(CC)) >/dev/null; then \
	$(call quiet,native kernel (memoriter-fast),CC='$(CC)' $(1)/bin/python -m pip install -q --no-deps --no-index --no-build-isolation ./native); \
	else echo 'native kernel (memoriter-fast)              left out: no C compiler "$(CC)"; numpy does its work'; fi

# --------------------------------------------------------------------------------------- lock

COMPILE := .venv-lock/bin/pip-compile -q --generate-hashes --strip-extras --allow-unsafe --no-header \
	--no-annotate --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options

define SPLIT
import pathlib, tomllib
told = tomllib.loads(pathlib.Path("pyproject.toml").read_text())
run = told["build-system"]["requires"] + told["project"]["dependencies"]
hosts = ("anthropic", "langchain", "langgraph")  # tools/hosts.py pins them
extras = told["project"]["optional-dependencies"]
every = [each for name in extras if name not in hosts for each in extras[name]]
dev = [each for each in every if not each.startswith("memoriter[")]
at = pathlib.Path(".venv-lock")
(at / "run.in").write_text("\n".join(run) + "\n")
(at / "all.in").write_text("\n".join(["-c run.txt", *run, *dev]) + "\n")
endef
export SPLIT

define JOIN
import pathlib, re
def pins(name):
    text = (pathlib.Path(".venv-lock") / name).read_text()
    return dict(re.findall(r"^([\w.-]+)(==.*(?:\n    --hash=.*)+)", text, re.M))
def part(title, found):
    return [title, *(name + found[name] for name in sorted(found))]
run, both = pins("run.txt"), pins("all.txt")
dev = {name: pin for name, pin in both.items() if name not in run}
lines = ["# Written by `make lock`. All of it for development; the first part is enough to run.", ""]
lines += part("# runtime and build backend", run) + [""] + part("# development", dev)
pathlib.Path("constraints.txt").write_text("\n".join(lines) + "\n")
endef
export JOIN
