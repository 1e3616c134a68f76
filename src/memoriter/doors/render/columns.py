"""Lines in columns: one column gives way to the width, the others are never cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from memoriter.doors.render.ink import DIM
from memoriter.text.safe import one_line

_GAP: Final = 2
_LEAST: Final = 16
"""The wide column keeps this much even where lines then grow longer than the screen."""


class Columns:
    """A head and rows; ids and numbers stay whole so that they can be copied."""

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
