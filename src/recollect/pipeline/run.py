"""The engine on one screen: lanes, fusion, order. Reads top to bottom; nothing flows back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from recollect.core.ranking import Ranking, Rows, Scores
from recollect.core.slate import Slate, Step
from recollect.lanes.port import Context
from recollect.lanes.spec import Seeded
from recollect.pipeline.plan import Plan
from recollect.pipeline.recipe import Weighted
from recollect.pipeline.waves import starts, waves_of
from recollect.rank.fuse import align, by_max, min_max, weighted
from recollect.rank.top import top

_SCALES: Final = {"max": by_max, "min_max": min_max, "none": np.copy}


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished search: the plan with its counts, each lane's ranking, the slate."""

    plan: Plan
    rankings: Mapping[str, Ranking]
    slate: Slate
    seeds: Mapping[str, Rows] = field(default_factory=dict[str, Rows])
    """The rows that lanes started from."""


def run(plan: Plan, ctx: Context) -> Ran:
    """Run a plan on the context it was made for."""
    rankings, seeds = _waves(plan, ctx)
    plan = plan.without(
        {
            label: f"no seeds: nothing was found by {', '.join(_seeding(plan, label))}"
            for label in plan.running
            if label not in rankings
        }
    )
    slate = fused(plan.recipe.passes[0].fuse, rankings)
    counts = {label: ranking.rows.size for label, ranking in rankings.items()}
    counts |= {"select": ctx.selection.count, "fuse": slate.rows.size}
    counts["limit"] = min(slate.rows.size, ctx.query.limit)
    return Ran(plan.counted(counts, rankings), rankings, slate, seeds)


def _waves(plan: Plan, ctx: Context) -> tuple[dict[str, Ranking], dict[str, Rows]]:
    """(what the lanes found, in the recipe's order; what they started from)."""
    found: dict[str, Ranking] = {}
    seeds: dict[str, Rows] = {}
    for wave in waves_of(plan.recipe.lanes):
        for label in wave:
            lane = plan.recipe.lanes[label]
            if label not in plan.running:
                continue
            if isinstance(lane, Seeded):
                seeds[label] = starts(label, lane, ctx, found)
                if not seeds[label].size:
                    continue
            found[label] = lane.rank(replace(ctx, seeds=seeds[label]) if label in seeds else ctx)
    return {label: found[label] for label in plan.running if label in found}, seeds


def _seeding(plan: Plan, label: str) -> tuple[str, ...]:
    lane = plan.recipe.lanes[label]
    return lane.seeds if isinstance(lane, Seeded) else ()


def fused(fuse: Weighted, rankings: Mapping[str, Ranking]) -> Slate:
    """One slate of all rankings, scored and in order."""
    labels = list(rankings)
    if not labels:  # every lane was idle: nothing was asked for, and nothing is missing
        return Slate(
            np.zeros(0, np.int64), {"fuse": np.zeros(0)}, (Step("fuse", "sum", (), "fuse"),)
        )
    aligned = align([r.rows for r in rankings.values()], [r.scores for r in rankings.values()])
    weights = effective(fuse, {label: ranking.rows.size > 0 for label, ranking in rankings.items()})
    shares = np.array([weights[label] for label in labels])
    scaled = _SCALES[fuse.scale](aligned.scores)
    contributions = weighted(scaled, shares)
    columns: dict[str, Scores] = {}
    for lane, label in enumerate(labels):
        there = ~np.isnan(aligned.scores[lane])
        columns[f"{label}.score"] = aligned.scores[lane]
        columns[f"{label}.rank"] = aligned.ranks[lane]
        columns[f"{label}.scaled"] = scaled[lane]
        columns[f"{label}.weight"] = np.where(there, shares[lane], np.nan)
        for name, values in rankings[label].parts.items():
            part = np.full(aligned.rows.size, np.nan)
            part[np.searchsorted(aligned.rows, rankings[label].rows)] = values
            columns[f"{label}.{name}"] = part
    slate = Slate(aligned.rows, columns)
    inputs = tuple(f"fuse.{label}" for label in labels)
    step = Step("fuse", "sum", inputs, "fuse")
    slate = slate.scored(step, dict(zip(inputs, contributions, strict=True)))
    return slate.take(top(slate.score, slate.rows, slate.rows.size))


def effective(fuse: Weighted, answered: Mapping[str, bool]) -> dict[str, float]:
    """Each lane's share of the whole; one that says nothing gives its share away or keeps it."""
    counted = {
        label: fuse.weights[label] if answered[label] or fuse.absent == "keep" else 0.0
        for label in answered
    }
    whole = sum(counted.values())
    return {label: weight / whole if whole else 0.0 for label, weight in counted.items()}
