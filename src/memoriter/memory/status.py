"""The state of a store: `Memory.status`, the report of `maintain`, and the check of `doctor`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple, cast

import numpy as np

from memoriter.core.errors import BadQuery
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import choice, flag
from memoriter.core.other_words import Hinting
from memoriter.core.record import Record
from memoriter.core.scope import Scope
from memoriter.core.shown import counted, named, shown
from memoriter.core.times import iso, to_datetime
from memoriter.index.columns import STRING_COLUMNS, dictionary_of
from memoriter.index.selection import Criteria, Selection, select
from memoriter.index.view import View
from memoriter.kernel.library import kernel_choice
from memoriter.memory.embedding import fill_vectors
from memoriter.memory.engine import Engine
from memoriter.memory.facts_owed import owed_turns
from memoriter.memory.spaces import SpaceCalibration, space_calibration
from memoriter.store.sqlite.store import Sqlite
from memoriter.store.sqlite.unfinished import remove_copy, restoring
from memoriter.text.analyzers import all_analyzers
from memoriter.text.copies import copy_groups
from memoriter.write.doctor import CheckContext, Checkup, checkup
from memoriter.write.progress import ProgressCallback, show_progress
from memoriter.write.writer import Writer

DEBTS_COUNTED: Final = 1_000_000
COUNTED: Final = tuple(name for name in STRING_COLUMNS if name != "id")
"""The attributes that memories can be counted by."""
VALUES_SHOWN: Final = 1000
COMPARED: Final = 5000
"""How many memories are compared to find copies at most: the newest."""
GROUPS_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class Status(Hinting):
    """One tenant at this moment. Counts are of the whole tenant, whatever the scope."""

    tenant: str
    records: int
    """Not expired."""
    expired: int
    """Expired: hidden from answers, but not forgotten."""
    seq: int
    time: datetime | None
    """The time of the last commit; None before the first."""
    debt: int
    """Vectors that are still to be computed: of a large import, or because an embedder failed."""
    facts_owed: int
    """Turns that lack facts because a language model failed; counted up to a thousand."""
    segments: int
    """Published index segments."""
    tail: int
    """Rows that are indexed in memory only."""
    unerased: int
    """Forgotten records whose bytes upkeep has not erased yet from all files."""
    unerased_since: datetime | None
    """When the first of them was forgotten."""
    tenants: tuple[str, ...]
    """All tenants of the store; servers leave this out, since it is for the owner only."""
    kernel: str
    """What computes here: `native` or `numpy`. Answers are the same."""
    by: str | None = None
    """The attribute that the memories are counted by, if any."""
    counts: dict[str, int] | None = None
    """The number of memories per value, for the thousand most frequent values."""
    distinct: int | None = None
    """The number of distinct values."""
    calibrations: tuple[SpaceCalibration, ...] = ()
    """Whether each vector space that this memory searches is calibrated, the serving one first."""
    repeats: tuple[tuple[Record, ...], ...] | None = None
    """Groups of memories whose texts are nearly the same, the newest first, at most a hundred; if
    they were wanted."""
    repeat_groups: int | None = None
    """How many such groups there are in all."""
    compared: int | None = None
    """How many memories were compared to find them: the newest ones."""

    def __repr__(self) -> str:
        detail = f"{counted(self.records, 'record')}, {counted(self.debt, 'vector')} owed"
        return shown(f"Status {named(self.tenant)}", detail)

    def to_dict(self) -> dict[str, object]:
        """The status as plain data."""
        out: dict[str, object] = {each.name: getattr(self, each.name) for each in fields(self)}
        for moment in ("time", "unerased_since"):
            out[moment] = None if out[moment] is None else iso(cast("datetime", out[moment]))
        out["calibrations"] = [each.to_dict() for each in self.calibrations]
        if self.repeats is not None:
            out["repeats"] = [
                [{"id": record.id, "text": record.text} for record in group]
                for group in self.repeats
            ]
        return {k: v for k, v in out.items() if v is not None} | {"tenants": list(self.tenants)}


@dataclass(frozen=True, slots=True)
class Report:
    """The result of `maintain`."""

    embedded: int
    owed: int
    behind: int
    """Records that still lack a vector."""
    published: bool
    unerased: int = 0
    """Forgotten records that could not be erased from all files yet."""

    def __repr__(self) -> str:
        rest = f"{self.owed:,} owed, {self.behind:,} behind"
        return shown("Report", f"{counted(self.embedded, 'record')} embedded, {rest}")

    def to_dict(self) -> dict[str, object]:
        """The report as plain data."""
        return asdict(self)


def status_of(
    engine: Engine, tenant: str, by: str | None = None, *, repeats: bool = False
) -> Status:
    """The status of a tenant; with `repeats`, memories with nearly the same text are looked for."""
    if by is not None:
        choice(by, "by", COUNTED, BadQuery)
    flag(repeats, "repeats", BadQuery)
    index = engine.index_cache.index(tenant)
    view = index.view()
    head, unerased = engine.log.head(tenant), engine.log.unerased(tenant)
    lasting = Criteria(Scope.of(tenant), now=engine.clock.now(), expired="hide")
    selection = select(view, lasting, engine.fetch(tenant))
    values = None if by is None else _counts(view, selection, by)
    alike = _repeats(engine, view, tenant) if repeats else None
    return Status(
        tenant=tenant,
        records=selection.count,
        expired=view.total - selection.count,
        seq=view.seq,
        time=to_datetime(head.time) if head.seq else None,
        debt=len(engine.log.debts(tenant, DEBTS_COUNTED)),
        facts_owed=len(owed_turns(engine, Scope.of(tenant))),
        segments=len(index.manifest.segments),
        tail=sum(map(len, index.tail)),
        unerased=unerased.count,
        unerased_since=to_datetime(unerased.since) if unerased.count else None,
        tenants=tuple(engine.log.tenants()),
        kernel=kernel_choice().name,
        by=by,
        counts=None if values is None else dict(_most(values)),
        distinct=None if values is None else len(values),
        calibrations=_calibrations(engine, tenant),
        repeats=None if alike is None else alike.groups,
        repeat_groups=None if alike is None else alike.total,
        compared=None if alike is None else alike.compared,
    )


class _Repeats(NamedTuple):
    """The first groups of copies, how many groups there are, and among how many memories."""

    groups: tuple[tuple[Record, ...], ...]
    total: int
    compared: int


def _repeats(engine: Engine, view: View, tenant: str) -> _Repeats:
    """Groups of copies among the newest memories that a search may show.

    The rule is that of the ordering `copies` with its defaults: what one user said twice.
    """
    scope, now = Scope.of(tenant), engine.clock.now()
    seen = Criteria(scope, now=now, archived="hide", expired="hide", superseded="hide")
    fetch = engine.fetch(tenant)
    rows = select(view, seen, fetch).rows(view)[-COMPARED:].tolist()
    records = [record for record in reversed(fetch(rows)) if record is not None]
    keys = ((record.user, record.source.who, record.occurred) for record in records)
    texts = [(key, record.titled) for key, record in zip(keys, records, strict=True)]
    groups = copy_groups(texts)
    first = tuple(tuple(records[nth] for nth in group) for group in groups[:GROUPS_SHOWN])
    return _Repeats(first, len(groups), len(records))


def _calibrations(engine: Engine, tenant: str) -> tuple[SpaceCalibration, ...]:
    registry = engine.log.agents(tenant, 2**62)
    searched = (engine.vectors, *(each.vectors for each in engine.other_spaces))
    return tuple(
        space_calibration(registry, vectors.name, vectors.embedder_name)
        for vectors in searched
        if vectors.embedder is not None
    )


def run_upkeep(
    engine: Engine, writer: Writer, limit: int, *, progress: bool | ProgressCallback = False
) -> Report:
    """Embed what lacks a vector, publish and merge the index, erase; see `Memory.maintain`."""
    index_cache, tenant = engine.index_cache, writer.tenant
    least = index_cache.worth_publishing
    published = index_cache.tidy(tenant, least, wait=True)  # first: a long log is read in parts
    debts = len(engine.log.debts(tenant, limit))
    with show_progress(progress, "embedding", debts) as report:
        paid, owed = writer.pay(limit, report)
    filled, behind = fill_vectors(engine, writer, limit)
    published |= bool(paid or filled) and index_cache.tidy(tenant, least, wait=True)
    index_cache.erase(tenant, wait=True)
    if (left := _left_by_restore(engine)) is not None:
        remove_copy(left)
    return Report(paid + filled, owed, behind, published, engine.log.unerased(tenant).count)


def check_store(engine: Engine, *, repair: bool) -> Checkup:
    """Verify the whole store; with `repair`, fix derived data. See `write.doctor`."""
    known = {one.fingerprint: one for one in (*all_analyzers(), engine.analyzer)}
    context = CheckContext(engine.log, engine.index_cache, known, engine.vectors.name)
    checked = checkup(context, repair=repair)
    left = _left_by_restore(engine)
    if left is None:
        return checked
    if repair:
        remove_copy(left)
    message = f"{left.name} was left by a restore that did not finish"
    mended = repair and (checked.mended or not checked.derived)
    return replace(checked, derived=(*checked.derived, message), mended=mended)


def _left_by_restore(engine: Engine) -> Path | None:
    """The copy that a killed restore left beside the store; None if there is none."""
    copy = restoring(engine.log.path) if isinstance(engine.log, Sqlite) else None
    return copy if copy is not None and copy.is_file() else None


def _counts(view: View, selection: Selection, by: str) -> Counter[str]:
    """How many rows have each value of a column."""
    out: Counter[str] = Counter()
    for segment, mask in zip(view.segments, selection.masks, strict=True):
        codes = segment.arrays[f"{by}.codes"][mask]
        names = dictionary_of(segment.arrays, by)
        values, counts = np.unique(codes[codes >= 0], return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            out[names[value]] += count
    return out


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    """The most frequent values; ties are sorted by name."""
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:VALUES_SHOWN]
