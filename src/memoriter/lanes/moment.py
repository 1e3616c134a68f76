"""The lane `moment`: records of the time that the question names ("last week").

A record's time is `occurred`, else `created`. It scores 1 inside the named span, and
1 / (1 + distance in spans) outside. If the span is still to come ("next week"), only `occurred`
counts: what was written lately is not near it. If the question names no time, the lane is skipped
and the answer still counts as complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.explanation import Explanation
from memoriter.core.query import Query
from memoriter.core.ranking import SHARE, Ranking, Rows, Scores
from memoriter.core.times import iso
from memoriter.index.columns import NO_TIME
from memoriter.index.segment import Segment
from memoriter.lanes.missed import EVERY, lane_with_options, score_of, with_pool
from memoriter.lanes.port import Context, Lane, Miss, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.rank.decay import nearness
from memoriter.rank.grid import STEP
from memoriter.text.moments import Moment, moment_of
from memoriter.text.time_words import calendar_words


class MomentLane(Lane):
    """Nearness to the time that the question names, relative to the query's `now`."""

    about: ClassVar[str] = "records of the time that the question names"
    independent: ClassVar[bool] = True
    reads_time: ClassVar[bool] = True
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"phrase": "the words that name a time", "time": "the time of the memory"}
    )

    kind: Literal["moment"]
    pool: int = option("how many candidates the lane returns at most", ge=1, le=100_000)
    min_score: float = option(
        "minimum score of a candidate; the score says how near the record's time is to the"
        " period that the question names; 1: within the period; 0.5: one period length away",
        0.5,
        gt=0.0,
        le=1.0,
    )

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready if the question names a time."""
        moment = moment_of(ctx.query.text, ctx.query.now)
        if moment is None:
            return Skipped("the question names no time", idle=True)
        span = {"phrase": moment.text, "since": iso(moment.since), "until": iso(moment.until)}
        return Ready({**span, "min_score": self.min_score, "pool": self.pool})

    def rank(self, ctx: Context) -> Ranking:
        """Records by nearness."""
        moment = moment_of(ctx.query.text, ctx.query.now)
        if moment is None:
            return Ranking.empty()
        rows: list[Rows] = [np.zeros(0, np.int64)]
        scores: list[Scores] = [np.zeros(0)]
        for segment, mask in zip(ctx.view.segments, ctx.selection.masks, strict=True):
            times = _times(segment, moment, ctx.query.now)
            # Most rows are far away: only those that may be near enough are scored.
            reach = 1.01 * (moment.until - moment.since + 1) * (1.0 / self.min_score - 1.0) + 1e6
            some = (times >= moment.since - reach) & (times <= moment.until + reach) & mask
            at = np.flatnonzero(some)
            values = nearness(times[at], moment.since, moment.until)
            hit = values >= self.min_score
            rows.append(segment.rows[at[hit]])
            scores.append(values[hit])
        every, values = np.concatenate(rows), np.concatenate(scores)
        order = ctx.best(values, every, self.pool)
        return Ranking(every[order], values[order], coverage=SHARE, is_ordered=True)

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """Each record's time, and the words of the question that it was compared with."""
        score = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
        moment = moment_of(ctx.query.text, ctx.query.now)
        if moment is None:
            return []
        times: dict[int, int] = {}
        for segment in ctx.view.segments:
            places, inside = segment.places(rows)
            here = _times(segment, moment, ctx.query.now)[places]
            times |= dict(zip(rows[inside].tolist(), here.astype(np.int64).tolist(), strict=True))
        return [
            Explanation(
                "nearness", score[row], facts={"phrase": moment.text, "time": iso(times[row])}
            )
            for row in rows.tolist()
        ]

    def own_words(self, query: Query) -> str:
        """The words that name the time."""
        moment = moment_of(query.text, query.now)
        return "" if moment is None else moment.text

    def words_in_text(self, query: Query) -> tuple[str, ...]:
        """A weekday or a date: a text may name it too."""
        return calendar_words(self.own_words(query))

    def missed(self, ctx: Context, row: int) -> Miss:
        """The record is too far from that time."""
        scored = score_of(lane_with_options(self, pool=EVERY, min_score=STEP), ctx, row)
        if scored is None:
            return Miss("it is too far from the time that the question names")
        place, score = scored
        floor = f"min_score = {self.min_score:g}"
        reason = f"its nearness of {score:.4f} to that time lies below {floor}"
        return Miss(reason, with_pool(self.pool, place, {"min_score": score}))


def _times(segment: Segment, moment: Moment, now: int) -> NDArray[np.float64]:
    """The time of each row; NaN where it has none that could be near the moment."""
    occurred = segment.arrays["occurred"]
    created = segment.arrays["created"].astype(np.float64)
    absent = np.nan if moment.since > now else created
    return np.where(occurred == NO_TIME, absent, occurred.astype(np.float64))
