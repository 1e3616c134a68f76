"""What stands for a lane where what it reads of a record is still to be computed.

Vectors of a large write are computed later. Until then such a record would get nothing of the lane
with the largest weight, and lose its place to records that answer worse. So the share of the
question that the lane would cover is taken from the other lanes that cover it: their weighted mean.
`first_pass` calls it; the bound of the plan (`threshold`) reads which lanes stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask, Rows, Scores
from memoriter.lanes.port import Context
from memoriter.pipeline.fusing import Fusion
from memoriter.pipeline.recipe import Recipe
from memoriter.rank.fuse import weighted_mean

OWED = "owed"
"""The detail of a lane that is 1 for rows of which it lacks what is still to be computed."""


@dataclass(frozen=True, slots=True)
class StandIns:
    """The lanes that lack something of records, and those that stand for them there."""

    owed: Mapping[str, Mask]
    """By lane the rows of which it lacks what is still to be computed."""
    by: tuple[str, ...]
    """The lanes that stand for it, in the recipe's order."""
    weights: Scores

    def mean(self, scaled: Mapping[str, Scores], size: int) -> Scores:
        """What these lanes cover of the question, by row; NaN where none of them has a score."""
        if not self.by:
            return np.full(size, np.nan)
        return weighted_mean(np.array([scaled[label] for label in self.by]), self.weights)


def stand_ins(
    recipe: Recipe,
    ctx: Context,
    fuse: Fusion,
    lanes: Iterable[str],
    answered: Callable[[str], bool],
    rows: Rows,
) -> StandIns | None:
    """What stands for the lanes that lack something of these rows; None if no lane does.

    Lanes stand for others if they found something, score each record by itself, and are not read
    apart. A lane that lacks something stands for no other.
    """
    covering = [label for label in lanes if fuse.covers(label)]
    known = {label: recipe.lanes[label].owed(ctx, rows) for label in covering}
    owed = {label: mask for label, mask in known.items() if mask is not None}
    if not owed:
        return None
    by = tuple(
        label
        for label in covering
        if label not in (*owed, *recipe.apart) and recipe.lanes[label].independent
        if answered(label)
    )
    weights = np.array([fuse.weighed.get(label, 1.0) for label in by])
    return StandIns(owed, by, weights)
