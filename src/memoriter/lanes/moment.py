"""Which records are of the time that the question names?

A record's time is when it happened, else when it was made. Inside the span it scores 1, outside
1 / (1 + how many spans away): the nearer, the better. A question without a hint has nothing to ask
this lane, and nobody misses it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Ranking, Rows, Scores
from memoriter.core.times import iso
from memoriter.index.columns import NO_TIME
from memoriter.index.segment import Segment
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import Spec
from memoriter.rank.decay import nearness
from memoriter.text.moments import Moment, moment_of


class Near(Spec):
    """Nearness to the time that the question names, seen from the query's `now`."""

    kind: Literal["moment"]
    enabled: bool = True
    pool: int = Field(ge=1, le=100_000)
    min_score: float = Field(default=0.5, gt=0.0, le=1.0)
    """Records further away are no candidates: at 0.5, one span away."""

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when the question names a time."""
        moment = moment_of(ctx.query.text, ctx.query.now)
        if moment is None:
            return Skipped("the question names no time", idle=True)
        told = {"said": moment.said, "since": iso(moment.since), "until": iso(moment.until)}
        return Ready({**told, "min_score": self.min_score, "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """Records by how near they are."""
        moment = moment_of(ctx.query.text, ctx.query.now)
        if moment is None:
            return Ranking.empty()
        rows: list[Rows] = [np.zeros(0, np.int64)]
        scores: list[Scores] = [np.zeros(0)]
        for segment, mask in zip(ctx.reading.segments, ctx.selection.masks, strict=True):
            values = _nearness(segment, moment)
            hit = mask & (values >= self.min_score)
            rows.append(segment.rows[hit])
            scores.append(values[hit])
        every, values = np.concatenate(rows), np.concatenate(scores)
        order = ctx.best(values, every, self.pool)
        return Ranking(every[order], values[order])

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Each record's time, and the span it was compared with."""
        score = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
        moment = moment_of(ctx.query.text, ctx.query.now)
        said = "" if moment is None else moment.said
        times: dict[int, int] = {}
        for segment in ctx.reading.segments:
            places, mine = segment.places(rows)
            found = _times(segment)[places]
            times |= dict(zip(rows[mine].tolist(), found.tolist(), strict=True))
        return [
            Explanation("nearness", score[row], facts={"said": said, "time": iso(times[row])})
            for row in rows.tolist()
        ]


def _times(segment: Segment) -> np.ndarray:
    occurred = segment.arrays["occurred"]
    return np.where(occurred == NO_TIME, segment.arrays["created"], occurred)


def _nearness(segment: Segment, moment: Moment) -> Scores:
    return nearness(_times(segment).astype(np.float64), moment.since, moment.until)
