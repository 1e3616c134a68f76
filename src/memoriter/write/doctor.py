"""Checks and repairs a store, for `Memory.verify_store` and `Memory.doctor`.

A check reads everything and changes nothing. A repair touches derived data only, and only what this
memory can compute again: words of known analyzers, from the record; vectors of its own space, which
become debts for `maintain`; damaged segments of any index, which are deleted. All other damage is
reported and left as it is. On a sound store a repair does nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from memoriter.core.errors import Corrupt
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.shown import counted, shown
from memoriter.index.cache import IndexCache
from memoriter.index.file import IndexOwner, load_segment
from memoriter.index.texts import texts_of
from memoriter.store.port import Log, Manifest, TenantRows
from memoriter.store.rows import VectorRow, WordsRow, check_vector, check_words, words_sum
from memoriter.store.segments import Segments
from memoriter.store.verify import verify_log
from memoriter.text.port import Analyzer


@dataclass(frozen=True, slots=True)
class Checkup:
    """The result of a check or a repair."""

    tenants: int
    entries: int
    problems: tuple[str, ...] = ()
    """Damage to the log itself: only a backup helps."""
    derived: tuple[str, ...] = ()
    """Damage to derived data: a repair fixes what this memory can compute again."""
    mended: bool = False
    """Whether a repair fixed everything in `derived`."""

    def __repr__(self) -> str:
        hurt = f"{counted(len(self.problems), 'problem')}, {len(self.derived)} derived"
        state = "sound" if self.sound else hurt
        size = f"{counted(self.tenants, 'tenant')}, {counted(self.entries, 'entry', 'entries')}"
        return shown("Checkup", f"{state}, {size}")

    @property
    def sound(self) -> bool:
        """Whether there is no damage, or none is left."""
        return not self.problems and (self.mended or not self.derived)

    def to_dict(self) -> dict[str, object]:
        """The checkup as plain data."""
        return {
            "sound": self.sound,
            "tenants": self.tenants,
            "entries": self.entries,
            "problems": list(self.problems),
            "derived": list(self.derived),
            "mended": self.mended,
        }


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The store to check, and what this memory can compute again."""

    log: Log
    index_cache: IndexCache
    analyzers: Mapping[str, Analyzer]
    """By fingerprint."""
    space: str
    """The vector space of this memory."""


@dataclass(slots=True)
class _Findings:
    """The damage of one tenant."""

    entries: int = 0
    problems: list[str] = field(default_factory=list[str])
    derived: list[str] = field(default_factory=list[str])
    words: list[WordsRow] = field(default_factory=list[WordsRow])
    vectors: list[VectorRow] = field(default_factory=list[VectorRow])
    """Damaged ones that can be embedded again."""
    indexes: list[str] = field(default_factory=list[str])
    """Names of indexes with a damaged segment."""


def checkup(context: CheckContext, *, repair: bool) -> Checkup:
    """Check every tenant; with `repair`, fix derived data."""
    problems = context.log.damage()
    derived: list[str] = []
    entries, mended = 0, repair
    tenants = context.log.tenants()
    for tenant in tenants:
        findings = _examine(context, tenant)
        problems += findings.problems
        derived += findings.derived
        entries += findings.entries
        if repair and findings.derived:
            mended = _repair(context, tenant, findings) and mended
    return Checkup(
        len(tenants), entries, tuple(problems), tuple(derived), mended=mended and bool(derived)
    )


def _examine(context: CheckContext, tenant: str) -> _Findings:
    findings = _Findings()
    for part in (_entries, _words, _segments):
        try:
            part(context, tenant, findings)
        except Corrupt as damage:
            findings.problems.append(damage.message)
    return findings


def _entries(context: CheckContext, tenant: str, findings: _Findings) -> None:
    """Check the log of a tenant and the vectors in it, in one snapshot."""
    with context.log.snapshot(tenant) as rows:
        findings.entries = sum(1 for _ in rows.rows("chain"))
        for table in ("commits", "keys", "debts"):  # read for their checksums
            deque(rows.rows(table), maxlen=0)
        findings.problems += rows.damaged
        # Vectors of embedders are not in the hash chain; they have checksums of their own.
        bad = {row for row in rows.rows("vectors") if row.form == "unit" and _is_bad(tenant, row)}
        if bad:
            _vectors(tenant, rows, sorted(bad), context.space, findings)
        verify_log(tenant, _Sound(rows, bad))


class _Sound:
    """The rows of a tenant without the damaged ones that are reported already."""

    def __init__(self, rows: TenantRows, bad: Collection[VectorRow]) -> None:
        self.head = rows.head
        self.damaged: list[str] = []
        self._rows = rows
        self._bad = bad

    def rows(self, table: str) -> Iterator[Any]:
        rows = self._rows.rows(table)
        return (row for row in rows if row not in self._bad) if table == "vectors" else rows


def _is_bad(tenant: str, row: WordsRow | VectorRow) -> bool:
    try:
        if isinstance(row, WordsRow):
            check_words(tenant, row)
        else:
            check_vector(tenant, row)
    except Corrupt:
        return True
    return False


def _vectors(
    tenant: str, rows: TenantRows, bad: Sequence[VectorRow], space: str, findings: _Findings
) -> None:
    """Sort damaged vectors: those that can be embedded again are derived, others a problem.

    The row number and space of a damaged vector may themselves be damaged. If it claims another
    space, or a row that does not exist or already has a vector, it is kept: deleting it could lose
    a vector that this memory cannot make.
    """
    missing = {record.row for record in rows.rows("records")}
    for row in rows.rows("vectors"):
        if row.generation == space and row not in bad:
            missing.discard(row.row)
    unknown: dict[str, list[VectorRow]] = {}
    for row in bad:
        if row.generation == space and row.row in missing:
            findings.vectors.append(row)
            findings.derived.append(f"tenant {tenant!r}: a vector of row {row.row} is damaged")
        else:
            unknown.setdefault(row.generation, []).append(row)
    findings.problems += [
        f"tenant {tenant!r}: vectors of space {generation!r} are damaged and cannot be made again "
        f"here: {len(kept)}, the first of row {kept[0].row}"
        for generation, kept in unknown.items()
    ]


def _words(context: CheckContext, tenant: str, findings: _Findings) -> None:
    """Find damaged words: those of known analyzers can be made again, others are left."""
    unknown: dict[str, list[WordsRow]] = {}
    for row in context.log.words(tenant):
        if not _is_bad(tenant, row):
            continue
        findings.words.append(row)
        if row.generation in context.analyzers:
            findings.derived.append(f"tenant {tenant!r}: the words of row {row.row} are damaged")
        else:
            unknown.setdefault(row.generation, []).append(row)
    findings.derived += [
        f"tenant {tenant!r}: words of analyzer {generation!r}, which is not known here, are "
        f"damaged and left: {len(rows)}, the first of row {rows[0].row}"
        for generation, rows in unknown.items()
    ]


def _segments(context: CheckContext, tenant: str, findings: _Findings) -> None:
    """Find damaged segments of every published index, also those of other applications."""
    home = context.index_cache.segments
    if home is not None:
        for index, manifest in context.log.manifests(tenant).items():
            damages = _damaged(manifest, home, IndexOwner(tenant, index))
            findings.derived += [f"tenant {tenant!r}: {damage}" for damage in damages]
            findings.indexes += [index] if damages else []


def _damaged(manifest: Manifest, home: Segments, owner: IndexOwner) -> list[str]:
    """The damage of the published segments of an index."""
    out: list[str] = []
    for ref in manifest.segments:
        try:
            load_segment(home, ref, owner, whole=True)
        except Corrupt as damage:
            out.append(damage.message)
    return out


def _repair(context: CheckContext, tenant: str, findings: _Findings) -> bool:
    """Repair what can be; returns whether that was everything."""
    words = _recomputed(context, tenant, findings.words)
    if words or findings.vectors:
        context.log.mend(tenant, words, findings.vectors)
    own = context.index_cache.index(tenant).name
    whole = len(words) == len(findings.words)
    for index in findings.indexes:
        whole = context.index_cache.discard(tenant, index) and whole
        if index == own and not findings.problems:
            context.index_cache.tidy(tenant, wait=True)
    return whole


def _recomputed(context: CheckContext, tenant: str, damaged: Sequence[WordsRow]) -> list[WordsRow]:
    """The words of known analyzers, computed again from those records that can be read."""
    out: list[WordsRow] = []
    for row in damaged:
        analyzer = context.analyzers.get(row.generation)
        if analyzer is None:
            continue
        try:
            (record,) = context.log.records(tenant, [row.row])
        except Corrupt:  # reported as a problem already
            continue
        if record is not None:
            body = analyzer.analyse(texts_of(record)).encode()
            guard = words_sum(tenant, row.row, row.generation, body)
            out.append(WordsRow(row.row, row.generation, body, guard))
    return out
