"""The engine on one screen: lanes, fusion, order. Reads top to bottom; nothing flows back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from recollect.core.ranking import Ranking, Scores
from recollect.core.slate import Slate, Step
from recollect.lanes.port import Context
from recollect.pipeline.plan import Plan
from recollect.pipeline.recipe import Weighted
from recollect.rank.fuse import align, by_max, min_max, weighted
from recollect.rank.top import top

_SCALES: Final = {"max": by_max, "min_max": min_max}


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished search: the plan with its counts, each lane's ranking, the slate."""

    plan: Plan
    rankings: Mapping[str, Ranking]
    slate: Slate


def run(plan: Plan, ctx: Context) -> Ran:
    """Run a plan on the context it was made for."""
    rankings = {label: plan.recipe.lanes[label].rank(ctx) for label in plan.running}
    slate = fused(plan.recipe.passes[0].fuse, rankings)
    counts = {label: ranking.rows.size for label, ranking in rankings.items()}
    counts |= {"select": ctx.selection.count, "fuse": slate.rows.size}
    counts["limit"] = min(slate.rows.size, ctx.query.limit)
    attempts = {label: ranking.attempts for label, ranking in rankings.items()}
    return Ran(plan.counted(counts, attempts), rankings, slate)


def fused(fuse: Weighted, rankings: Mapping[str, Ranking]) -> Slate:
    """One slate of all rankings, scored and in order."""
    labels = list(rankings)
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
