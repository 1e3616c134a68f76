"""Colours, glyphs and numbers that every drawing shares."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from rich.text import Text

from memoriter.core.times import iso
from memoriter.pipeline.recipe import Recipe
from memoriter.text.safe import one_line

DIM: Final = "dim"
STRONG: Final = "bold"
MATCH: Final = "bold yellow"
BAD: Final = "red"
WARN: Final = "yellow"


class Ink(NamedTuple):
    """How a lane looks; the glyph tells it apart where there are no colours."""

    glyph: str
    style: str


_INKS: Final = (
    Ink("█", "cyan"), Ink("▓", "magenta"), Ink("▒", "green"), Ink("░", "blue"), Ink("▚", "yellow"),
    Ink("▞", "red"),
)  # fmt: skip
_JUDGE: Final = Ink("■", "bright_white")


def inks(labels: Iterable[str]) -> dict[str, Ink]:
    """One ink per label, in the order given."""
    return {label: _INKS[at % len(_INKS)] for at, label in enumerate(labels)}


def inks_of(recipe: Recipe) -> dict[str, Ink]:
    """The inks of all that a recipe may make a score of."""
    return {**inks([*recipe.lanes, *recipe.boosts]), "rerank": _JUDGE}


def day(moment: int | datetime) -> str:
    """The date of a time."""
    return iso(moment)[:10]


def moment(value: int | datetime) -> str:
    """A time to the second."""
    return iso(value)[:19].replace("T", " ") + "Z"


def joined(parts: Iterable[Text | str], gap: str = " · ") -> Text:
    """Parts on one line."""
    return Text(gap).join([Text(part) if isinstance(part, str) else part for part in parts])


def replaced(ids: Iterable[str]) -> Text:
    """Says that other memories took this one's place; nothing where none did."""
    told = ", ".join(map(one_line, ids))
    return Text(f"superseded by {told}" if told else "", WARN)
