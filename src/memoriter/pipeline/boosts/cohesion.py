"""The boost `cohesion`: weak hits gain from a strong hit written shortly before or after them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from memoriter.core.ranking import Scores
from memoriter.core.slate import Slate
from memoriter.index.reads import codes, numbers
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted, lane_scores, positions_of
from memoriter.pipeline.fusing import Label
from memoriter.rank.decay import Reach, near_strong


class CohesionBoost(Boost):
    """Weak hits gain from a strong one that was written shortly before or after them."""

    about: ClassVar[str] = "weak hits gain from a strong one written shortly before or after"

    kind: Literal["cohesion"]
    lane: Label = option(
        "lane whose raw scores are compared with `strong` and `weak`",
        "words",
    )
    radius: int = option(
        "distance from a strong hit at which a weak hit gains nothing any more, counted in records"
        " in order of writing",
        12,
        ge=1,
        le=10_000,
    )
    most: float = option(
        "score that a weak hit gains at most; the gain falls with the distance from the strong"
        " hit, and is 0 at `radius`",
        1.2,
        ge=0.0,
        le=1000.0,
    )
    strong: float = option(
        "minimum raw score of a strong hit in `lane`; strong hits raise weak hits nearby",
        3.0,
        ge=0.0,
        le=1e6,
    )
    weak: float = option(
        "raw score in `lane` below which a hit is weak; weak hits gain from strong hits nearby",
        5.0,
        ge=0.0,
        le=1e6,
    )
    same_session: bool = option(
        "whether a weak hit gains only from strong hits of its own session", default=False
    )

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """What each row gains."""
        sessions = codes(ctx.view, slate.rows, "session")[0] if self.same_session else None
        positions = numbers(ctx.view, slate.rows, "position")
        scores = lane_scores(slate, self.lane)
        reach = Reach(self.radius, self.most, self.strong, self.weak)
        return Boosted(near_strong(positions, scores, reach, sessions))

    def inputs(self, ctx: Context, slate: Slate) -> Mapping[str, Scores]:
        """Positions; none with `same_session`, because sessions are not numbers."""
        if self.same_session:
            return {}
        return positions_of(ctx, slate)
