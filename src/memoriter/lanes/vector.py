"""The lane `vector`: records by the cosine between their vector and the query's.

A record with several vectors (one per part of its text) counts by the best of them; with several
embedding spaces, by its best space. The search is exact up to `exact_up_to` vectors; above that it
is approximate (`lanes.nearest`), and the plan says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, NamedTuple, cast

import numpy as np

from memoriter.core.calibration import Calibration
from memoriter.core.explanation import Explanation
from memoriter.core.later import Later
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Knots, Mask, Ranking, Rows, Scores, among, union_rows
from memoriter.index.vectors import best_parts
from memoriter.index.view import View
from memoriter.index.view_vectors import has_vectors
from memoriter.kernel.found_rows import Wanted
from memoriter.kernel.jobs import Started, all_started
from memoriter.lanes.kernel_lane import KernelLane
from memoriter.lanes.missed import lane_with_options, score_of, with_pool
from memoriter.lanes.nearest import Nearest, NearRows, Scan, cosines_of, scan_of
from memoriter.lanes.port import (
    EVERY,
    Context,
    FloatVector,
    InSpace,
    LaneFigures,
    Miss,
    Ready,
    Skipped,
)
from memoriter.lanes.spec import option
from memoriter.rank.grid import snap, snap_one


class VectorLane(KernelLane):
    """Cosine between the query's vector and each record's."""

    about: ClassVar[str] = "records whose vector is near that of the query (cosine)"
    reads: ClassVar[tuple[str, ...]] = ("vector", "query")
    generation: ClassVar[str | None] = "vectors"
    independent: ClassVar[bool] = True
    owing: ClassVar[str] = "its vector is not computed yet"
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "distance": "1 − cosine: 0 for the same direction",
            "freshness": "weight of a cosine; less may count while vectors are missing",
        }
    )
    unlimited: ClassVar[Mapping[str, object]] = MappingProxyType(
        {"pool": EVERY, "exact_up_to": 2**31}
    )

    kind: Literal["vector"]
    pool: int = option("how many candidates the lane returns at most", ge=1, le=10_000_000)
    min_cosine: float = option(
        "minimum cosine of record and question; -1: every record that has a vector",
        ge=-1.0,
        le=1.0,
    )
    exact_up_to: int = option(
        "largest number of vectors for which the search is exact; with more vectors it is"
        " approximate",
        300_000,
        ge=0,
        le=2**31,
    )
    ef: int | None = option(
        "has no effect; accepted because recipes for an HNSW index have this option",
        None,
        ge=1,
        le=1_000_000,
    )
    fresh: float = option(
        "factor that multiplies every cosine while all records have a vector; see `stale`",
        1.0,
        ge=0.0,
        le=1000.0,
    )
    stale: float = option(
        "factor that multiplies every cosine while some records still lack a vector; see `fresh`",
        1.0,
        ge=0.0,
        le=1000.0,
    )

    def dumped(self, *, complete: bool) -> dict[str, Any]:
        """The options as plain data, without an `ef` that has no effect.

        It is left out of our own recipes and of their fingerprints.
        """
        data = super().dumped(complete=complete)
        return {key: value for key, value in data.items() if (key, value) != ("ef", None)}

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready if the query has a vector and the view has some, in at least one space."""
        verdicts = {each.name: (each, _able(each)) for each in ctx.spaces}
        able = [each for each, why in verdicts.values() if why is None]
        lacks = {name: why for name, (_, why) in verdicts.items() if why is not None}
        if not able:
            return lacks[ctx.spaces[0].name]
        skipped = {name: why.reason for name, why in lacks.items() if not why.idle}
        return Ready(Later(lambda: self._shown_of(ctx, able)), skipped)

    def _shown_of(self, ctx: Context, able: Sequence[InSpace]) -> dict[str, object]:
        """What a plan prints: options, how the spaces are searched, how many vectors lack."""
        scans = {scan_of(each.view, _masks(ctx, each), self.exact_up_to) for each in able}
        shows: dict[str, object] = {
            "min_cosine": self.min_cosine,
            "pool": self.pool,
            "scan": "approximate" if "approximate" in scans else "exact",
        }
        if len(ctx.spaces) > 1:
            shows["spaces"] = {each.name: self._weight(each.view) for each in able}
        elif (weight := self._weight(ctx.view)) != 1.0:
            shows["weight"] = weight
        if behind := max(each.view.behind for each in able):
            shows["vectors"] = f"{behind} row{'' if behind == 1 else 's'} behind"
        return shows

    def _weight(self, view: View) -> float:
        return self.stale if view.behind else self.fresh

    def start(self, ctx: Context) -> Started[Ranking]:
        """Records with a vector, by the cosine of their best part in their best space."""
        hits = [self._near(ctx, each) for each in ctx.spaces if _able(each) is None]
        ranked = all_started(hits).then(partial(self._ranked, ctx))
        return ranked if ctx.running.scores_further else Started(ranked.finish, ranked.jobs)

    def _ranked(self, ctx: Context, hits: list[_SpaceHits]) -> Ranking:
        approximate = any(each.scan == "approximate" for each in hits)
        shows: dict[str, object] = {"scan": "approximate" if approximate else "exact"}
        if any(each.is_zero for each in hits):
            shows["vector"] = "zero, which points nowhere"
        rows, scores = self._ordered(ctx, hits, self.pool)
        return Ranking(
            rows,
            scores,
            shows=shows,
            coverage=self._coverage(ctx),
            memo=_Memo(hits, rows),
            is_ordered=True,
        )

    def _ordered(self, ctx: Context, hits: list[_SpaceHits], pool: int) -> tuple[Rows, Scores]:
        """The rows of all spaces, each by its best one."""
        if len(hits) == 1:
            rows, values = hits[0].rows, hits[0].values
        else:
            rows = union_rows(each.rows for each in hits)
            values = np.full(rows.size, -np.inf)
            for each in hits:
                at = rows.searchsorted(each.rows)
                values[at] = np.maximum(values[at], each.values)
        order = ctx.best(values, rows, pool)
        return rows[order], values[order]

    def score_rows(self, ctx: Context, ranking: Ranking, rows: Rows) -> Scores:
        """The scores of further rows."""
        further = self._further(ctx, ranking, rows)
        if len(further) == 1 and further[0].rows.size == rows.size:
            return further[0].values
        out = np.full(rows.size, -np.inf)
        for each in further:
            at = rows.searchsorted(each.rows)
            out[at] = np.maximum(out[at], each.values)
        out[out == -np.inf] = np.nan
        return out

    def owed(self, ctx: Context, rows: Rows) -> Mask | None:
        """The rows whose vector in the serving space is still to be computed."""
        serving = ctx.spaces[0]
        if not serving.view.owes or _able(serving) is not None:
            return None
        if not cast("FloatVector", serving.vector).any():
            return None  # it would find no record, whatever its vector
        return serving.view.lacks_vector(rows)

    def _further(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[_SpaceHits]:
        """The hits of each space among rows outside of the pool."""
        able = (each for each in ctx.spaces if _able(each) is None)
        known = cast("_Memo", ranking.memo).hits
        return [self._scored(own, each, rows) for own, each in zip(known, able, strict=True)]

    def _scored(self, own: _SpaceHits, each: InSpace, rows: Rows) -> _SpaceHits:
        """The cosines of some rows in a space."""
        if own.is_zero:
            return own
        query = cast("FloatVector", each.vector)
        exact, known = partial(cosines_of, each.view, query), own.found_values
        cosines = exact(rows) if known is None else known.of(rows, exact)
        has_vector = ~np.isnan(cosines)
        if not has_vector.all():
            rows, cosines = rows[has_vector], cosines[has_vector]
        return own.of(*self._above(rows, cosines))

    @property
    def _floor(self) -> float:
        # Rounding can put an exact opposite just below -1, so -1 means no floor at all.
        return self.min_cosine if self.min_cosine > -1.0 else -np.inf

    def _near(self, ctx: Context, each: InSpace) -> Started[_SpaceHits]:
        query, weight = cast("FloatVector", each.vector), self._weight(each.view)
        if not query.any():
            nothing = (np.zeros(0, np.int64), np.zeros(0))
            return Started(lambda: _SpaceHits(each.name, *nothing, weight, is_zero=True))
        near = Nearest(each.view, _masks(ctx, each), query)
        near_rows = near.best(self.pool, self._floor, self.exact_up_to)
        return near_rows.then(lambda made: self._hits(ctx, each, made, near.found_values))

    def _hits(
        self, ctx: Context, each: InSpace, near_rows: NearRows, found_values: Wanted | None
    ) -> _SpaceHits:
        """The hits of a space that count."""
        above, weight = self._above(near_rows.rows, near_rows.cosines), self._weight(each.view)
        hits = _SpaceHits(each.name, *above, weight, near_rows.scan, found_values=found_values)
        if len(ctx.spaces) == 1:
            return hits
        # Evidence shows every space that found a row, and how many rows come beside the pool
        # depends on the kernel.
        order = ctx.best(hits.values, hits.rows, self.pool)
        return hits.of(hits.rows[order], hits.cosines[order])

    def _above(self, rows: Rows, cosines: Scores) -> tuple[Rows, Scores]:
        """The rows whose cosine reaches the floor."""
        met = cosines >= self._floor
        return (rows, cosines) if met.all() else (rows[met], cosines[met])

    def _coverage(self, ctx: Context) -> Knots | None:
        """From a cosine to its place among those of unrelated texts; None if that is unknown.

        With several spaces, or with a weight for stale vectors, a score is no cosine of one space.
        """
        (space, *others) = [each for each in ctx.spaces if _able(each) is None] or [None]
        if space is None or others or self._weight(space.view) != 1.0:
            return None
        known = space.view.calibration
        return None if known is None else coverage_of(known)

    def why_no_coverage(self, ctx: Context) -> str:
        """Several spaces, weighted cosines, or a space whose unrelated texts are not measured."""
        able = [each for each in ctx.spaces if _able(each) is None]
        if len(able) > 1:
            return "several embedders are searched at once, and their cosines share no scale"
        if self._weight(ctx.view) != 1.0:
            return "the recipe weights cosines while vectors are missing"
        return (
            "the cosines of this embedder are not calibrated; memory.calibrate(), or `memoriter"
            " calibrate`, does it (not for vectors of your own)"
        )

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Each row's weighted cosine, in each space that found it."""
        hits, pool = cast("_Memo", ranking.memo)
        outside = np.sort(rows[~among(np.sort(pool), rows)])
        if outside.size:
            further = self._further(ctx, ranking, outside)
            hits = [own.joined(more) for own, more in zip(hits, further, strict=True)]
        if len(hits) == 1:
            return [hits[0].evidence("meaning", row, bare=True) for row in rows.tolist()]
        out: list[Explanation] = []
        for row in rows.tolist():
            parts = tuple(each.evidence(each.name, row) for each in hits if each.has_vectors(row))
            best = max(part.value for part in parts)
            out.append(Explanation("meaning", best, "max", parts))
        return out

    def figures(self, why: Explanation) -> LaneFigures:
        """The distance 1 − cosine; none if several spaces were searched."""
        nodes = (why, *why.parts)
        distance = next((1.0 - node.value for node in nodes if node.label == "cosine"), None)
        return LaneFigures(why.value, distance=distance)

    def missed(self, ctx: Context, row: int) -> Miss:
        """The record's cosine is too low, or it has no vector."""
        options = {"min_cosine": -1.0, "fresh": 1.0, "stale": 1.0, "exact_up_to": 2**31}
        scored = score_of(lane_with_options(self, pool=EVERY, **options), ctx, row)
        if scored is None:
            return Miss("it has no vector yet: maintain computes it")
        place, cosine = scored
        reason = f"its cosine of {cosine:.4f} lies below min_cosine = {self.min_cosine:g}"
        return Miss(reason, with_pool(self.pool, place, {"min_cosine": max(cosine, -1.0)}))

    def vectors(self, ctx: Context, rows: Rows) -> Mapping[str, Mapping[int, FloatVector]]:
        """By space and row, the vector of the row's best part."""
        parts = {
            each.name: best_parts(each.view, rows, each.vector)
            for each in ctx.spaces
            if each.vector is not None
        }
        return {name: vectors for name, vectors in parts.items() if vectors}


NORMAL: Final = (0.0, 1.2815515655, 2.3263478740, 3.0902323062, 3.7190164855)
"""The standard normal deviates at the levels of a calibration."""
WHOLE: Final = 6.0
"""The deviate that covers the whole question."""


@lru_cache(maxsize=64)
def coverage_of(calibration: Calibration) -> Knots:
    """Cosines as normal deviates of unrelated texts, divided by `WHOLE`; the last slope goes on.

    >>> coverage_of(Calibration((0.0, 0.125, 0.25, 0.375, 0.5)))[-1][1]
    1.0
    """
    knots: list[tuple[float, float]] = []
    for cosine, deviate in zip(calibration.cosines, NORMAL, strict=True):
        if knots and cosine <= knots[-1][0]:
            knots.pop()  # of equal quantiles the highest counts
        knots.append((cosine, snap_one(deviate / WHOLE)))
    (x0, y0), (x1, y1) = knots[-2:] if len(knots) > 1 else ((0.0, 0.0), *knots[-1:])
    rise = (y1 - y0) / (x1 - x0) if x1 > x0 else 1.0
    return (*knots, (snap_one(x1 + (1.0 - y1) / rise), 1.0))


@dataclass(frozen=True)
class _SpaceHits:
    """The hits of one space: rows in no order, their cosines, the weight of a cosine there."""

    name: str
    rows: Rows
    cosines: Scores
    weight: float
    scan: Scan = "exact"
    is_zero: bool = False
    found_values: Wanted | None = None
    """The cosines of what other lanes found too."""

    @property
    def values(self) -> Scores:
        return self.cosines if self.weight == 1.0 else snap(self.weight * self.cosines)

    def of(self, rows: Rows, cosines: Scores) -> _SpaceHits:
        """Other hits of the same space."""
        return _SpaceHits(
            self.name,
            rows,
            cosines=cosines,
            weight=self.weight,
            scan=self.scan,
            is_zero=self.is_zero,
            found_values=self.found_values,
        )

    def joined(self, other: _SpaceHits) -> _SpaceHits:
        """The hits of both, which have no row in common."""
        rows = np.concatenate([self.rows, other.rows])
        return self.of(rows, np.concatenate([self.cosines, other.cosines]))

    @cached_property
    def _places(self) -> dict[int, int]:
        return {row: at for at, row in enumerate(self.rows.tolist())}

    def has_vectors(self, row: int) -> bool:
        return row in self._places

    def evidence(self, label: str, row: int, *, bare: bool = False) -> Explanation:
        """The cosine of a row times the weight; only the cosine if `bare` and the weight is 1."""
        at = self._places[row]
        cosine = float(self.cosines[at])
        leaf = Explanation("cosine", cosine, facts={"distance": 1.0 - cosine})
        if bare and self.weight == 1.0:
            return leaf
        value = float(snap(self.weight * self.cosines[at : at + 1])[0])
        return Explanation(label, value, "product", (leaf, Explanation("freshness", self.weight)))


class _Memo(NamedTuple):
    """The hits of each space, and the rows of the pool."""

    hits: list[_SpaceHits]
    pool: Rows


def _able(each: InSpace) -> Skipped | None:
    """Why a space cannot be searched; None if it can."""
    if each.lacks is not None:
        return each.lacks
    if each.view.damage is not None:
        return Skipped(each.view.damage)
    if each.view.total and not has_vectors(each.view):
        return Skipped("no record has a vector yet")
    return None


def _masks(ctx: Context, each: InSpace) -> tuple[Mask, ...]:
    """The selection as masks of a space's segments, which may hold the same rows elsewhere."""
    if each.view is ctx.view:
        return ctx.selection.masks
    rows = ctx.selection.rows(ctx.view)
    return tuple(np.isin(s.rows, rows, assume_unique=True) for s in each.view.segments)
