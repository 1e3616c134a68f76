"""Reflection: what is shown to it, and what it writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.batch import Batch, Vector
from memoriter.core.errors import Conflict, InputError, NotFound, NothingToRun
from memoriter.core.names import EXACT_INT, choice, flag, integer, number, text
from memoriter.core.options import check_known
from memoriter.core.ranking import Rows
from memoriter.core.record import Record
from memoriter.core.scope import Scope
from memoriter.index.ids import rows_by_id
from memoriter.index.selection import Criteria, Selection, select
from memoriter.index.vectors import row_vectors
from memoriter.index.view import View
from memoriter.memory.engine import Engine
from memoriter.memory.options import How
from memoriter.write.reflect import (
    ALGORITHMS,
    Cluster,
    Making,
    Reflected,
    Rejected,
    Rule,
    acts,
    draft_of,
    found,
    is_ours,
    members_of,
)

CANDIDATES: Final = 5000
MOST_CANDIDATES: Final = 10_000
_TRIES: Final = 5
_FORMS: Final = {"f4": "<f4", "f8": "<f8", "unit": "<f4"}


def reflect(engine: Engine, scope: Scope, how: How, *, dry_run: bool) -> Reflected:
    """Write the reflections that are missing, and archive those whose members are gone."""
    rule, candidates = (
        _rule(how),
        integer(how.get("candidates", CANDIDATES), "candidates", 1, MOST_CANDIDATES, InputError),
    )
    flag(dry_run, "dry_run", InputError)
    if engine.write_context.embedder is None:
        raise NothingToRun(
            "reflect: this memory has no embedder, and clusters are found by vectors",
            hint="open it with one, or with embedder='given:<n>' for vectors of your own",
        )
    pen = _Pen(how)
    for attempt in range(_TRIES):
        sight = _Sight(engine, scope)
        seen = sight.clusters(rule, candidates)
        orphans = sight.orphans()
        if dry_run:
            return _account(seen, orphans, None)
        try:
            _write(engine, scope, seen, orphans, pen)
        except (Conflict, NotFound):  # somebody wrote meanwhile: look again
            if attempt == _TRIES - 1:
                raise
            continue
        return _account(seen, orphans, pen)
    raise AssertionError("unreachable")


def _rule(how: How) -> Rule:
    check_known(how, How, InputError, "dry_run")
    plain = Rule()
    choice(how.get("algorithm", plain.algorithm), "algorithm", ALGORITHMS, InputError)
    least = integer(how.get("min_size", plain.min_size), "min_size", 2, EXACT_INT, InputError)
    return Rule(
        how.get("algorithm", plain.algorithm),
        number(how.get("similarity", plain.similarity), "similarity", 0.0, 1.0, InputError),
        least,
        integer(how.get("max_size", plain.max_size), "max_size", least, EXACT_INT, InputError),
    )


class _Pen:
    """Who writes the summaries: each is asked for once, however often the write is tried."""

    def __init__(self, how: How) -> None:
        self._summary = how.get("summary")
        cycle = how.get("cycle")
        if self._summary is not None and not callable(self._summary):
            raise InputError("summary: expected a function from members to text", field="summary")
        self.cycle = (
            None if cycle is None else integer(cycle, "cycle", -EXACT_INT, EXACT_INT, InputError)
        )
        self._written: dict[str, str] = {}

    def summary(self, cluster: Cluster) -> str | None:
        """The summary of a cluster; None for the plain one."""
        if self._summary is None:
            return None
        if cluster.id not in self._written:
            self._written[cluster.id] = text(
                self._summary(cluster.group.members), "summary", InputError
            )
        return self._written[cluster.id]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a run found out before it writes."""

    fresh: tuple[Cluster, ...]
    kept: tuple[str, ...]
    rejected: tuple[Rejected, ...]
    considered: int
    left_out: int


class _Sight:
    """One look at a view through one scope."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine, self._scope = engine, scope
        self._reading: View = engine.view(scope.tenant, None)
        self._now = engine.clock.now()
        self._fetch = engine.fetch(scope.tenant)
        self._standing = self._selected(Criteria(
            scope, now=self._now, archived="hide", expired="hide", superseded="hide",
            reflections="hide",
        ))  # fmt: skip
        rows = self._selected(Criteria(scope, now=self._now, reflections="only"))
        self._ours = [r for r in self._records(rows.rows(self._reading)) if is_ours(r)]

    def _selected(self, criteria: Criteria) -> Selection:
        return select(self._reading, criteria, self._fetch)

    def _records(self, rows: Rows) -> list[Record]:
        return [record for record in self._fetch(rows.tolist()) if record is not None]

    def clusters(self, rule: Rule, candidates: int) -> _Seen:
        """The clusters of each agent and user, and which of them have a reflection already."""
        rows, matrix = row_vectors(self._reading, self._standing.rows(self._reading))
        rows, matrix = rows[-candidates:], matrix[-candidates:]
        owned: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        records = self._fetch(rows.tolist())
        for at, record in enumerate(records):
            if record is not None:
                owned[record.agent, record.user or ""].append(at)
        good: list[Cluster] = []
        bad: list[Rejected] = []
        for _, places in sorted(owned.items()):
            members = [record for at in places if (record := records[at]) is not None]
            fine, refused = found(members, matrix[places], rule)
            good, bad = good + fine, bad + refused
        known = {record.id for record in self._ours}
        considered = sum(map(len, owned.values()))
        return _Seen(
            tuple(cluster for cluster in good if cluster.id not in known),
            tuple(cluster.id for cluster in good if cluster.id in known),
            tuple(bad),
            considered,
            self._standing.count - considered,
        )

    def orphans(self) -> list[Record]:
        """Reflections of which a member is forgotten, hidden, or in other hands."""
        said = {r.id: ids for r in self._ours if not r.archived and (ids := members_of(r))}
        wanted = sorted({one for ids in said.values() for one in ids})
        rows = rows_by_id(self._reading, wanted, self._standing.masks)
        standing = {
            (record.id, record.agent, record.user)
            for record in self._records(np.array(sorted(rows.values()), np.int64))
        }
        return [
            record
            for record in self._ours
            if not {(one, record.agent, record.user) for one in said.get(record.id, ())} <= standing
        ]


def _write(engine: Engine, scope: Scope, seen: _Seen, orphans: Sequence[Record], pen: _Pen) -> None:
    """Write everything in one transaction, if there is anything."""
    if not seen.fresh and not orphans:
        return
    now, tenant = engine.clock.now(), scope.tenant
    makings = [
        Making(
            draft_of(cluster, cluster.told(pen.summary(cluster)), now, pen.cycle),
            _stored(engine, tenant, cluster),
        )
        for cluster in seen.fresh
    ]
    kept = [(record, _vectors(engine, tenant, record.row)) for record in orphans]
    batch = Batch(tenant, tuple(acts(makings, kept, engine.write_context)), now)
    engine.index_cache.wrote(tenant, len(engine.log.commit(batch).ids))


def _vectors(engine: Engine, tenant: str, row: int) -> tuple[Vector, ...]:
    return tuple(
        Vector(v.generation, v.part, v.form, v.body)  # pyright: ignore[reportArgumentType]  # the log holds forms only
        for v in engine.log.vectors(tenant, row)
    )


def _stored(engine: Engine, tenant: str, cluster: Cluster) -> NDArray[np.floating]:
    """The vectors of the members: a caller's as given, since their lengths count; else units."""
    if not engine.write_context.space.startswith("given:"):
        return cluster.group.vectors
    vectors = [
        next(
            v
            for v in engine.log.vectors(tenant, m.row)
            if v.generation == engine.write_context.space
        )
        for m in cluster.group.members
    ]
    return np.stack([np.frombuffer(v.body, _FORMS[v.form]).astype(np.float64) for v in vectors])


def _account(seen: _Seen, orphans: Sequence[Record], pen: _Pen | None) -> Reflected:
    return Reflected(
        tuple(c.told(None if pen is None else pen.summary(c)) for c in seen.fresh),
        seen.kept,
        tuple(record.id for record in orphans),
        seen.rejected,
        seen.considered,
        seen.left_out,
        dry_run=pen is None,
    )
