"""The ordering `by_trust`: what is trusted more goes before, among candidates that compete.

Anybody may write an external memory that has every word of a question, so a good match is weak
evidence for it. Where more trusted candidates match well, a few of them go first. Where
none does, or where all candidates are external, nothing moves, and nothing is ever dropped. From
the score `most` on, a better match counts for nothing: titles, tags and neighbours can be written
too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Mask, Scores
from memoriter.core.slate import Slate
from memoriter.index.reads import has_value, strings
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.orderings.port import Moved, Ordering, unmoved

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe


class ByTrustOrdering(Ordering):
    """A record of low trust goes behind the best of the others that score at least a share of it.

    At most `before` of them are put before it, and it never rises.
    """

    about: ClassVar[str] = "external records go behind trusted ones that match well"
    whole_details: ClassVar[tuple[str, ...]] = ("behind",)

    kind: Literal["by_trust"]
    of: tuple[Literal["system", "learned", "external"], ...] = option(
        "trust levels that count as less trusted; their records go behind well-matching records of"
        " other levels (see `share`)",
        ("external",),
    )
    share: float = option(
        "share of a less trusted record's score that another record must reach to go before it;"
        " first-pass scores are compared",
        0.4,
        ge=0.0,
        le=1.0,
    )
    most: float | None = option(
        "upper limit of the score with which a less trusted record is compared; a higher score"
        " counts as this limit; none: no limit",
        None,
        ge=0.0,
        le=1000.0,
    )
    before: int = option(
        "how many records are put before a less trusted one at most", 5, ge=1, le=1000
    )

    def phrases(self, details: Mapping[str, object]) -> Iterator[str]:
        """How many trusted records were put before it."""
        if details.get("behind"):
            yield f"behind {details['behind']} more trusted that match well"

    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """The rows with those of low trust behind what competes with them."""
        del recipe
        if not has_value(ctx.view, "trust", self.of):  # most stores have none of them
            return unmoved(slate, "behind", {"moved": 0}, {"of": []})
        low = np.array([t in self.of for t in strings(ctx.view, slate.rows, "trust")], np.bool_)
        order, behind = self.ordered(low, slate.first_score)
        moved = np.where(behind > 0, behind.astype(np.float64), np.nan)
        return Moved(
            order,
            {"behind": moved},
            {"moved": int((behind > 0).sum())},
            {"of": np.flatnonzero(low).tolist()},
        )

    def ordered(self, low: Mask, scores: Scores) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """(the new order, behind how many more each row stands than before)."""
        behind = np.zeros(low.size, np.int64)
        high = np.flatnonzero(~low)
        if not high.size or not low.any():
            return np.arange(low.size), behind
        slots = np.empty(low.size, np.float64)
        slots[high] = np.arange(high.size)
        for at in np.flatnonzero(low).tolist():
            already = int((high < at).sum())
            own = scores[at] if self.most is None else min(scores[at], self.most)
            rivals = np.flatnonzero(scores[high] >= self.share * own)[: self.before]
            needed = int(rivals[-1]) + 1 if rivals.size else 0
            behind[at] = max(needed - already, 0)
            # Between the last row that it stands behind and the next one.
            slots[at] = max(needed, already) - 0.5
        return np.argsort(slots, kind="stable"), behind
