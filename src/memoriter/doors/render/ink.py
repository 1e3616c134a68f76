"""What the modules of `render` share: colours and glyphs, dates, lines, columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from memoriter.core.times import iso
from memoriter.pipeline.recipe import Recipe
from memoriter.text.safe import one_line, safe

DIM: Final = "dim"
STRONG: Final = "bold"
MATCH: Final = "bold yellow"
BAD: Final = "red"
WARN: Final = "yellow"


class Ink(NamedTuple):
    """Glyph and colour of a lane; the glyph identifies it where there are no colours."""

    glyph: str
    style: str


_INKS: Final = (
    Ink("█", "cyan"), Ink("▓", "magenta"), Ink("▒", "green"), Ink("░", "blue"), Ink("▚", "yellow"),
    Ink("▞", "red"),
)  # fmt: skip
_RERANKER: Final = Ink("■", "bright_white")


def inks(labels: Iterable[str]) -> dict[str, Ink]:
    """One ink per label, in the order given."""
    return {label: _INKS[at % len(_INKS)] for at, label in enumerate(labels)}


def inks_of(recipe: Recipe) -> dict[str, Ink]:
    """The inks of a recipe: one for each lane and boost, and one for the reranker."""
    return {**inks([*recipe.lanes, *recipe.boosts]), "rerank": _RERANKER}


# --- times and lines --------------------------------------------------------------------------


def date_text(time: int | datetime) -> str:
    """The date of a time."""
    return iso(time)[:10]


def time_text(time: int | datetime) -> str:
    """A time to the second, as ISO 8601."""
    return iso(time)[:19] + "Z"


def joined_line(parts: Iterable[Text | str], gap: str = " · ") -> Text:
    """Parts on one line."""
    return Text(gap).join([Text(part) if isinstance(part, str) else part for part in parts])


def superseded_line(ids: Iterable[str]) -> Text:
    """The line for a memory that others superseded; empty where none did."""
    listed = ", ".join(map(one_line, ids))
    return Text(f"superseded by {listed}" if listed else "", WARN)


# --- columns ----------------------------------------------------------------------------------

_GAP: Final = 2
_LEAST: Final = 16
"""The least width of the wide column, even where lines then grow longer than the screen."""


def fact_table(values: Mapping[str, object]) -> RenderableType:
    """Names and values in two columns."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style=DIM, no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in values.items():
        grid.add_row(one_line(name.replace("_", " ")), safe(str(value)))
    return grid


class TextColumns:
    """A head and rows in columns.

    Only the column `wide` is cut to fit the screen: ids and numbers stay whole, so that they can
    be copied.
    """

    def __init__(self, heads: Sequence[str], rows: Iterable[Sequence[object]], wide: int) -> None:
        self._rows = [list(heads), *([one_line(str(cell)) for cell in row] for row in rows)]
        self._wide = wide

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [max(map(cell_len, column)) for column in zip(*self._rows, strict=True)]
        others = sum(widths) - widths[self._wide] + _GAP * (len(widths) - 1)
        room = max(options.max_width - others, _LEAST)
        widths[self._wide] = min(widths[self._wide], room)
        for at, row in enumerate(self._rows):
            yield _line(row, widths, DIM if at == 0 else "")


def _line(row: Sequence[str], widths: Sequence[int], style: str) -> Text:
    line = Text(style=style, no_wrap=True, overflow="ignore")
    for cell, width in zip(row, widths, strict=True):
        piece = Text(cell)
        piece.truncate(width, overflow="ellipsis", pad=True)
        line.append_text(piece).append(" " * _GAP)
    line.rstrip()
    return line
