"""Which records are few links away from given ones?"""

from __future__ import annotations

from typing import ClassVar, Literal

from memoriter.lanes.legs import Leg
from memoriter.lanes.terrain import Terrain
from memoriter.rank.walk import Tree, hops


class HopsLane(Leg):
    """The least number of hops from any seed: a score of −distance."""

    about: ClassVar[str] = "records that are few links away from seeds"

    kind: Literal["hops"]

    def tree(self, terrain: Terrain) -> Tree:
        """Level by level."""
        return hops(terrain.steps, terrain.ways, terrain.seeds.tolist(), self.max_hops)
