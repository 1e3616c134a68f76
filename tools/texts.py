"""Draws texts that people read, to be read as a stranger would: errors, hints, help.

`python -m tools.texts [SEED [COUNT]]` prints the seed and so many of them (40), each with its
place. Values that a text gets when it is printed stand in braces.
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
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            place = f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
            match node:
                case ast.Raise(exc=ast.Call(args=[first, *_], keywords=named)):
                    hints = [_text(each.value) for each in named if each.arg == "hint"]
                    text = "\n    hint: ".join(filter(None, (_text(first), *hints)))
                case ast.Call(func=ast.Name(id="option" | "Option"), args=[first, *_]):
                    text = _text(first)
                case ast.keyword(arg="help" | "description", value=value):
                    text = _text(value)
                case ast.FunctionDef(decorator_list=[ast.Call(func=ast.Name(id="command"))]):
                    text = ast.get_docstring(node) or ""
                case _:
                    continue
            if len(text) >= _SHORTEST:
                yield place, text


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
