"""Does a record only ask?

In a conversation the turn that asks has the words of the question, and a later one has the answer.
So a record that ends in a question mark loses, by the share of its words that ask: a long turn that
says something and then asks loses little.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np

from memoriter.core.slate import Slate
from memoriter.index.reads import numbers
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.grid import snap


class AskingBoost(Boost):
    """Minus the weight, times the share of a record that asks."""

    about: ClassVar[str] = "records that only ask lose"
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"asks": "the share of its words that are in questions, if it ends in one"}
    )

    kind: Literal["asking"]
    weight: float = option(
        "score that a record loses if its text is only questions; a record that ends in a question"
        " but has other text too loses less",
        0.05,
        ge=0.0,
        le=1000.0,
    )

    def largest_gain(self, best: float) -> float:
        """Nothing: it only takes."""
        del best
        return 0.0

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """Minus the weight times the share, which stands beside it."""
        share = numbers(ctx.view, slate.rows, "text.asks")
        share[share == 0.0] = np.nan
        return Boosted(snap(-self.weight * share), {"asks": share})
