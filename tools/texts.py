"""Draws texts that people read, to be read as a stranger would: errors, hints, help.

`python -m tools.texts [SEED [COUNT]]` prints the seed and so many of them (40), each with its
place and the names that stand beside it. Values that a text gets later stand in braces.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent.parent / "src" / "memoriter"
_SHORTEST: Final = 12


def every_text() -> Iterator[tuple[str, str]]:
    """(place, text) of every error with its hint, every help text and every command's docstring."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = _with_constants(ast.parse(path.read_text(encoding="utf-8")))
        for node, beside in _with_names(tree, ()):
            text = _read_by_people(node)
            # One word is a code, such as the type of an error.
            if len(text) >= _SHORTEST and " " in text:
                named = _part(node) if isinstance(node, ast.Raise) else _named(beside)
                yield f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}{named}", text


def _with_constants(tree: ast.Module) -> ast.Module:
    """The module with the texts themselves where a hint names a constant of the module."""
    named = {
        node.target.id: node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and isinstance(node.value, ast.Name):
            node.value = named.get(node.value.id, node.value)
    return tree


def _read_by_people(node: ast.AST) -> str:
    match node:
        case ast.Raise(exc=ast.Call(args=[first, *_], keywords=named)):
            hints = [_text(each.value) for each in named if each.arg == "hint"]
            return "\n    hint: ".join(filter(None, (_text(first), *hints)))
        case ast.Call(func=ast.Name(id="option" | "Option"), args=[first, *_], keywords=named):
            values = [f"; {each}" for at in named if at.arg == "values" for each in _values(at)]
            return _text(first) + "".join(values)
        case ast.Call(func=ast.Name(id="Field"), args=[_, second, *_]):
            return _text(second)
        case ast.keyword(arg="help" | "description", value=value):
            return _text(value)
        case ast.FunctionDef(decorator_list=[ast.Call(func=ast.Name(id="command"))]):
            return ast.get_docstring(node) or ""
        case _:
            return ""


def _with_names(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[ast.AST, tuple[str, ...]]]:
    """Every node, with the names of the class and the field or parameter that it is part of.

    Readers see these names beside the text: an option in a table of its kind, a flag in a help.
    """
    match node:
        case ast.ClassDef(name=name):
            names = (_kind(node) or name,)
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.arg(arg=name):
            names = (*names[:1], name)
        case _:
            pass
    yield node, names
    for child in ast.iter_child_nodes(node):
        yield from _with_names(child, names)


def _kind(node: ast.ClassDef) -> str:
    """The kind of a lane, a boost or an ordering, from `kind: Literal["…"]`."""
    for each in node.body:
        match each:
            case ast.AnnAssign(
                target=ast.Name(id="kind"),
                annotation=ast.Subscript(slice=ast.Constant(value=str() as kind)),
            ):
                return kind
            case _:
                pass
    return ""


def _part(node: ast.Raise) -> str:
    """Says that a function of the module completes the text."""
    match node.exc:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name.startswith("_"):
            return f" (completed by {name})"
        case _:
            return ""


def _named(names: tuple[str, ...]) -> str:
    return f" ({'.'.join(names)})" if names else ""


def _values(given: ast.keyword) -> Iterator[str]:
    """The meaning of each value of an option, as its table lists them."""
    if isinstance(given.value, ast.Dict):
        for key, value in zip(given.value.keys, given.value.values, strict=True):
            if isinstance(key, ast.Constant):
                yield f"{key.value}: {_text(value)}"


def _text(node: ast.expr) -> str:
    """A constant text, or one with expressions in braces; empty for anything else."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(_text, parts))
        case ast.FormattedValue(value=value):
            return f"{{{ast.unparse(value)}}}"
        case _:
            return ""


def main() -> None:
    """Print the texts that were drawn."""
    seed = sys.argv[1] if sys.argv[1:] else "1"
    count = int(sys.argv[2]) if sys.argv[2:] else 40
    texts = sorted(every_text(), key=lambda each: _lot(seed, each[1]))
    sys.stdout.write(f"seed {seed}, {count} of {len(texts)} texts\n")
    for place, text in texts[:count]:
        sys.stdout.write(f"\n{place}\n    {text}\n")


def _lot(seed: str, text: str) -> str:
    """A text's place in the draw: the same on every machine, and whatever else there is."""
    return hashlib.sha256(f"{seed} {text}".encode()).hexdigest()


if __name__ == "__main__":
    main()
