"""Runs a lane with other options, to say why it did not find a row.

Lanes use it in `missed`, which `why_not` shows; `why/obstacle.py` uses it for pools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import numpy as np

from memoriter.core.ranking import Ranking
from memoriter.lanes.port import EVERY, Context, Lane, Miss, Skipped

__all__ = ["EVERY", "lane_with_options", "place_of", "run_lane", "score_of", "too_far", "with_pool"]
_FURTHER: Final = 4
"""How many links beyond the recipe's maximum are tried."""
LaneKind = TypeVar("LaneKind", bound=Lane)


def lane_with_options(lane: LaneKind, **options: object) -> LaneKind:
    """A copy of the lane with other options."""
    return lane.with_options(**options)


def run_lane(lane: Lane, ctx: Context) -> Ranking:
    """The lane's ranking; empty if it cannot run."""
    return Ranking.empty() if isinstance(lane.ready(ctx), Skipped) else lane.rank(ctx)


def place_of(lane: Lane, ctx: Context, row: int) -> int | None:
    """The rank of a row in a lane, from 1; None if the lane does not find it."""
    at = np.flatnonzero(run_lane(lane, ctx).rows == row)
    return int(at[0]) + 1 if at.size else None


def score_of(lane: Lane, ctx: Context, row: int) -> tuple[int, float] | None:
    """(rank from 1, score) of a row in a lane; None if the lane does not find it."""
    ranking = run_lane(lane, ctx)
    at = np.flatnonzero(ranking.rows == row)
    return (int(at[0]) + 1, float(ranking.scores[at[0]])) if at.size else None


def with_pool(pool: int, place: int, options: Mapping[str, object]) -> dict[str, object]:
    """These options, plus a larger pool if the row's place lies outside the pool."""
    return {**options, **({"pool": place} if place > pool else {})}


def too_far(lane: Lane, ctx: Context, row: int, *, limit: str, pool: int) -> Miss:
    """For a lane with a maximum number of links: whether a few more would have reached the row."""
    depth = int(getattr(lane, limit))
    seeds = f"{ctx.seeds.size} seed{'' if ctx.seeds.size == 1 else 's'}"
    for further in range(depth + 1, depth + _FURTHER + 1):
        place = place_of(lane_with_options(lane, pool=EVERY, **{limit: further}), ctx, row)
        if place is not None:
            reason = f"it is {further} links from {seeds}, and {limit} = {depth}"
            return Miss(reason, with_pool(pool, place, {limit: further}))
    return Miss(f"no path from {seeds} leads to it")
