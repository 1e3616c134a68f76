"""Query dialects: several ways to write a query, each parsed to the tree of `text.tree`.

There is the default one, and those of the `memoriter.dialects` entry points: an entry point has the
name of the dialect and refers to a `Dialect`.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from memoriter.core import plugins
from memoriter.core.errors import BadRecipe
from memoriter.text.dialects import bare
from memoriter.text.dialects.port import NOTHING_SPECIAL, Dialect, Options
from memoriter.text.port import Analyzer
from memoriter.text.tree import ParsedQuery

__all__ = [
    "NOTHING_SPECIAL",
    "Dialect",
    "Options",
    "dialect",
    "dialect_names",
    "known_dialect",
    "read_query",
]

_OWN: Final = "bare"
"""The name of the default dialect."""
_GROUP: Final = "dialects"


def dialect_names() -> tuple[str, ...]:
    """The names of all dialects, the default one first."""
    return (_OWN, *(name for name in plugins.points(_GROUP) if name != _OWN))


def read_query(
    name: str, text: str, analyzer: Analyzer, options: Options = NOTHING_SPECIAL
) -> ParsedQuery:
    """Parse a text in the dialect of that name. Only an unknown dialect raises (`BadRecipe`)."""
    return dialect(name).parse(text, analyzer, options)


def dialect(name: str) -> Dialect:
    """The dialect of that name. Raises `BadRecipe` if there is none or it cannot be loaded."""
    return bare.DIALECT if name == _OWN else _loaded(name)


def known_dialect(name: str) -> str:
    """The name, if such a dialect can be loaded; else raises `ValueError`, for validators."""
    try:
        dialect(name)
    except BadRecipe as error:
        raise ValueError(f"{error.message}; {error.hint}") from None
    return name


@cache
def _loaded(name: str) -> Dialect:
    if name not in plugins.points(_GROUP):
        raise plugins.unknown("dialect", name, dialect_names(), BadRecipe)
    try:
        return plugins.load(_GROUP, name, Dialect)
    except plugins.CannotLoad as error:
        raise plugins.unusable("dialect", name, error, BadRecipe) from error
