"""How rare a word is in general English, as an idf; for judging how much a question asks.

A store says little about the rarity of words while it is small, and nothing about words that it has
never seen. The table (`background_en.txt`, made by `python -m tools.background`) has the idf of
stems in 256,151 short texts: encyclopedia, dictionary, software descriptions, chats.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Final

UNLISTED: Final = 10.0
"""The idf of a stem that the table does not list: fewer than 20 of the texts contain it."""


@lru_cache(maxsize=1)
def _table() -> dict[str, float]:
    text = resources.files("memoriter.text").joinpath("background_en.txt").read_text("utf-8")
    out: dict[str, float] = {}
    for line in text.splitlines():
        steps, *stems = line.split(" ")
        out |= dict.fromkeys(stems, int(steps) / 16)
    return out


def background_idf(stem: str) -> float:
    """The idf of a stem in general English.

    >>> background_idf("the") < 1 < background_idf("meet") < background_idf("xylophon")
    True
    """
    return _table().get(stem, UNLISTED)
