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
ANALYSIS: Final = {
    "memoriter": "words and stems, scripts without spaces by pairs",
    "porter2": "letters and digits, stems, irregular forms",
    "simple": "letters and digits in small letters, no stems",
    "fts5-porter": "letters and digits, stems",
    "fts5-porter-cjk": "letters and digits, stems, scripts without spaces by pairs",
    "fts5-dashed": "letters, digits, - and _, no stems",
}
"""What each of them makes of a text, in words."""


def analyzer(name: str) -> Analyzer:
    """The analyzer of that name, the same one for all who ask."""
    try:
        return _BY_NAME[name]
    except KeyError:
        hint = f"known: {', '.join(NAMES)}"
        raise BadRecipe(f"no analyzer is called {name!r}", hint=hint, field="analyzer") from None
