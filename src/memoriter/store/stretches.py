"""A stretch of a tenant's log, as one store gives it and another appends it.

A whole tenant need not be held in memory: it is read in stretches that end at commits. A store that
has some of them goes on after its own head, so that a copy can be interrupted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from memoriter.core.batch import Commit
from memoriter.core.errors import Conflict, Corrupt
from memoriter.core.times import to_datetime
from memoriter.store.port import Dump, Head
from memoriter.store.rows import CommitRow, WordsRow, genesis, next_link, read_tomb
from memoriter.store.sequence import SequencedBatch
from memoriter.store.verify import entry_digests

StretchRow = TypeVar("StretchRow", bound=tuple[Any, ...])


def end_of(commits: Sequence[CommitRow], limit: int) -> int:
    """Where a stretch ends that begins before these commits and has `limit` numbers or so."""
    within = [commit.seq for commit in commits if commit.seq <= limit]
    return within[-1] if within else commits[0].seq


def head_at(dump: Dump) -> Head:
    """The head after a stretch, as far as the stretch alone tells: positions may be more."""
    last = dump.commits[-1]
    tombs = [read_tomb(tomb).position for tomb in dump.tombs]
    positions = max((*(record.position for record in dump.records), *tombs), default=-1) + 1
    link = dump.chain[-1].link if dump.chain else b""
    return Head(last.seq, last.time, positions, link)


def rest_of(head: Head) -> Dump:
    """What is left at the end of a log: its head."""
    return Dump(
        head=head,
        commits=[],
        chain=[],
        records=[],
        vectors=[],
        mentions=[],
        edges=[],
        agents=[],
        tombs=[],
        keys=[],
        debts=[],
    )


def cut(dump: Dump, words: Sequence[WordsRow], after: int, limit: int) -> Dump:
    """The stretch of a whole tenant that begins after a number; empty at its end."""
    commits = [commit for commit in dump.commits if commit.seq > after]
    if not commits:
        return rest_of(dump.head)
    span = range(after + 1, end_of(commits, after + limit) + 1)

    def by_seq(rows: Sequence[StretchRow]) -> list[StretchRow]:
        return [row for row in rows if getattr(row, "seq", None) in span]

    part = replace(
        dump,
        commits=by_seq(commits),
        chain=by_seq(dump.chain),
        records=[row for row in dump.records if row.row in span],
        vectors=by_seq(dump.vectors),
        mentions=by_seq(dump.mentions),
        edges=by_seq(dump.edges),
        agents=by_seq(dump.agents),
        tombs=by_seq(dump.tombs),
        keys=by_seq(dump.keys),
        debts=[row for row in dump.debts if row.row in span],
        words=sorted(row for row in words if row.row in span),
    )
    return replace(part, head=head_at(part))


def verify_stretch(tenant: str, part: Dump, before: Head) -> None:
    """Check the links of a stretch and every entry that it has; raises Corrupt.

    Conflict if it does not continue the log that ends in `before`.
    """
    made, link = dict(entry_digests(tenant, part)), before.link or genesis(tenant)
    for at, entry in enumerate(part.chain):
        link = next_link(link, entry.seq, entry.kind, entry.digest)
        if link != entry.link:
            if at == 0 and before.seq:
                raise Conflict(
                    f"tenant {tenant!r} of the target already holds other entries, up to log entry"
                    f" {before.seq}",
                    hint="copy into an empty tenant, or into one that an earlier copy of this"
                    " source filled",
                )
            raise Corrupt(
                f"the source is damaged: the hash chain of tenant {tenant!r} is broken at log"
                f" entry {entry.seq}",
                hint="run `memoriter verify-store` on the source for details, or copy a backup of"
                " it",
            )
        if entry.seq in made and made.pop(entry.seq) != (entry.kind, entry.digest):
            raise Corrupt(
                f"the source is damaged: log entry {entry.seq} of tenant {tenant!r} does not match"
                " its digest",
                hint="run `memoriter verify-store` on the source for details, or copy a backup of"
                " it",
            )
    if made:
        raise Corrupt(
            f"the source is damaged: log entry {min(made)} of tenant {tenant!r} is not in its hash"
            " chain",
            hint="run `memoriter verify-store` on the source for details, or copy a backup of it",
        )


def rows_to_append(
    tenant: str, part: Dump, before: Head, erased_ids: Sequence[str]
) -> SequencedBatch:
    """The rows of a stretch as a sequenced batch to write after `before`.

    What its tombstones name was perhaps appended earlier, and is erased; `erased_ids` are the ids
    of these records.
    """
    gone = [read_tomb(tomb) for tomb in part.tombs]
    head = replace(
        part.head,
        positions=max(before.positions, part.head.positions),
        link=part.head.link or before.link,
        published=before.published,
    )
    return SequencedBatch(
        head=head,
        commit=Commit(tenant, head.seq, to_datetime(head.time), ()),
        records=list(part.records),
        words=list(part.words),
        vectors=list(part.vectors),
        mentions=list(part.mentions),
        edges=list(part.edges),
        agents=list(part.agents),
        tombs=list(part.tombs),
        chain=list(part.chain),
        keys=list(part.keys),
        debts=list(part.debts),
        erased_rows=[row for each in gone for row in each.rows],
        erased_edges=[seq for each in gone for seq in each.edges],
        erased_ids=list(erased_ids),
    )


def require_end(tenant: str, head: Head, before: Head) -> None:
    """Raise Conflict unless a log still ends where a stretch is to be appended."""
    if (head.seq, head.link) != (before.seq, before.link):
        raise Conflict(
            f"tenant {tenant!r} of the target was written to during the copy",
            hint="stop all writers to the target, then start the copy again",
        )
