"""The analyzers that a recipe can name."""

from __future__ import annotations

from typing import Final

from memoriter.core.errors import BadRecipe
from memoriter.text.fts5 import Dashed, Porter, PorterCjk
from memoriter.text.own import Own
from memoriter.text.port import Analyzer
from memoriter.text.runs import Porter2, Simple

EACH: Final[tuple[Analyzer, ...]] = (
    Own(), Porter2(), Simple(), Porter(), PorterCjk(), Dashed(),
)  # fmt: skip
"""All of them, ours first."""
_BY_NAME: Final = {each.name: each for each in EACH}

NAMES: Final = tuple(_BY_NAME)
"""The names, ours first."""


def analyzer(name: str) -> Analyzer:
    """The analyzer of that name, the same one for all who ask."""
    try:
        return _BY_NAME[name]
    except KeyError:
        hint = f"known: {', '.join(NAMES)}"
        raise BadRecipe(f"no analyzer is called {name!r}", hint=hint, field="analyzer") from None
