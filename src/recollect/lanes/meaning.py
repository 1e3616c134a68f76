"""Which records mean something like the query? Exact cosine over the selection, best part first.

A float32 scan finds every row that could belong to the pool, with a proven margin for its rounding;
exact dot products on the grid then decide. The answer is that of an exact scan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from recollect.core.explanation import Explanation
from recollect.core.ranking import Mask, Ranking, Rows
from recollect.index.reading import Reading
from recollect.index.segment import Segment
from recollect.lanes.port import Context, Ready, Skipped
from recollect.lanes.spec import Spec
from recollect.rank.grid import cosines, scan_margin, snap


class Meaning(Spec):
    """Cosine between the query's vector and each record's."""

    kind: Literal["vector"]
    enabled: bool = True
    pool: int = Field(ge=1, le=10_000_000)
    min_cosine: float = Field(ge=-1.0, le=1.0)
    fresh: float = Field(default=1.0, ge=0.0, le=1000.0)
    """What a cosine counts when every record has its vector."""
    stale: float = Field(default=1.0, ge=0.0, le=1000.0)
    """What it counts when some have none yet."""

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when the query has a vector and the view has some to compare it with."""
        if isinstance(ctx.vector, Skipped):
            return ctx.vector
        if ctx.reading.damage is not None:
            return Skipped(ctx.reading.damage)
        if ctx.reading.total and not any(_wanted(ctx.reading, ctx.reading.visible)):
            return Skipped("no record has a vector yet")
        shows: dict[str, object] = {"min_cosine": self.min_cosine, "pool": self.pool}
        if behind := ctx.reading.behind:
            shows["vectors"] = f"{behind} row{'' if behind == 1 else 's'} behind"
        if (weight := self._weight(ctx)) != 1.0:
            shows["weight"] = weight
        return Ready(shows)

    def _weight(self, ctx: Context) -> float:
        return self.stale if ctx.reading.behind else self.fresh

    def rank(self, ctx: Context) -> Ranking:
        """Records with a vector, by the cosine of their best part."""
        query = cast("NDArray[np.float32]", ctx.vector)
        near = _Nearest(ctx.reading, ctx.selection.masks, query)
        rows, scores = near.exact(near.cutoff(self.pool, self.min_cosine))
        found = scores >= self.min_cosine
        weighed = _weighed(scores[found], self._weight(ctx))
        order = ctx.best(weighed, rows[found], self.pool)
        return Ranking(rows[found][order], weighed[order])

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Each row's cosine."""
        del ranking  # exact: the vectors say it all
        masks: list[Mask] = []
        for segment in ctx.reading.segments:
            mask = np.zeros(len(segment), np.bool_)
            mask[segment.places(rows)[0]] = True
            masks.append(mask)
        near = _Nearest(ctx.reading, tuple(masks), cast("NDArray[np.float32]", ctx.vector))
        found, scores = near.exact(-np.inf)
        weight = self._weight(ctx)
        cosine = dict(zip(found.tolist(), scores.tolist(), strict=True))
        value = dict(zip(found.tolist(), _weighed(scores, weight).tolist(), strict=True))
        if weight == 1.0:
            return [Explanation("cosine", cosine[row]) for row in rows.tolist()]
        return [
            Explanation(
                "meaning", value[row], "product",
                (Explanation("cosine", cosine[row]), Explanation("freshness", weight)),
            )
            for row in rows.tolist()
        ]  # fmt: skip


def _weighed(scores: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    return scores if weight == 1.0 else snap(weight * scores)


@dataclass(frozen=True, slots=True)
class _Part:
    """The wanted vectors of one segment: their places among all rows, and which they are."""

    docs: NDArray[np.intp]
    chosen: NDArray[np.intp]
    matrix: NDArray[np.float32]


class _Nearest:
    """One query against the vectors of the rows inside some masks."""

    def __init__(
        self, reading: Reading, masks: tuple[Mask, ...], query: NDArray[np.float32]
    ) -> None:
        self._query = query
        self._rows = np.concatenate([np.zeros(0, np.int64), *(s.rows for s in reading.segments)])
        self._parts = [part for part in _wanted(reading, masks) if part is not None]
        self._scanned = [_scan(part, query) for part in self._parts]

    def cutoff(self, pool: int, floor: float) -> float:
        """Below this a scanned cosine can neither reach the pool nor the floor."""
        margin = scan_margin(self._query.size)
        best = np.full(self._rows.size, -np.inf, np.float32)
        for part, scores in zip(self._parts, self._scanned, strict=True):
            np.maximum.at(best, part.docs, scores)
        known = best[best > -np.inf]
        if known.size <= pool:
            return floor - margin
        return max(float(np.partition(known, -pool)[-pool]) - 2 * margin, floor - margin)

    def exact(self, cutoff: float) -> tuple[Rows, NDArray[np.float64]]:
        """Rows whose scanned cosine reaches the cutoff, with their exact one."""
        best = np.full(self._rows.size, -np.inf)
        for part, scores in zip(self._parts, self._scanned, strict=True):
            near = scores >= cutoff
            exact = cosines(part.matrix[part.chosen[near]], self._query)
            np.maximum.at(best, part.docs[near], snap(exact))
        found = best > -np.inf
        return self._rows[found], best[found]


def _scan(part: _Part, query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Float32 cosines of the wanted vectors: all at once where most are wanted."""
    if 4 * part.chosen.size > part.matrix.shape[0]:
        return (part.matrix @ query)[part.chosen]
    return part.matrix[part.chosen] @ query


def _wanted(reading: Reading, masks: tuple[Mask, ...]) -> list[_Part | None]:
    """For each segment the vectors that the view sees and whose rows are inside the masks."""
    starts = np.cumsum([0, *(len(segment) for segment in reading.segments)])
    flat = np.concatenate([np.zeros(0, np.bool_), *masks])
    out: list[_Part | None] = []
    for segment, start in zip(reading.segments, starts, strict=False):
        docs = _docs(reading, segment, int(start))
        inside = flat[docs] if flat.size else np.zeros(docs.size, np.bool_)
        seen = (docs >= 0) & inside & (segment.arrays["vectors.seqs"] <= reading.seq)
        chosen = np.flatnonzero(seen)
        out.append(
            _Part(docs[chosen], chosen, segment.arrays["vectors.matrix"]) if chosen.size else None
        )
    return out


def _docs(reading: Reading, segment: Segment, start: int) -> NDArray[np.intp]:
    """Where the owner of each vector stands among all rows; -1 where it is gone.

    Nearly all owners are in the same segment; a vector that came late may belong to an older one.
    """
    places, home = segment.owners
    docs = np.where(home, places + start, -1)
    if not home.all():
        owners = segment.arrays["vectors.rows"]
        offset = 0
        for other in reading.segments:
            found, mine = other.places(owners)
            docs[mine] = found + offset
            offset += len(other)
    return docs
