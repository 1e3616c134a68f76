"""Is a record of the kind that the question asks for: a preference, or one concrete fact?"""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np

from memoriter.core.slate import Slate
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted, Op
from memoriter.rank.grid import snap_one
from memoriter.text.intent import factors, intent_of, traits_of


class IntentBoost(Boost):
    """Factors by what the question wants and what a record is; they multiply. English alone."""

    about: ClassVar[str] = "factors by what an English question wants"
    reads_score: ClassVar[bool] = True

    kind: Literal["intent"]
    head: int = option("maximum candidates looked at, the best first", 1000, ge=1, le=10_000)

    @property
    def op(self) -> Op:
        """A factor."""
        return "product"

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when the question wants something in particular."""
        intent = intent_of(ctx.query.text)
        if intent.label is None:
            return Skipped("the question wants nothing in particular", idle=True)
        return Ready({**self.shows(), "intent": intent.label, "signs": list(intent.signs)})

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """The product of each record's factors, which stand beside it; 1 where it has none."""
        wanted = intent_of(ctx.query.text)
        size = slate.rows.size
        values = np.full(size, np.nan)
        beside: dict[str, np.ndarray] = {}
        best = np.argsort(-np.nan_to_num(slate.score, nan=-np.inf), kind="stable")[: self.head]
        for at, record in zip(best.tolist(), ctx.fetch(slate.rows[best].tolist()), strict=True):
            if record is None:
                continue
            reasons = factors(wanted, traits_of(record))
            values[at] = snap_one(math.prod(factor for _, factor in reasons))
            for n, (reason, factor) in enumerate(reasons):
                key = reason.replace(" ", "_")
                key = key if key not in dict(reasons[:n]) else f"{key}_again"
                beside.setdefault(key, np.full(size, np.nan))[at] = factor
        return Boosted(values, beside)
