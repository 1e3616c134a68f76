"""Why each lane of a search did not find a row, and with what options it would have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from memoriter.lanes.missed import EVERY, lane_with_options, place_of
from memoriter.lanes.port import Context, Lane, Miss
from memoriter.pipeline.run import Ran
from memoriter.why.change import Change


@dataclass(frozen=True, slots=True)
class Misses:
    """What each lane says of a row that it did not find, and changes that may help."""

    reasons: Mapping[str, str]
    options: tuple[Change, ...]


def misses(ran: Ran, ctx: Context, row: int) -> Misses:
    """What every lane says, and what to change, the fewest options first."""
    recipe = ran.plan.recipe
    skipped = {step.name: step.skipped for step in ran.plan.steps if step.skipped is not None}
    reasons: dict[str, str] = {}
    options: list[Change] = []
    for label, lane in recipe.lanes.items():
        if label in skipped:
            reasons[label] = f"did not run: {skipped[label]}"
        elif row not in ran.rankings[label].rows:
            miss = _missed(lane, ctx.at(label, ran.seeds), row)
            reasons[label] = miss.reason
            if miss.options:
                paths = {f"lanes.{label}.{key}": value for key, value in miss.options.items()}
                options.append({"overrides": paths})
    options.sort(key=lambda option: len(cast("dict[str, object]", option["overrides"])))
    options += _switched(ran, ctx, skipped)
    return Misses(reasons, tuple(options))


def _switched(ran: Ran, ctx: Context, skipped: Mapping[str, str | None]) -> Iterator[Change]:
    """Lanes that are off, and those that are not in the mode asked for."""
    for label, lane in ran.plan.recipe.lanes.items():
        if label in skipped and not lane.enabled:
            yield {"overrides": {f"lanes.{label}.enabled": True}}
    if ctx.query.mode is not None:
        yield {"mode": None}


def _missed(lane: Lane, ctx: Context, row: int) -> Miss:
    """What a lane says; first whether a larger pool would have held the row."""
    pool = cast("int | None", getattr(lane, "pool", None))
    if pool is not None:
        place = place_of(lane_with_options(lane, pool=EVERY), ctx, row)
        if place is not None:
            reason = f"it is at rank {place} there, outside the pool of {pool}"
            return Miss(reason, {"pool": place})
    return lane.missed(ctx, row)
