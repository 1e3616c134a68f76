"""The lane `hops`: records by the least number of links from any seed."""

from __future__ import annotations

from typing import ClassVar, Literal

from memoriter.lanes.distance import DistanceLane
from memoriter.lanes.graph_lane import WalkGraph
from memoriter.rank.walk import Tree, hops


class HopsLane(DistanceLane):
    """The least number of hops from any seed; the score is −distance."""

    about: ClassVar[str] = "records that are few links away from seeds"

    kind: Literal["hops"]

    def tree(self, walk_graph: WalkGraph) -> Tree:
        """The paths found, level by level."""
        return hops(walk_graph.steps, walk_graph.allowed, walk_graph.seeds.tolist(), self.max_hops)
