"""Colours, glyphs and numbers that every drawing shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from rich.text import Text

from recollect.core.times import iso
from recollect.text.safe import one_line

DIM: Final = "dim"
STRONG: Final = "bold"
MATCH: Final = "bold yellow"
BAD: Final = "red"
WARN: Final = "yellow"
_TINY: Final = 1e-4
_SMALL: Final = 0.1
_LARGE: Final = 100


class Ink(NamedTuple):
    """How a lane looks; the glyph tells it apart where there are no colours."""

    glyph: str
    style: str


_INKS: Final = (Ink("█", "cyan"), Ink("▓", "magenta"), Ink("▒", "green"), Ink("░", "blue"))


def inks(labels: Iterable[str]) -> dict[str, Ink]:
    """One ink per label, in the order given."""
    return {label: _INKS[at % len(_INKS)] for at, label in enumerate(labels)}


def figure(value: float) -> str:
    """A number in three to four figures.

    >>> figure(0.75), figure(7.2123), figure(1234.5), figure(0.01639), figure(0.0)
    ('0.750', '7.212', '1234.5', '0.0164', '0')
    """
    if value == 0:
        return "0"
    size = abs(value)
    if size < _TINY:
        return f"{value:.2e}"
    return f"{value:.1f}" if size >= _LARGE else f"{value:.4f}" if size < _SMALL else f"{value:.3f}"


def day(moment: int) -> str:
    """The date of a time."""
    return iso(moment)[:10]


def moment(value: int) -> str:
    """A time to the second."""
    return iso(value)[:19].replace("T", " ") + "Z"


def joined(parts: Iterable[Text | str], gap: str = " · ") -> Text:
    """Parts on one line."""
    return Text(gap).join([Text(part) if isinstance(part, str) else part for part in parts])


def replaced(ids: Iterable[str]) -> Text:
    """Says that other memories took this one's place; nothing where none did."""
    told = ", ".join(map(one_line, ids))
    return Text(f"superseded by {told}" if told else "", WARN)


def pairs(facts: Mapping[str, object]) -> str:
    """Facts as `key value`, one after the other."""
    return " · ".join(f"{key} {short(value)}" for key, value in facts.items())


def short(value: object) -> str:
    """A plain value in few characters."""
    if isinstance(value, float):
        return f"{value:g}" if value == round(value, 3) else figure(value)
    if isinstance(value, list | tuple):
        return " ".join(map(short, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # printed as it is
    if isinstance(value, Mapping):
        return _mapping({str(k): v for k, v in value.items()})  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # printed as it is
    return str(value)


def _mapping(value: Mapping[str, object]) -> str:
    if value and all(item == 1 for item in value.values()):
        return " ".join(value)
    return ", ".join(f"{key} {short(item)}" for key, item in value.items())
