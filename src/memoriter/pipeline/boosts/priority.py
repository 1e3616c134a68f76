"""The boost `priority`: the priority of a record, by a table."""

from __future__ import annotations

from typing import ClassVar, Literal

from memoriter.core.slate import Slate
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boosted, ShareBoost, by_table


class PriorityBoost(ShareBoost):
    """The priority of a record, by a table; a priority that it does not name counts 0."""

    about: ClassVar[str] = "the priority of a record, by a table"

    kind: Literal["priority"]
    table: dict[str, float] = option(
        "for each priority, the share (0 to 1) that a record of this priority has (see"
        " `weight`); priorities not listed have 0",
        make=lambda: {"P1": 1.0, "P2": 0.6, "P3": 0.3, "P4": 0.0},
        always=True,
    )

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """What the table says."""
        return Boosted(self.worth(by_table(ctx, slate, "priority", self.table)))
