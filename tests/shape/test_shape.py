"""Does the code keep the shape we promised? Small files, short functions, no silenced alarms."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import memoriter

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "memoriter"
PROPERTY = ROOT / "tests" / "property"

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 8
MAX_NAMELESS = 5
MIN_WIDE_TUPLE = 5
LAWS_NOT_YET = "Still to come"
ADR_SECTIONS = ["Context", "Decision", "Consequences", "Status"]

FOREIGN_CALLS: dict[str, str] = {
    "memory/embedding.py": "whatever was raised is raised again where the caller waits",
    "models/worker_thread.py": "whatever was raised is raised again where the caller waits",
    "write/annotate.py": "an extractor may be anybody's code; its failure leaves a record bare",
    "embed/vector_space.py": "an embedder may be anybody's code; its failure becomes debt",
    "pipeline/kinds.py": "loads other packages by entry point; one that fails is told of",
}
"""Modules outside doors/ that may catch everything because they call a stranger's code: why."""

MANY_VALUES: dict[str, str] = {
    "_HEAD.pack": "struct takes the values of a format in order",
    "Operation": "the table of operations: every row has the same seven columns",
    "ForeignTool": "the tables of tools: every row has the same six columns",
    "Format": "the table of formats: every row has the same six columns",
    "_words": "takes any number of words",
    "check_known": "takes any number of sets of options",
    "digest": "takes any number of parts",
    "self._edges": "takes any number of values for its statement",
    "_tag": "takes any number of parts",
}
"""Calls that may have more values without a name: why."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


# --- checks on one source file: each says what is wrong, or nothing --------------------------


def long_file(source: str) -> Iterator[str]:
    lines = source.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{lines} lines, at most {MAX_FILE_LINES}: which idea wants its own room?"


def long_function(source: str) -> Iterator[str]:
    for function in functions(source):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if lines > MAX_FUNCTION_LINES:
            yield f"{function.name} has {lines} lines, at most {MAX_FUNCTION_LINES}"


def wide_signature(source: str) -> Iterator[str]:
    for function in functions(source):
        arguments = function.args
        names = [
            each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        ]
        if names[:1] in (["self"], ["cls"]):
            names = names[1:]
        if len(names) > MAX_PARAMETERS:
            yield f"{function.name} takes {len(names)} parameters, at most {MAX_PARAMETERS}"


def nameless_values(source: str) -> Iterator[str]:
    """A call with many values names them: nobody counts to six."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and len(node.args) > MAX_NAMELESS:
            name = ast.unparse(node.func)
            if name not in MANY_VALUES:
                yield f"line {node.lineno}: {name} gets {len(node.args)} values without a name"


def wide_tuple(source: str) -> Iterator[str]:
    """Values that belong together have names: no type is a tuple of five or more."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=parts)):
                if len(parts) >= MIN_WIDE_TUPLE:
                    yield f"line {node.lineno}: a tuple of {len(parts)}: name its values"
            case _:
                pass


def silenced_complexity(source: str) -> Iterator[str]:
    """A blanket noqa counts too: it silences the complexity rules along with the rest."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        match = re.search(r"#\s*(?:ruff:\s*)?noqa(?::\s*(?P<codes>[A-Z0-9, ]+))?", token.string)
        if match and (match["codes"] is None or re.search(r"C90|PLR09", match["codes"])):
            yield f"line {token.start[0]}: {token.string}"


def late_import(source: str) -> Iterator[str]:
    """An import inside a function costs its readers: a comment says what it saves."""
    for number, line in enumerate(source.splitlines(), start=1):
        if "PLC0415" in line and not re.search(r"PLC0415  # \S", line):
            yield f"line {number}: {line.strip()}"


def unfinished(source: str) -> Iterator[str]:
    for number, line in enumerate(source.splitlines(), start=1):
        if re.search(r"\b(TODO|FIXME)\b", line):
            yield f"line {number}: {line.strip()}"


def swallowed_error(source: str) -> Iterator[str]:
    """Catching everything is for cleaning up or translating: such a handler ends in a raise."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ExceptHandler) or isinstance(node.body[-1], ast.Raise):
            continue
        caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        names = {ast.unparse(each) if each else "" for each in caught}
        if names & {"", "Exception", "BaseException"}:
            yield f"line {node.lineno}: catches everything and goes on"


def missing_docstring(source: str) -> Iterator[str]:
    if ast.get_docstring(ast.parse(source)) is None:
        yield "the module has no docstring"


def functions(source: str) -> Iterator[Function]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


Check = Callable[[str], Iterator[str]]
BAD_SAMPLES: dict[Check, str] = {
    long_file: "x = 1\n" * (MAX_FILE_LINES + 1),
    long_function: "def f():\n" + "    x = 1\n" * MAX_FUNCTION_LINES,
    wide_signature: "class A:\n    def f(self, a, b, c, d, /, e, f, g, *, h, i): ...\n",
    nameless_values: "row(1, 2, 3, 4, 5, 6, 7)\n",
    wide_tuple: "def f(a: list[tuple[int, int, int, int, str]]): ...\n",
    silenced_complexity: "def f(): ...  # noqa" + ": PLR0913\n",
    late_import: "def f():\n    import json  # no" + "qa: PLC0415\n",
    unfinished: "# TO" + "DO: later\n",
    swallowed_error: "try:\n    f()\nexcept (OSError, Exception):\n    pass\n",
    missing_docstring: "x = 1\n",
}
GOOD_SAMPLE = '''"""A module."""


class A:
    """A class."""

    def f(self, a, b, c, d, /, e, f, g, *, h, **rest):  # noqa: ARG002
        """Eight parameters, a narrow noqa, and a clean-up that raises again."""
        try:
            return a
        except BaseException:
            self.close()
            raise
'''


@pytest.mark.parametrize("check", BAD_SAMPLES, ids=lambda check: check.__name__)
def test_every_source_file_keeps_its_shape(check: Check) -> None:
    findings = [
        f"{path.relative_to(ROOT)}: {finding}"
        for path in sorted(SRC.rglob("*.py"))
        for finding in check(path.read_text(encoding="utf-8"))
        if not (check is swallowed_error and may_catch_everything(path))
    ]
    assert not findings, "\n".join(findings)


def may_catch_everything(path: Path) -> bool:
    inside = path.relative_to(SRC)
    return inside.parts[0] == "doors" or inside.as_posix() in FOREIGN_CALLS


@pytest.mark.parametrize("check", BAD_SAMPLES, ids=lambda check: check.__name__)
def test_each_check_can_fail(check: Check) -> None:
    assert list(check(BAD_SAMPLES[check]))
    assert not list(check(GOOD_SAMPLE))


def test_a_blanket_noqa_is_caught_as_well() -> None:
    assert list(silenced_complexity("x = 1  # no" + "qa\n"))
    assert list(silenced_complexity("# ruff: no" + "qa\n"))


def test_there_are_sources_to_look_at() -> None:
    assert len(list(SRC.rglob("*.py"))) > len(BAD_SAMPLES)


# --- the verifier of receipts stands alone ---------------------------------------------------


def strangers(source: str, depth: int = 1) -> Iterator[str]:
    """Imports of anything but the standard library and files of the verifier.

    A file in one of its folders is at depth 2, and may import from two levels up.
    """
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and not 1 <= node.level <= depth:
            names = [f"{'.' * node.level}{node.module or ''}"]
        yield from (n for n in names if n.partition(".")[0] not in sys.stdlib_module_names)


def test_the_verifier_imports_nothing_but_the_standard_library() -> None:
    folder = SRC / "why" / "verify"
    imported = {
        path: list(strangers(path.read_text("utf-8"), len(path.relative_to(folder).parts)))
        for path in folder.rglob("*.py")
    }
    assert len(imported) > 1
    assert not any(imported.values()), imported


def test_a_stranger_in_the_verifier_is_noticed() -> None:
    source = "import json\nimport numpy as np\nfrom ..receipt import x\nfrom .numbers import y\n"
    assert list(strangers(source)) == ["numpy", "..receipt"]
    assert list(strangers(source, 2)) == ["numpy"]
    assert list(strangers("from ...receipt import x\n", 2)) == ["...receipt"]


# --- the five systems plug in, and the core knows none of them by name -----------------------

SYSTEMS = re.compile(r"(?i)mentisdb|mnestic|jeffs|engrava|\bcomis\b")


def test_the_core_names_none_of_the_five_systems() -> None:
    named = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((*SRC.rglob("*.py"), *SRC.rglob("*.toml")))
        if path.relative_to(SRC).parts[0] != "systems"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if SYSTEMS.search(line)
    ]
    assert not named, "\n".join(named)


def test_a_system_named_in_the_core_is_noticed() -> None:
    assert SYSTEMS.search("as engrava does")
    assert SYSTEMS.search("Comis' list")
    assert not SYSTEMS.search("a promise, no compromise")


# --- laws ------------------------------------------------------------------------------------


def laws(text: str) -> list[str]:
    return [name for name in re.findall(r"^## (.+?)\s*$", text, re.M) if name != LAWS_NOT_YET]


def untested(text: str, tests: set[str]) -> list[str]:
    return [law for law in laws(text) if "test_" + law.lower().replace(" ", "_") not in tests]


def test_every_law_has_a_property_test_of_its_name() -> None:
    text = (ROOT / "LAWS.md").read_text(encoding="utf-8")
    tests = {
        function.name
        for path in PROPERTY.rglob("test_*.py")
        for function in functions(path.read_text(encoding="utf-8"))
    }
    assert laws(text)
    assert not untested(text, tests)


def test_a_law_without_a_test_is_noticed() -> None:
    text = f"# Laws\n\n## Round trip\n…\n\n## Prefix\n…\n\n## {LAWS_NOT_YET}\n- Receipt\n"
    assert untested(text, {"test_round_trip"}) == ["Prefix"]


# --- decisions -------------------------------------------------------------------------------


def malformed(name: str, text: str) -> Iterator[str]:
    title = re.match(r"# (\d{4})\. \S", text)
    if not re.fullmatch(r"\d{4}(-[a-z0-9]+)+\.md", name) or not title or title[1] != name[:4]:
        yield f"{name}: file name and title must carry the same number"
    sections = re.findall(r"^## (.+?)\s*$", text, re.M)
    if sections != ADR_SECTIONS:
        yield f"{name}: sections are {sections}, must be {ADR_SECTIONS}"


def test_every_decision_has_its_four_sections() -> None:
    paths = sorted((ROOT / "docs" / "adr").glob("*.md"))
    findings = [each for path in paths for each in malformed(path.name, path.read_text("utf-8"))]
    assert not findings, "\n".join(findings)
    assert [int(path.name[:4]) for path in paths] == list(range(1, len(paths) + 1))


def test_a_malformed_decision_is_noticed() -> None:
    body = "".join(f"## {section}\n…\n" for section in ADR_SECTIONS)
    assert not list(malformed("0007-a-title.md", f"# 0007. A title\n{body}"))
    assert list(malformed("0007-a-title.md", f"# 0008. A title\n{body}"))
    assert list(malformed("0007-a-title.md", f"# 0007. A title\n{body.replace('## Status', '')}"))


# --- the public surface ----------------------------------------------------------------------


def bound_names(source: str) -> set[str]:
    """Public names that a package's `__init__` defines or takes from its own package."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module=module, level=level) if (
                level or (module or "").split(".")[0] == "memoriter"
            ):
                names |= {each.asname or each.name for each in node.names}
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Assign(targets=targets):
                names |= {each.id for each in targets if isinstance(each, ast.Name)}
            case _:
                pass
    return {name for name in names if not name.startswith("_")}


def in_order(names: list[str]) -> list[str]:
    """CONSTANTS, then Classes, then functions: the order the linter keeps in `__all__`."""
    return sorted(names, key=lambda name: (not name.isupper(), not name[:1].isupper(), name))


def test_all_is_sorted_and_is_what_the_package_exports() -> None:
    exported = list(memoriter.__all__)
    assert exported == in_order(exported)
    assert len(exported) == len(set(exported))
    assert not [name for name in exported if not hasattr(memoriter, name)]
    bound = bound_names((SRC / "__init__.py").read_text(encoding="utf-8"))
    assert {name for name in exported if not name.startswith("_")} == bound


def test_an_unlisted_name_is_noticed() -> None:
    source = "import os\nfrom memoriter.core.record import Record\n_x = 1\ndef open(): ...\n"
    assert bound_names(source) == {"Record", "open"}
    assert in_order(["open", "Record", "LIMIT"]) == ["LIMIT", "Record", "open"]
