"""What an import did, file by file: counts, refused rows, and what had no place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from memoriter.doors.render.columns import Columns
from memoriter.doors.render.ink import DIM
from memoriter.text.safe import one_line

if TYPE_CHECKING:
    from memoriter.memory.importing import Counts, Imported

_FIRST: Final = 10
"""So many refused rows are shown; `--json` has them all."""


class Reports:
    """The reports of several files, one below the other."""

    def __init__(self, done: Sequence[Imported]) -> None:
        self._done = done

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for one in self._done:
            yield from _report(one)


def _report(done: Imported) -> Iterator[RenderableType]:
    yield Text(one_line(f"{done.path}: {done.format}, because {done.why}"), style=DIM)
    would = "would write" if done.dry_run else "written"
    yield f"read {done.read:,}; " + _counts(done.records, would)
    for name, counts in (("links", done.links), ("agents", done.agents)):
        if counts.written or counts.already or counts.refused:
            yield f"{name}: " + _counts(counts, would)
    if done.refused:
        rows = [(row.where, row.reason, row.hint) for row in done.refused[:_FIRST]]
        yield Columns(("refused", "because", "hint"), rows, wide=1)
        if len(done.refused) > _FIRST:
            yield f"… and {len(done.refused) - _FIRST:,} more: --json names them"
    if done.left:
        told = [
            (one.field, f"{one.count:,}", one.became, one.example) for one in done.left.values()
        ]
        yield Columns(("no place for", "rows", "became", "for example"), told, wide=3)
    yield from done.notes


def _counts(counts: Counts, would: str) -> str:
    return (
        f"{would} {counts.written:,}, already there {counts.already:,}, refused {counts.refused:,}"
    )
