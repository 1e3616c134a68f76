"""The boost `intent`: factors for records of the kind that an English question asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np

from memoriter.core.slate import Slate
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted, Op, best_records
from memoriter.rank.grid import snap_one
from memoriter.text.intent import factors, intent_of, traits_of


class IntentBoost(Boost):
    """Factors by the intent of the question and traits of a record; they are multiplied."""

    about: ClassVar[str] = "factors by the kind of answer that an English question asks for"
    reads_score: ClassVar[bool] = True
    traced: ClassVar[tuple[str, ...]] = ("intent",)
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "preference_note": "factor: it is a note about what somebody prefers",
            "memory_of_a_liking": "factor: it tells what somebody likes",
            "raw_document": "factor: it is a document, not a note",
            "generic_advice": "factor: it gives advice to anybody",
            "generic_advice_again": "factor: the same, as the question also asks for a fact",
            "roll-up": "factor: it sums up other memories",
            "roll-up_again": "factor: the same, as the question also asks for a fact",
            "concrete_fact": "factor: it states a fact such as a number or a date",
            "long_prose": "factor: it is long",
        }
    )

    kind: Literal["intent"]
    head: int = option(
        "how many of the best candidates the boost examines; the others keep their score",
        1000,
        ge=1,
        le=10_000,
    )

    @property
    def op(self) -> Op:
        """The score is multiplied."""
        return "product"

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready if an intent is recognised in the question."""
        intent = intent_of(ctx.query.text)
        if intent.label is None:
            return Skipped("the question wants nothing in particular", idle=True)
        return Ready({**self.shows(), "intent": intent.label, "signs": list(intent.signs)})

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """The product of each record's factors, 1 if it has none; the factors are in `details`."""
        wanted = intent_of(ctx.query.text)
        size = slate.rows.size
        values = np.full(size, np.nan)
        details: dict[str, np.ndarray] = {}
        for at, record in best_records(ctx, slate, self.head):
            reasons = factors(wanted, traits_of(record))
            values[at] = snap_one(math.prod(factor for _, factor in reasons))
            for n, (reason, factor) in enumerate(reasons):
                key = reason.replace(" ", "_")
                key = key if key not in dict(reasons[:n]) else f"{key}_again"
                details.setdefault(key, np.full(size, np.nan))[at] = factor
        return Boosted(values, details)
