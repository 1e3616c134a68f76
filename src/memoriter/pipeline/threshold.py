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
    bound = 0.0
    for label, ranking in proposed.items():
        if not recipe.lanes[label].independent:
            return None
        if ranking.rows.size >= getattr(recipe.lanes[label], "pool", np.inf):
            last = fuse.scaled(label, ranking.scores, ranking.coverage)[-1:]
            bound += snap_one(fuse.weights[label] * float(last[0]))
    for label in (name for name in first.boosts if name in boosts or name in proposed):
        most = recipe.boosts[label].largest_gain(best) if label in recipe.boosts else None
        if most is None:
            return None
        bound += most
    return bound
