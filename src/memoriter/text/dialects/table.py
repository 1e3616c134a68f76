"""The dialects that a recipe can name: ours, and those that come by `memoriter.dialects`.

Such an entry point is named as the dialect and leads to a `Dialect`.
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

_OWN: Final = "bare"
"""What our own dialect is called."""
_GROUP: Final = "dialects"


def dialect_names() -> tuple[str, ...]:
    """What a recipe may call its dialect, ours first."""
    return (_OWN, *(name for name in plugins.points(_GROUP) if name != _OWN))


def read_query(
    name: str, text: str, analyzer: Analyzer, options: Options = NOTHING_SPECIAL
) -> ParsedQuery:
    """What a text asks for in the dialect of that name. No text is an error."""
    return dialect(name).read(text, analyzer, options)


def dialect(name: str) -> Dialect:
    """The dialect of that name."""
    return bare.DIALECT if name == _OWN else _loaded(name)


def known_dialect(name: str) -> str:
    """The name, if a dialect has it that can be used; else a `ValueError`, for validators."""
    try:
        dialect(name)
    except BadRecipe as error:
        raise ValueError(f"{error.message}; {error.hint}") from None
    return name


@cache
def _loaded(name: str) -> Dialect:
    if name not in plugins.points(_GROUP):
        hint = plugins.known(dialect_names())
        raise BadRecipe(f"there is no dialect {name!r}", hint=hint, field="dialect")
    try:
        return plugins.load(_GROUP, name, Dialect)
    except plugins.CannotLoad as error:
        hint = f"it is {plugins.points(_GROUP)[name].value}"
        raise BadRecipe(
            f"dialect {name!r} cannot be loaded: {error}", hint=hint, field="dialect"
        ) from error
