"""The boost `trust`: the trust level of a record's source, by a table."""

from __future__ import annotations

from typing import ClassVar, Literal

from memoriter.core.slate import Slate
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boosted, ShareBoost, by_table


class TrustBoost(ShareBoost):
    """The trust of a record, by a table; a level that it does not name counts 0."""

    about: ClassVar[str] = "the trust in a record, by a table"

    kind: Literal["trust"]
    table: dict[str, float] = option(
        "for each trust level, the share (0 to 1) that a record of this level has (see"
        " `weight`); levels not listed have 0",
        make=lambda: {"system": 1.0, "learned": 0.5, "external": 0.0},
        always=True,
    )

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """What the table says."""
        return Boosted(self.worth(by_table(ctx, slate, "trust", self.table)))
