"""What one lane says about a hit."""

from __future__ import annotations

from dataclasses import dataclass

from memoriter.core.explanation import Explanation
from memoriter.core.shown import shown
from memoriter.text.figures import figure
from memoriter.why.later import Later


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
