"""Tries a lane with other options, to say why it did not find a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import numpy as np

from memoriter.core.ranking import Ranking
from memoriter.lanes.port import Context, Lane, Miss, Skipped

EVERY: Final = 10_000_000
"""A pool that holds whatever a lane finds."""
_FURTHER: Final = 4
"""So many links more than the recipe follows are tried."""
AnyLane = TypeVar("AnyLane", bound=Lane)


def with_options(lane: AnyLane, **options: object) -> AnyLane:
    """The lane with other options."""
    return lane.model_copy(update=options)


def ranked(lane: Lane, ctx: Context) -> Ranking:
    """What a lane finds; nothing where it cannot run."""
    return Ranking.empty() if isinstance(lane.ready(ctx), Skipped) else lane.rank(ctx)


def place_of(lane: Lane, ctx: Context, row: int) -> int | None:
    """Where a lane ranks a row, counted from 1; None where it does not find it."""
    at = np.flatnonzero(ranked(lane, ctx).rows == row)
    return int(at[0]) + 1 if at.size else None


def score_of(lane: Lane, ctx: Context, row: int) -> tuple[int, float] | None:
    """Where a lane ranks a row, and its score; None where it does not find it."""
    ranking = ranked(lane, ctx)
    at = np.flatnonzero(ranking.rows == row)
    return (int(at[0]) + 1, float(ranking.scores[at[0]])) if at.size else None


def pooled(pool: int, place: int, options: Mapping[str, object]) -> dict[str, object]:
    """These options, and a larger pool where the row needs one."""
    return {**options, **({"pool": place} if place > pool else {})}


def too_far(lane: Lane, ctx: Context, row: int, *, limit: str, pool: int) -> Miss:
    """For a lane that follows so many links as an option says: had it gone further?"""
    depth = int(getattr(lane, limit))
    seeds = f"{ctx.seeds.size} seed{'' if ctx.seeds.size == 1 else 's'}"
    for further in range(depth + 1, depth + _FURTHER + 1):
        place = place_of(with_options(lane, pool=EVERY, **{limit: further}), ctx, row)
        if place is not None:
            reason = f"it is {further} links from {seeds}, and {limit} = {depth}"
            return Miss(reason, pooled(pool, place, {limit: further}))
    return Miss(f"no path from {seeds} leads to it")
