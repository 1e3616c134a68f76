"""Does a record end in a question?

In a conversation the turn that asks has the words of the question, and a later one has the answer.
So a record whose text ends in a question mark loses a little.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final, Literal

import numpy as np

from memoriter.core.slate import Slate
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted, best_records
from memoriter.rank.grid import snap

_CLOSING: Final = " \t\r\n\"'”’»)"
"""What may stand after a question mark."""


class AskingBoost(Boost):
    """Minus the weight for records whose text ends in a question mark."""

    about: ClassVar[str] = "records that end in a question lose"
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"asks": "whether it ends in a question"}
    )
    reads_score: ClassVar[bool] = True

    kind: Literal["asking"]
    weight: float = option("what such a record loses", 0.05, ge=0.0, le=1000.0)
    head: int = option("maximum candidates looked at, the best first", 100, ge=1, le=10_000)

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """Minus the weight, with a mark beside it."""
        mark = np.full(slate.rows.size, np.nan)
        for at, record in best_records(ctx, slate, self.head):
            if record.text.rstrip(_CLOSING).endswith(("?", "？")):
                mark[at] = 1.0
        return Boosted(snap(-self.weight * mark), {"asks": mark})
