"""Runs `memoriter.copy`: the log of one store into another, stretch by stretch.

Rows, numbers, times, digests and links stay what they are, so the copy answers the same bits. Each
stretch is checked against the chain before it is written, and what was written is read again and
compared at the end. A copy that was interrupted goes on where its target's log ends. The index is
not copied: the target derives its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from memoriter.core.errors import Corrupt, InputError, NotFound
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.shown import counted, shown
from memoriter.index.erase import erase
from memoriter.index.upkeep import UpkeepTask
from memoriter.memory.places import (
    OpenedPlace,
    is_address,
    is_same_store,
    open_place,
    shown_place,
)
from memoriter.store.port import Dump, Log
from memoriter.store.stretches import verify_stretch
from memoriter.write.progress import ProgressCallback, show_progress

STRETCH: Final = 4096
"""About how many entries are read and written at once."""


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What a copy brought over."""

    source: str
    target: str
    tenants: int
    entries: int
    """Sequence numbers of all tenants, those that were there before included."""
    already: int
    """How many of them an earlier copy had brought."""
    links: dict[str, str]
    """By tenant: the last link of its chain, the same in both stores."""

    def __repr__(self) -> str:
        return shown(
            f"CopyReport {self.source} to {self.target}",
            f"{counted(self.entries, 'entry', 'entries')}, {counted(self.tenants, 'tenant')}",
        )

    def to_dict(self) -> dict[str, object]:
        """The copy as plain data."""
        return asdict(self)


def copy(
    source: str | Path,
    target: str | Path,
    *,
    tenant: str | None = None,
    progress: bool | ProgressCallback = False,
) -> CopyReport:
    """Copy a store, or one tenant of it, into another: a file or an address on either side.

    Raises Conflict if the target holds a log that is not the beginning of the source's, Corrupt if
    an entry does not match the chain, NotFound if there is nothing to copy.

    Arguments:
        source: The store to read; others may write to it meanwhile.
        target: The store to fill; nothing else may write to these tenants before the copy is done.
        tenant: Copy this tenant alone.
        progress: True for a progress bar, or a function of the entries copied so far.

    """
    if is_same_store(source, target):
        raise InputError(
            f"the source and the target are the same store: {shown_place(target)}",
            hint="name another store to copy into",
            field="target",
        )
    if not is_address(source) and not Path(source).expanduser().is_file():
        raise NotFound(
            f"there is no store at {shown_place(source)}", hint="check the path", field="source"
        )
    opened = open_place(source, read_only=True, durability="full")
    with closing(opened.log) as origin:
        names = [tenant] if tenant is not None else origin.tenants()
        total = sum(origin.head(name).seq for name in names)
        if not total:
            raise NotFound(
                f"{opened.shown} has no entries to copy",
                hint="check the path or the address, and the tenant if you named one",
            )
        goal = open_place(target, read_only=False, durability="full")
        with closing(goal.log), show_progress(progress, "entries", total) as report:
            return _copied(opened, goal, names, report)


def _copied(
    source: OpenedPlace, target: OpenedPlace, names: list[str], report: ProgressCallback
) -> CopyReport:
    already = sum(target.log.head(name).seq for name in names)
    known = set(target.log.spaces())
    for generation in source.log.spaces():
        if generation not in known:
            target.log.open_space(generation)
    before = 0
    links: dict[str, str] = {}
    for name in names:
        done = before
        _copy_tenant(source.log, target.log, name, lambda seq, done=done: report(done + seq))
        _compare(source.log, target.log, name)
        head = target.log.head(name)
        links[name] = head.link.hex()
        before += head.seq
        # Records forgotten after they were copied: the target's segments still hold their words.
        # Where a reader prevents it they stay unerased, and upkeep of the target erases them.
        erase(UpkeepTask(target.log, target.segments, pace=lambda: None, wait=True), name, ())
    return CopyReport(
        source.shown, target.shown, tenants=len(names), entries=before, already=already, links=links
    )


def _copy_tenant(source: Log, target: Log, tenant: str, report: Callable[[int], None]) -> None:
    while True:
        head = target.head(tenant)
        report(head.seq)
        part = source.stretch(tenant, head.seq, STRETCH)
        verify_stretch(tenant, part, head)
        if not part.commits and part.head.seq != head.seq:
            raise Corrupt(
                f"tenant {tenant!r} has {head.seq} log entries in the target, but only"
                f" {part.head.seq} in the source",
                hint="the source may have been restored to an earlier state; copy into an empty"
                " tenant",
            )
        target.append(tenant, part, head)
        if not part.commits:
            return _copy_debts(source, target, tenant)


def _copy_debts(source: Log, target: Log, tenant: str) -> None:
    """Bring over which records owe a vector now: that changes without a commit."""
    after, debts = 0, source.debts(tenant, STRETCH)
    while len(debts) == STRETCH:
        # Up to a row that is whole: the list may end in the middle of one.
        upto = debts[-1].row - 1
        target.owe(tenant, after, upto, [debt for debt in debts if debt.row <= upto])
        after, debts = upto, source.debts(tenant, STRETCH, (upto + 1, ""))
    target.owe(tenant, after, 2**62, debts)


def _compare(source: Log, target: Log, tenant: str) -> None:
    """Read both again, stretch by stretch; Corrupt if they differ."""
    after, upto = 0, target.head(tenant).seq
    while after < upto:
        one, two = (log.stretch(tenant, after, STRETCH) for log in (source, target))
        # The source may have been written to since: then its debts and keys have moved on.
        moved = source.head(tenant).seq != upto
        if _durable(one, moved=moved) != _durable(two, moved=moved):
            if source.head(tenant).seq != upto:
                return  # forgotten meanwhile; the next copy brings it over
            raise Corrupt(
                f"after the copy, tenant {tenant!r} of the target differs from the source"
                f" between log entries {after} and {two.head.seq}",
                hint="copy the tenant again, into a store that does not have it yet",
            )
        after = two.head.seq


def _durable(part: Dump, *, moved: bool) -> Dump:
    part = replace(part, words=sorted(part.words), keys=sorted(part.keys))
    return replace(part, debts=[], keys=[]) if moved else part
