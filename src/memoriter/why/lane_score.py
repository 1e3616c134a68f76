"""What one lane says about a hit: its score there, and a row for `Result.rows(detailed=True)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from memoriter.core.explanation import Explanation
from memoriter.core.later import Later
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.shown import named, plain, shown
from memoriter.text.figures import figure

if TYPE_CHECKING:
    from memoriter.why.hit import Hit


@dataclass(frozen=True, slots=True)
class LaneScore:
    """The rank and score of a hit in one lane, with the evidence."""

    rank: int
    score: float
    _why: Later[Explanation]

    @property
    def why(self) -> Explanation:
        """How the lane computed its score."""
        return self._why.value

    def __repr__(self) -> str:
        return shown("LaneScore", f"#{self.rank}, {figure(self.score)}")

    def to_dict(self) -> dict[str, object]:
        """Rank, score and evidence as plain data."""
        return {"rank": self.rank, "score": self.score, "why": self.why.to_dict()}


class LaneRow(NamedTuple):
    """A hit in one lane: its rank and score there, and its rank and score in the answer."""

    id: str
    score: float
    """The hit's score; for rank fusion the sum of its lanes' shares."""
    list_id: str
    """The lane."""
    leg_rank: int
    """The rank in the lane."""
    leg_score: float
    """The score in the lane."""
    rank: int
    """The rank in the answer."""
    distance: float | None = None
    """1 − cosine, for a lane that compares vectors."""
    parent: str | None = None
    """The record before it on its path, for a lane that follows edges."""
    depth: int | None = None
    """The length of that path."""

    def __repr__(self) -> str:
        leg = f"{plain(self.list_id, 24)} #{self.leg_rank} {self.leg_score:.4g}"
        return shown(f"LaneRow {self.rank} {named(self.id)}", f"{self.score:.4g}, {leg}")


def lane_rows(hit: Hit) -> Iterator[LaneRow]:
    """A row for each lane that found a hit, lanes by name."""
    for label, lane in sorted(hit.lanes.items()):
        figures = hit.recipe.lanes[label].figures(lane.why)
        yield LaneRow(
            id=hit.id, score=hit.score, list_id=label, leg_rank=lane.rank,
            leg_score=figures.score, rank=hit.rank, distance=figures.distance,
            parent=figures.parent, depth=figures.depth,
        )  # fmt: skip
