"""`read`: what a text asks for, in the dialect of the recipe. Total: no text is an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from memoriter.core.errors import BadRecipe
from memoriter.text.dialects import bare, engrava, jeffs_brain, mnestic
from memoriter.text.dialects.options import NOTHING_SPECIAL, Options
from memoriter.text.port import Analyzer
from memoriter.text.tree import Asked

Dialect: TypeAlias = Callable[[str, Analyzer, Options], Asked]

_DIALECTS: Final[Mapping[str, Dialect]] = {
    "bare": bare.read,
    "jeffs-brain": jeffs_brain.read,
    "engrava": engrava.read,
    "mnestic": mnestic.read,
}
NAMES: Final = tuple(_DIALECTS)
"""What a recipe may call its dialect."""


def read(dialect: str, text: str, analyzer: Analyzer, options: Options = NOTHING_SPECIAL) -> Asked:
    """What the text asks for; where it is malformed, its words, and the note says so."""
    try:
        reading = _DIALECTS[dialect]
    except KeyError:
        hint = f"one of {', '.join(NAMES)}"
        raise BadRecipe(f"there is no dialect {dialect!r}", hint=hint, field="dialect") from None
    return reading(text, analyzer, options)
