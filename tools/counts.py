"""Counts figures of maintainability: files, lines, ambiguous names, comments, inner imports.

`python -m tools.counts [SRC ...]` prints a column for each folder that holds a package
`memoriter`; by default this one. The figures of docs/adr/0043 come from here.
"""

from __future__ import annotations

import ast
import io
import keyword
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent.parent / "src"
VAGUE: Final = frozenset({"told", "found", "said", "mine"})
"""Names that say nothing about what they hold."""
RUN: Final = 6
"""Statements in a run that counts as repeated."""
_RECALL: Final = """
import sys, memoriter
memory = memoriter.open(":memory:")
memory.remember_many(["Prod SSH port is 49222", "The standup is at 9:30", "Ana likes tea"])
memory.recall("warm up")
seen = set()
def note(frame, event, arg):
    if event == "call" and "/memoriter/" in frame.f_code.co_filename:
        seen.add(frame.f_code.co_filename)
sys.setprofile(note)
memory.recall("which port for ssh?")
sys.setprofile(None)
print(len(seen))
"""

Tree = Mapping[Path, ast.Module]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def parsed(src: Path) -> Tree:
    """Every module of a tree, by its path inside the package."""
    package = src / "memoriter"
    return {
        path.relative_to(package): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(package.rglob("*.py"))
    }


def homes(names: Iterator[tuple[str, str]]) -> dict[str, set[str]]:
    """The names that are defined in more than one place, with these places."""
    places: dict[str, set[str]] = defaultdict(set)
    for name, place in names:
        places[name].add(place)
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def public_types(tree: Tree) -> Iterator[tuple[str, str]]:
    """(name, module) of every type that another module could import."""
    for path, module in tree.items():
        for name in types_of(module):
            yield name, path.as_posix()


def types_of(module: ast.Module) -> Iterator[str]:
    """The public types of a module: classes, type aliases, type variables and made models.

    A name in CamelCase that is assigned at the top level is one of the latter three.
    """
    for node in module.body:
        match node:
            case ast.ClassDef(name=name):
                names = [name]
            case ast.Assign(targets=targets):
                names = [each.id for each in targets if isinstance(each, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name)):
                names = [name]
            case _:
                names = []
        yield from (name for name in names if re.match(r"[A-Z]\w*[a-z]", name))


def public_functions(tree: Tree) -> Iterator[tuple[str, str]]:
    """(name, room) of every function that another module could import."""
    for path, module in tree.items():
        for node in module.body:
            if isinstance(node, Function) and not node.name.startswith("_"):
                yield node.name, path.parts[0]


def inner_imports(tree: Tree) -> int:
    """The number of imports inside functions."""
    return sum(
        isinstance(node, ast.Import | ast.ImportFrom)
        for module in tree.values()
        for function in ast.walk(module)
        if isinstance(function, Function)
        for node in ast.walk(function)
    )


def vague_names(tree: Tree) -> int:
    """The number of definitions with a vague name."""
    return sum(name in VAGUE for module in tree.values() for name in defined(module))


def defined(module: ast.Module) -> Iterator[str]:
    """Every name that a module binds: variables, arguments, functions, classes, attributes."""
    for node in ast.walk(module):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name.lower().strip("_")
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name.lower().strip("_")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name.lower().strip("_")
            case ast.ClassDef(name=name):
                yield name.lower().strip("_")
            case _:
                pass


def comment_lines(src: Path) -> int:
    """Lines that hold a comment and nothing else."""
    count = 0
    for path in (src / "memoriter").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            alone = token.type == tokenize.COMMENT and token.line.lstrip().startswith("#")
            count += alone and not re.match(r"#\s*(--|noqa|pyright|fmt)", token.string)
    return count


def recall_files(src: Path) -> int:
    """The number of files whose code a warm recall runs."""
    run = subprocess.run(  # noqa: S603  # this interpreter, and a script of ours
        [sys.executable, "-c", _RECALL],
        env={"PYTHONPATH": str(src)},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(run.stdout)


def lonely(tree: Tree) -> int:
    """The number of modules whose only importer is in the same folder."""
    modules = {module_name(path): path for path in tree}
    importers: dict[str, set[Path]] = defaultdict(set)
    for path, module in tree.items():
        for name in imported(path, module):
            if name in modules:
                importers[name].add(path)
    alone = 0
    for name, path in modules.items():
        users = importers[name] - {path}
        one = next(iter(users)) if len(users) == 1 else None
        alone += not path.name.startswith("__") and one is not None and one.parent == path.parent
    return alone


def module_name(path: Path) -> str:
    """The dotted name of a module, by its path inside the package."""
    parts = path.with_suffix("").parts
    return ".".join(("memoriter", *(parts[:-1] if parts[-1] == "__init__" else parts)))


def imported(path: Path, module: ast.Module) -> Iterator[str]:
    """Every dotted name that a module imports, relative imports resolved.

    `from a import b` gives `a` and `a.b`, since b may be a module.
    """
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = ("memoriter", *path.parts[:-1])[: len(path.parts) - node.level + 1]
            within = ".".join(above) if node.level else ""
            base = ".".join(filter(None, (within, node.module)))
            yield base
            yield from (f"{base}.{each.name}" for each in node.names)


def repeated(src: Path) -> int:
    """The number of statements in runs of six or more that occur again, in the same shape."""
    windows: dict[tuple[str, ...], list[tuple[Path, int]]] = defaultdict(list)
    for path in sorted((src / "memoriter").rglob("*.py")):
        shapes = list(statement_shapes(path.read_text(encoding="utf-8")))
        for at in range(len(shapes) - RUN + 1):
            windows[tuple(shapes[at : at + RUN])].append((path, at))
    again = (places for places in windows.values() if len(places) > 1)
    return len({(p, at + n) for places in again for p, at in places for n in range(RUN)})


def statement_shapes(text: str) -> Iterator[str]:
    """Each statement of a file with names as `n` and constants as `c`.

    Imports, decorators and texts alone are left out: they repeat everywhere.
    """
    shape: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            if shape[0] not in ("import", "from", "@") and shape != ["c"]:
                yield " ".join(shape)
            shape = []
        elif token.type == tokenize.NAME:
            shape.append(token.string if keyword.iskeyword(token.string) else "n")
        elif token.type in (tokenize.NUMBER, tokenize.STRING):
            shape.append("c")
        elif token.type == tokenize.OP:
            shape.append(token.string)


def counted(src: Path) -> dict[str, int]:
    """All figures of one tree, by label."""
    tree = parsed(src)
    lines = [path.read_text("utf-8").count("\n") for path in (src / "memoriter").rglob("*.py")]
    return {
        "files": len(tree),
        "lines": sum(lines),
        "comment lines": comment_lines(src),
        "files that a recall passes through": recall_files(src),
        "modules with one importer, in their own folder": lonely(tree),
        "names of classes and types with several homes": len(homes(public_types(tree))),
        "function names in several rooms": len(homes(public_functions(tree))),
        "imports inside functions": inner_imports(tree),
        "names that say nothing (told, found, said, mine)": vague_names(tree),
        "statements in repeated runs of six or more": repeated(src),
    }


def main() -> None:
    """Print a table with a column for each tree."""
    columns = [counted(Path(each)) for each in sys.argv[1:] or [str(HERE)]]
    for name in columns[0]:
        figures = "".join(f"{column[name]:>10,}" for column in columns)
        sys.stdout.write(f"{name:<50}{figures}\n")


if __name__ == "__main__":
    main()
