"""Runs `Memory.reflect`: reads the candidates, clusters them, and commits the reflections.

The clustering itself is in `write.reflect`, as pure functions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.batch import Batch, Vector
from memoriter.core.errors import Conflict, InputError, NotFound, NothingToRun
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import EXACT_INT, choice, flag, integer, names, number, text
from memoriter.core.options import check_known
from memoriter.core.ranking import Rows
from memoriter.core.record import Record
from memoriter.core.scope import Scope
from memoriter.index.ids import rows_by_id
from memoriter.index.reads import strings
from memoriter.index.selection import Criteria, Selection, select
from memoriter.index.vectors import row_vectors
from memoriter.index.view import View
from memoriter.memory.engine import Engine
from memoriter.memory.writing_options import ReflectKwargs
from memoriter.write.ceiling import exceeds, least_trust
from memoriter.write.reflect import (
    ALGORITHMS,
    ASSOCIATED,
    Cluster,
    NewReflection,
    Reflected,
    Rejected,
    Revised,
    Rule,
    apart_remark,
    draft_of,
    find_clusters,
    is_ours,
    members_of,
    reflect_limit,
    reflection_acts,
    tightest,
)
from memoriter.write.writer import Writer

CANDIDATES: Final = 5000
"""The default of `candidates`: how many of the newest memories are compared."""
MOST_CANDIDATES: Final = 10_000
_REMARKED: Final = 2000
"""So many memories are compared to say why none came together."""
_TRIES: Final = 5
_LOWER: Final = (0.6, 0.5, 0.4)
"""Tried one after the other where nothing comes together at the default and the caller named no
similarity: short notes on many things rarely reach it. A cluster needs a mean of 0.4."""
_FORMS: Final = {"f4": "<f4", "f8": "<f8", "unit": "<f4"}


def reflect(engine: Engine, writer: Writer, options: ReflectKwargs, *, dry_run: bool) -> Reflected:
    """Write missing reflections, and archive those whose members are gone.

    Raises NothingToRun without an embedder. If another writer interferes, it starts again.
    """
    rule, candidates = (
        _rule(options),
        integer(
            options.get("candidates", CANDIDATES), "candidates", 1, MOST_CANDIDATES, InputError
        ),
    )
    flag(dry_run, "dry_run", InputError)
    if engine.vectors.embedder is None:
        raise NothingToRun(
            "reflect: this memory has no embedder, and reflections are found by comparing vectors",
            hint="open the memory with an embedder, or with embedder='given:<n>' for vectors of"
            " your own",
        )
    summaries = _SummaryWriter(options)
    lower = _LOWER if "similarity" not in options and rule.algorithm != "linked" else ()
    for attempt in range(_TRIES):
        view = _Candidates(engine, writer.scope, rule)
        clusters = _nearest_clusters(view, candidates, lower)
        orphans, overtrusted = view.orphans(), view.overtrusted()
        if dry_run:
            return _account(engine.log.head(writer.tenant).seq, clusters, orphans, None)
        try:
            _write(engine, writer, clusters, (orphans, overtrusted), summaries)
        except (Conflict, NotFound):  # another writer was faster: read again
            if attempt == _TRIES - 1:
                raise
            continue
        return _account(engine.log.head(writer.tenant).seq, clusters, orphans, summaries)
    raise AssertionError("unreachable")


def _rule(options: ReflectKwargs) -> Rule:
    check_known(options, ReflectKwargs, InputError, "dry_run")
    plain = Rule()
    choice(options.get("algorithm", plain.algorithm), "algorithm", ALGORITHMS, InputError)
    archived = options.get("archived", "hide")
    choice(archived, "archived", ("hide", "show"), InputError)
    kinds = options.get("kinds")
    least = integer(options.get("min_size", plain.min_size), "min_size", 2, EXACT_INT, InputError)
    return Rule(
        options.get("algorithm", plain.algorithm),
        number(options.get("similarity", plain.similarity), "similarity", 0.0, 1.0, InputError),
        min_size=least,
        max_size=integer(
            options.get("max_size", plain.max_size), "max_size", least, EXACT_INT, InputError
        ),
        kinds=None if kinds is None else names(kinds, "kinds", InputError),
        archived=archived == "show",
    )


class _SummaryWriter:
    """Calls the caller's summary function once per cluster, even if the write is retried."""

    def __init__(self, options: ReflectKwargs) -> None:
        self._summary = options.get("summary")
        cycle = options.get("cycle")
        if self._summary is not None and not callable(self._summary):
            raise InputError(
                "summary: expected a function that takes the members of a cluster and returns"
                " a text",
                field="summary",
            )
        self.cycle = (
            None if cycle is None else integer(cycle, "cycle", -EXACT_INT, EXACT_INT, InputError)
        )
        self._written: dict[str, str] = {}

    def summary(self, cluster: Cluster) -> str | None:
        """The caller's summary of a cluster; None if there is no such function."""
        if self._summary is None:
            return None
        if cluster.id not in self._written:
            self._written[cluster.id] = text(
                self._summary(cluster.group.members), "summary", InputError
            )
        return self._written[cluster.id]


@dataclass(frozen=True, slots=True)
class _Clusters:
    """The clusters of a run, before anything is written."""

    good: tuple[Cluster, ...]
    known: frozenset[str]
    """The reflections that are there already."""
    rejected: tuple[Rejected, ...]
    considered: int
    left_out: int
    remark: str | None

    @property
    def fresh(self) -> tuple[Cluster, ...]:
        """Those without a reflection yet."""
        return tuple(cluster for cluster in self.good if cluster.id not in self.known)

    @property
    def kept(self) -> tuple[str, ...]:
        """The reflections of the others."""
        return tuple(cluster.id for cluster in self.good if cluster.id in self.known)


class _Candidates:
    """The memories of one scope in the current view, and the reflections among them."""

    def __init__(self, engine: Engine, scope: Scope, rule: Rule) -> None:
        self._rule = rule
        self._engine, self._scope = engine, scope
        self._reading: View = engine.view(scope.tenant, None)
        self._now = engine.clock.now()
        self._fetch = engine.fetch(scope.tenant)
        self._standing = self._selected(Criteria(
            scope, now=self._now, archived="show" if rule.archived else "hide", expired="hide",
            superseded="hide", reflections="hide",
        ))  # fmt: skip
        rows = self._selected(Criteria(scope, now=self._now, reflections="only"))
        self._ours = [r for r in self._records(rows.rows(self._reading)) if is_ours(r)]

    def _selected(self, criteria: Criteria) -> Selection:
        return select(self._reading, criteria, self._fetch)

    def _records(self, rows: Rows) -> list[Record]:
        return [record for record in self._fetch(rows.tolist()) if record is not None]

    def clusters(self, candidates: int, similarity: float | None = None) -> _Clusters:
        """Cluster the newest candidates, separately for each agent and user."""
        rule = self._rule if similarity is None else replace(self._rule, similarity=similarity)
        rows, matrix = row_vectors(self._reading, self._of_kinds(rule.kinds))
        # Rows ascend with time, and near pairs cost quadratic time: only the newest are compared.
        rows, matrix = rows[-candidates:], matrix[-candidates:]
        # Never across owners: a reflection must not mix memories of two agents or users.
        owned: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        records = self._fetch(rows.tolist())
        for at, record in enumerate(records):
            if record is not None:
                owned[record.agent, record.user or ""].append(at)
        good: list[Cluster] = []
        bad: list[Rejected] = []
        work = reflect_limit()
        for _, places in sorted(owned.items()):
            members = [record for at in places if (record := records[at]) is not None]
            links = self._links(rows[places]) if rule.algorithm == "linked" else None
            fine, refused = find_clusters(members, matrix[places], rule, links, work)
            good, bad = good + fine, bad + refused
        considered = sum(map(len, owned.values()))
        return _Clusters(
            tuple(good),
            frozenset(record.id for record in self._ours),
            rejected=tuple(bad),
            considered=considered,
            left_out=self._standing.count - considered,
            remark=None if good or bad else apart_remark(rule, self._tightest(matrix, owned)),
        )

    def _tightest(
        self, matrix: NDArray[np.float32], owned: Mapping[tuple[str, str], list[int]]
    ) -> float | None:
        """How near the nearest memories of one owner are, among the newest."""
        parts = (matrix[places[-_REMARKED:]] for places in owned.values())
        near = (tightest(part, self._rule.min_size) for part in parts)
        return max((each for each in near if each is not None), default=None)

    def _of_kinds(self, kinds: tuple[str, ...] | None) -> Rows:
        """The rows that may be members."""
        rows = self._standing.rows(self._reading)
        if kinds is None:
            return rows
        return rows[[kind in kinds for kind in strings(self._reading, rows, "kind")]]

    def _links(self, rows: Rows) -> list[tuple[int, int]]:
        """The associations between these rows as pairs of their places, newest first."""
        graph = self._reading.graph
        place = {node: at for at, node in enumerate(graph.positions(rows).tolist())}
        edges = graph.edges
        at = np.flatnonzero(edges.holding(self._now, ASSOCIATED))[::-1]
        ends = zip(edges.sources[at].tolist(), edges.targets[at].tolist(), strict=True)
        return [
            (place[one], place[two])
            for one, two in ends
            if one in place and two in place and one != two
        ]

    @cached_property
    def _members(self) -> dict[str, tuple[str, ...]]:
        """The ids of the members of each reflection that is in use."""
        return {r.id: ids for r in self._ours if not r.archived and (ids := members_of(r))}

    @cached_property
    def _standing_members(self) -> dict[str, Record]:
        """The members that are neither forgotten nor hidden, by id."""
        wanted = sorted({one for ids in self._members.values() for one in ids})
        rows = rows_by_id(self._reading, wanted, self._standing.masks)
        records = self._records(np.array(sorted(rows.values()), np.int64))
        return {record.id: record for record in records}

    def orphans(self) -> list[Record]:
        """Reflections with a member that is forgotten, hidden, or of another agent or user."""
        standing = {(r.id, r.agent, r.user) for r in self._standing_members.values()}
        return [
            record
            for record in self._ours
            if not {(one, record.agent, record.user) for one in self._members.get(record.id, ())}
            <= standing
        ]

    def overtrusted(self) -> list[tuple[Record, str]]:
        """Reflections that are trusted more than a member is by now, with the trust they get."""
        out: list[tuple[Record, str]] = []
        for record in self._ours:
            known = [self._standing_members.get(one) for one in self._members.get(record.id, ())]
            trusts = [member.trust for member in known if member is not None]
            if len(trusts) == len(known) > 0 and exceeds(record.trust, least_trust(trusts)):
                out.append((record, least_trust(trusts)))
        return out


def _nearest_clusters(view: _Candidates, candidates: int, lower: Sequence[float]) -> _Clusters:
    """The clusters at the similarity of the rule; where it has none, those at lower ones.

    The nearest come first, and a memory is a member of one of them. What was rejected on the way
    is left out then.
    """
    clusters = view.clusters(candidates)
    if clusters.good or not clusters.considered:
        return clusters
    good: list[Cluster] = []
    taken = set[str]()
    for similarity in lower:
        below = view.clusters(candidates, similarity)
        clusters = below if below.rejected or not clusters.rejected else clusters
        for cluster in below.good:
            if taken.isdisjoint(cluster.ids):
                taken.update(cluster.ids)
                good.append(cluster)
    if not good:
        return clusters
    note = f"nothing came together at similarity {Rule().similarity:g}; this did at {lower[0]:g} to"
    return replace(clusters, good=tuple(good), rejected=(), remark=f"{note} {lower[-1]:g}")


def _write(
    engine: Engine,
    writer: Writer,
    clusters: _Clusters,
    known: tuple[Sequence[Record], Sequence[tuple[Record, str]]],
    summaries: _SummaryWriter,
) -> None:
    """Write everything in one transaction, if there is anything.

    `known` are reflections to archive, and those to be trusted less, with their trust.
    """
    if not clusters.fresh and not any(known):
        return
    now, tenant = engine.clock.now(), writer.tenant
    new = [
        NewReflection(
            draft_of(
                cluster,
                cluster.reflection(summaries.summary(cluster)).summary,
                now,
                summaries.cycle,
                writer.context.ceiling,
            ),
            _stored(engine, tenant, cluster),
        )
        for cluster in clusters.fresh
    ]
    orphans, overtrusted = known
    changes: list[tuple[Record, dict[str, object]]] = [
        *((record, {"archived": True}) for record in orphans),
        *((record, {"trust": trust}) for record, trust in overtrusted),
    ]
    revised = [
        Revised(record, change, _vectors(engine, tenant, record.row)) for record, change in changes
    ]
    batch = Batch(tenant, tuple(reflection_acts(new, revised, writer.context)), now)
    engine.index_cache.wrote(tenant, len(engine.log.commit(batch).ids))


def _vectors(engine: Engine, tenant: str, row: int) -> tuple[Vector, ...]:
    return tuple(
        Vector(v.generation, v.part, v.form, v.body)  # pyright: ignore[reportArgumentType]  # the log holds forms only
        for v in engine.log.vectors(tenant, row)
    )


def _stored(engine: Engine, tenant: str, cluster: Cluster) -> NDArray[np.floating]:
    """The members' vectors; a caller's own as stored, since their lengths weight the mean."""
    if not engine.vectors.name.startswith("given:"):
        return cluster.group.vectors
    vectors = [
        next(v for v in engine.log.vectors(tenant, m.row) if v.generation == engine.vectors.name)
        for m in cluster.group.members
    ]
    return np.stack([np.frombuffer(v.body, _FORMS[v.form]).astype(np.float64) for v in vectors])


def _account(
    seq: int, clusters: _Clusters, orphans: Sequence[Record], summaries: _SummaryWriter | None
) -> Reflected:
    return Reflected(
        tuple(
            c.reflection(None if summaries is None else summaries.summary(c))
            for c in clusters.fresh
        ),
        clusters.kept,
        retired=tuple(record.id for record in orphans),
        rejected=clusters.rejected,
        considered=clusters.considered,
        left_out=clusters.left_out,
        dry_run=summaries is None,
        seq=seq,
        remark=clusters.remark,
    )
