"""Do names say what they hold, and does each public name have one home?"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import re
import typing
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tools.counts import types_of

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "memoriter"

VAGUE = frozenset({"told", "found", "said", "mine"})
"""Words that say nothing about the value; no name consists of one of them."""


# --- vague names -----------------------------------------------------------------------------


def names(source: str) -> Iterator[tuple[int, str]]:
    """Every identifier of a file with its line; text in strings and comments is not looked at."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield node.lineno, name
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                yield node.lineno, name
            case ast.keyword(arg=str(name)):
                yield node.lineno, name
            case ast.alias(name=module, asname=name):
                yield node.lineno, name or module
            case _:
                pass


def vague(source: str, path: str = "") -> list[str]:
    return [
        f"line {line}: {name}" for line, name in names(source) if name.strip("_").lower() in VAGUE
    ]


def test_no_name_is_a_word_that_says_nothing() -> None:
    findings = [
        f"{path.relative_to(ROOT)}: {finding}"
        for folder in ("src", "tests", "bench", "tools")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for finding in vague(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())
    ]
    assert not findings, f"{len(findings)} vague names\n" + "\n".join(findings)


def vague_keys(source: str) -> list[str]:
    """Keys of recipes, facts and columns are names too: texts that consist of a vague word."""
    return [
        f"line {node.lineno}: {node.value!r}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and node.value in VAGUE
    ]


def test_no_key_of_a_recipe_or_receipt_says_nothing() -> None:
    findings = [f"{path}: {each}" for path, text in modules().items() for each in vague_keys(text)]
    assert not findings, "\n".join(findings)
    assert vague_keys("facts = {'said': 1}\n")
    assert not vague_keys("text = 'what was said'\n")


def test_a_vague_name_is_noticed_wherever_it_stands() -> None:
    for source in (
        "found = 1\n",
        "def f(told): ...\n",
        "def _said(): ...\n",
        "class Found: ...\n",
        "x.mine\n",
        "f(told=1)\n",
        "import a as mine\n",
        "from a import told\n",
        "try: ...\nexcept E as told: ...\n",
        "match x:\n    case [*said]: ...\n",
        "f'{found}'\n",
    ):
        assert vague(source), source
    assert not vague("founder = 'found'  # told\ndef test_it_is_found(): ...\n")


# --- one home for each public name -----------------------------------------------------------


class Allowed(NamedTuple):
    """Why a function name may have several homes, and which files may be one of them."""

    reason: str
    homes: str
    """A pattern of paths below src/memoriter, without `.py`."""


VERB = Allowed(
    "the same verb: the method of Memory, its handler, its command",
    r"doors/handlers|doors/cli/\w+|memory/\w+|testing/acts",
)
PROOF = Allowed(
    "the same verb; the function that does the work has its name too",
    r"doors/handlers|doors/cli/\w+|memory/\w+|why/(diff|read_receipt|what_if|whynot|verify/__init__)",
)
TOOL = Allowed(
    "another system's tool or method, which has that system's own name",
    r"systems/\w+/(tools|methods)|doors/handlers|doors/cli/\w+|memory/\w+",
)
PORT = Allowed(
    "a function of the port that every importer and every dialect has",
    r"imports/\w+|text/dialects/\w+|systems/\w+/(importer|dialect|rows)",
)
SECOND = Allowed(
    "the verifier writes each formula a second time and imports nothing of ours",
    r"why/verify/.+|why/receipt|core/canonical|rank/\w+",
)

SEVERAL_HOMES: dict[str, Allowed] = {
    **dict.fromkeys(
        (
            "bundles", "calibrate", "decide", "expire", "explain", "forget", "get", "history",
            "link", "links", "maintain", "reflect", "reflections", "remember", "replay", "review",
            "status", "update",
        ),
        VERB,
    ),
    **dict.fromkeys(("diff", "verify", "what_if", "why_not"), PROOF),
    **dict.fromkeys(("browse", "keywords", "recall", "search"), TOOL),
    **dict.fromkeys(("advise", "parse", "read", "recognise"), PORT),
    **dict.fromkeys(("canonical", "idf", "snap"), SECOND),
    "plan": Allowed("the same verb, and the function that makes the plan",
                    r"doors/handlers|doors/cli/ask|pipeline/plan"),
    "restore": Allowed("the verb and its command", r"memory/backups|doors/cli/admin"),
    "copy": Allowed("the verb and its command", r"memory/copying|doors/cli/admin"),
}  # fmt: skip
"""Public functions whose name may have several homes."""

Homes = Mapping[str, list[str]]


def functions_of(module: ast.Module) -> Iterator[str]:
    """The public functions of a module."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from () if node.name.startswith("_") else (node.name,)


def homes(defined: Callable[[ast.Module], Iterator[str]], sources: Mapping[str, str]) -> Homes:
    """In which modules each of the names is defined that `defined` lists."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for path, source in sources.items():
        for name in set(defined(ast.parse(source))):
            by_name[name].append(path)
    return by_name


def misplaced(by_name: Homes, allowed: Mapping[str, Allowed]) -> Iterator[str]:
    """Names with several homes, but for those homes that the list allows."""
    for name, paths in sorted(by_name.items()):
        entry = allowed.get(name)
        others = [p for p in paths if entry is None or not re.fullmatch(entry.homes, p)]
        if len(paths) > 1 and others:
            yield f"{name}: {', '.join(sorted(paths))}"


def modules() -> dict[str, str]:
    return {
        path.relative_to(SRC).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(SRC.rglob("*.py"))
    }


def test_a_public_class_or_type_has_one_home() -> None:
    findings = list(misplaced(homes(types_of, modules()), {}))
    assert not findings, "\n".join(findings)


def test_a_public_function_has_one_home_or_a_reason() -> None:
    findings = list(misplaced(homes(functions_of, modules()), SEVERAL_HOMES))
    assert not findings, f"{len(findings)} names\n" + "\n".join(findings)


def test_every_exception_is_still_needed() -> None:
    by_name = homes(functions_of, modules())
    assert not [name for name in SEVERAL_HOMES if len(by_name.get(name, [])) < 2]


def test_a_second_home_is_noticed() -> None:
    sources = {"a/x": "def f(): ...\nclass Ab: ...\n", "b/y": "def f(): ...\nAb = int | str\n"}
    assert list(misplaced(homes(types_of, sources), {})) == ["Ab: a/x, b/y"]
    made = {"a/x": "Ab = create_model('Ab')\n", "b/y": "Ab: type = int\nAB = 1\n"}
    assert list(misplaced(homes(types_of, made), {})) == ["Ab: a/x, b/y"]
    assert list(misplaced(homes(functions_of, sources), {})) == ["f: a/x, b/y"]
    assert not list(misplaced(homes(functions_of, sources), {"f": Allowed("", "a/x|b/y")}))
    assert list(misplaced(homes(functions_of, sources), {"f": Allowed("", "a/x")}))
    assert not list(misplaced(homes(functions_of, {"a/x": "def _f(): ...\n" * 2}), {}))


def other_meanings(sources: Mapping[str, str]) -> Iterator[str]:
    """Public types with the name of a standard one, and imports under another type's name."""
    by_name = homes(types_of, sources)
    for name, paths in sorted(by_name.items()):
        if any(hasattr(module, name) for module in (builtins, typing, collections.abc)):
            yield f"{name}: {', '.join(paths)}: is also a name of the standard library"
    for path, source in sources.items():
        for node in ast.walk(ast.parse(source)):
            for each in node.names if isinstance(node, ast.ImportFrom) else ():
                if each.asname in by_name and each.asname != each.name:
                    yield f"{each.asname}: {path}: is {each.name} here"


def test_a_public_type_has_one_meaning() -> None:
    findings = list(other_meanings(modules()))
    assert not findings, "\n".join(findings)


def test_a_second_meaning_is_noticed() -> None:
    assert list(other_meanings({"a/x": "class Any: ...\n"}))
    sources = {"a/x": "class Scope: ...\n", "b/y": "from c import Reach as Scope\n"}
    assert list(other_meanings(sources)) == ["Scope: b/y: is Reach here"]


# --- private names of the package ------------------------------------------------------------


PROTOCOL_NAMES = frozenset({"_exit", "_replace", "_repr_html_"})
"""Names with an underscore that others made public: os, named tuples, notebooks."""


def private_uses(source: str) -> Iterator[str]:
    """Private names of the package that a test imports, or replaces by their path."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("memoriter"):
                yield from (each.name for each in names if re.match("_[^_]", each.name))
            case ast.Constant(value=str(text)) if re.fullmatch(r"memoriter\.[\w.]+\._\w+", text):
                yield text
            case ast.Call(
                func=ast.Attribute(attr="setattr"), args=[_, ast.Constant(value=str(key)), *_]
            ):
                yield from (key,) if re.match("_[^_]", key) else ()
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner not in (
                "self",
                "cls",
            ) and re.match("_[^_]", name):
                yield from () if name in PROTOCOL_NAMES else (f"{owner}.{name}",)
            case _:
                pass


def test_tests_use_the_public_names_of_the_package() -> None:
    findings = [
        f"{path.relative_to(ROOT)}: {use}"
        for folder in ("tests", "bench")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path != ROOT / "tests" / "inside.py" and "crash" not in path.parts
        for use in private_uses(path.read_text("utf-8"))
    ]
    assert not findings, "\n".join(findings)


def test_a_private_name_in_a_test_is_noticed() -> None:
    for source in (
        "from memoriter.a import _b\n",
        "patch.setattr('memoriter.a._b', 1)\n",
        "patch.setattr(a, '_b', 1)\n",
        "memory._engine\n",
    ):
        assert list(private_uses(source)), source
