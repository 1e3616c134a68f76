"""Helpers for `repr` on one short line, and for HTML in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any, Final

WIDTH: Final = 120
"""The longest repr, in characters."""
_TEXT: Final = 60
_NAME: Final = 32
_READ: Final = 1000
"""Only this many characters of a long text are read."""


def shown(kind: str, detail: str = "") -> str:
    """The repr of an object: its kind and the most useful detail.

    >>> shown("Result", "3 hits, complete")
    '<Result: 3 hits, complete>'
    """
    line = f"<{kind}: {detail}>" if detail else f"<{kind}>"
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 2]}…>"


def quoted(text: object, width: int = _TEXT) -> str:
    r"""A text in quotes, on one line and shortened; invisible characters are escaped.

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
    """An id or another name, in quotes and shortened."""
    return quoted(text, _NAME)


def plain(text: object, width: int = _TEXT) -> str:
    """A short phrase, escaped and shortened like `quoted`, but without quotes."""
    return quoted(text, width)[1:-1]


def counted(count: int, one: str, many: str = "") -> str:
    """A count with its noun in singular or plural.

    >>> counted(1, "hit"), counted(2, "hit"), counted(0, "memory", "memories")
    ('1 hit', '2 hits', '0 memories')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


# -- HTML ------------------------------------------------------------------------------------------

_DRAWN: dict[type, Callable[[Any], str]] = {}


def draw_by(kind: type, draw: Callable[[Any], str]) -> None:
    """Register the HTML renderer of a class. `why` does, since `core` cannot import it."""
    _DRAWN[kind] = draw


def drawn(what: object) -> str | None:
    """The object as HTML; None if its class has no renderer (a notebook then shows the repr)."""
    draw = _DRAWN.get(type(what))
    return None if draw is None else draw(what)
