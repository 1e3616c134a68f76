"""How objects show themselves to people: `repr` on one short line, and HTML in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any, Final

WIDTH: Final = 120
"""The most characters that a repr has."""
_TEXT: Final = 60
_NAME: Final = 32
_READ: Final = 1000
"""So much of a long text is looked at."""


def shown(kind: str, told: str = "") -> str:
    """The repr of an object: what it is, and what matters most about it.

    >>> shown("Result", "3 hits, complete")
    '<Result: 3 hits, complete>'
    """
    line = f"<{kind}: {told}>" if told else f"<{kind}>"
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 2]}…>"


def quoted(text: object, width: int = _TEXT) -> str:
    r"""A text in quotes, on one line and shortened; characters that nobody sees are escaped.

    >>> quoted("one\ntwo \x1b[31m")
    "'one two \\x1b[31m'"
    >>> quoted("a long text", 8)
    "'a lon…'"
    """
    line = " ".join(str(text)[:_READ].split())
    if len(repr(line)) <= width:
        return repr(line)
    sizes = accumulate(2 if char in "'\\" else len(repr(char)) - 2 for char in line)
    kept = sum(size <= width - 3 for size in sizes)  # quotes and the ellipsis take three
    return repr(f"{line[:kept]}…")


def named(text: object) -> str:
    """An id or another name, in quotes."""
    return quoted(text, _NAME)


def plain(text: object, width: int = _TEXT) -> str:
    """A word or a short phrase, as `quoted` has it but without quotes."""
    return quoted(text, width)[1:-1]


def counted(count: int, one: str, many: str = "") -> str:
    """A count and its noun.

    >>> counted(1, "hit"), counted(2, "hit"), counted(0, "memory", "memories")
    ('1 hit', '2 hits', '0 memories')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


# -- HTML ------------------------------------------------------------------------------------------

_DRAWN: dict[type, Callable[[Any], str]] = {}


def draw_by(kind: type, draw: Callable[[Any], str]) -> None:
    """Say how objects of a class are drawn; `why` knows how, and lower rooms do not import it."""
    _DRAWN[kind] = draw


def drawn(what: object) -> str | None:
    """The object as HTML; None where nobody knows how, and a notebook shows its repr."""
    draw = _DRAWN.get(type(what))
    return None if draw is None else draw(what)
