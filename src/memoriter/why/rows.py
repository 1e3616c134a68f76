"""A result as a table: one row per hit, or one for every lane that found it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, cast

from memoriter.core.shown import named, plain, shown

if TYPE_CHECKING:
    from memoriter.why.result import Hit, LaneScore


class LaneRow(NamedTuple):
    """What one lane said of one hit: its rank there and its score as the lane counts it."""

    id: str
    score: float
    """The hit's score; for rank fusion the sum of its lanes' shares."""
    list_id: str
    """The lane."""
    leg_rank: int
    leg_score: float
    rank: int
    """The hit's place in the answer."""
    distance: float | None = None
    """1 − cosine, where the lane compares vectors."""
    parent: str | None = None
    """The record before it on its path, where the lane follows edges."""
    depth: int | None = None

    def __repr__(self) -> str:
        told = f"{plain(self.list_id, 24)} #{self.leg_rank} {self.leg_score:.4g}"
        return shown(f"LaneRow {self.rank} {named(self.id)}", f"{self.score:.4g}, {told}")


def rows_of(hits: Iterable[Hit]) -> list[LaneRow]:
    """A row for every pair of a hit and a lane that found it, lanes by name."""
    return [row for hit in hits for row in _rows(hit)]


def _rows(hit: Hit) -> Iterator[LaneRow]:
    for label, lane in sorted(hit.lanes.items()):
        told = lane.why.facts
        yield LaneRow(
            hit.id,
            hit.score,
            label,
            lane.rank,
            cast("float", told.get("number", lane.score)),
            hit.rank,
            _distance(lane),
            cast("str | None", told.get("parent")),
            cast("int | None", told.get("distance")),
        )


def _distance(lane: LaneScore) -> float | None:
    nodes = (lane.why, *lane.why.parts)
    return next((1.0 - node.value for node in nodes if node.label == "cosine"), None)
