"""Whether a row outside of all pools could be among the first hits, as the plan reports it.

The bound is the threshold of Fagin's algorithm (Fagin, Lotem and Naor, Optimal aggregation
algorithms for middleware, 2003).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memoriter.core.ranking import Ranking, Scores
from memoriter.lanes.port import Context
from memoriter.pipeline.fusing import Weighted
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.stand_ins import stand_ins
from memoriter.rank.grid import snap_one


def outside_pools(
    recipe: Recipe,
    ctx: Context,
    proposed: Mapping[str, Ranking],
    scores: Scores,
    boosts: Sequence[str],
) -> dict[str, object]:
    """What the plan says: whether no row outside of the pools can be among the first hits.

    `scores` are those of the first pass, best first; `boosts` those that run. Without a bound
    nothing is said.
    """
    limit = max(ctx.query.limit, 1)
    if not recipe.passes[0].complete:
        return {}
    full = any(
        ranking.rows.size >= getattr(recipe.lanes[label], "pool", np.inf)
        for label, ranking in proposed.items()
    )
    if not full:
        return {"outside": "no other record has a score"}
    bound = _upper_bound(recipe, ctx, proposed, float(scores[0]), boosts) if scores.size else None
    if bound is None:
        return {}
    proved = scores.size >= limit and bound < float(scores[limit - 1])
    return {"outside": f"at most {bound:.4g}", "proved": proved}


def _upper_bound(
    recipe: Recipe,
    ctx: Context,
    proposed: Mapping[str, Ranking],
    best: float,
    boosts: Sequence[str],
) -> float | None:
    """An upper bound of the score of any row outside of all pools; None if none is known.

    `proposed` is what the pools hold, `best` is the highest score. A lane whose pool is not full
    has no score for other rows.
    """
    first = recipe.passes[0]
    fuse = recipe.fusion(has_model=ctx.has_model)
    if not isinstance(fuse, Weighted) or fuse.absent != "fixed" or recipe.fused:
        return None
    if not all(recipe.lanes[label].independent for label in proposed):
        return None
    most = _most_covered(recipe, ctx, fuse, proposed)
    bound = sum(snap_one(fuse.weights[label] * share) for label, share in most.items())
    for label in (name for name in first.boosts if name in boosts or name in proposed):
        gain = recipe.boosts[label].largest_gain(best) if label in recipe.boosts else None
        if gain is None:
            return None
        bound += gain
    return bound


def _most_covered(
    recipe: Recipe, ctx: Context, fuse: Weighted, proposed: Mapping[str, Ranking]
) -> dict[str, float]:
    """By lane the largest scaled score of a row outside of all pools, or what stands for it."""
    last = {label: np.zeros(1) for label in proposed}
    for label, ranking in proposed.items():
        if ranking.rows.size >= getattr(recipe.lanes[label], "pool", np.inf):
            last[label] = fuse.scaled(label, ranking.scores, ranking.coverage)[-1:]

    def answered(label: str) -> bool:
        return proposed[label].rows.size > 0

    none = np.zeros(0, np.int64)
    stand = stand_ins(recipe, ctx, fuse, proposed, answered=answered, rows=none)
    if stand is not None and stand.by:
        mean = stand.mean(last, 1)
        last |= {label: np.fmax(last[label], mean) for label in stand.owed}
    return {label: float(value[0]) for label, value in last.items()}
