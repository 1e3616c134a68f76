"""Minus the number of links from any seed."""

from __future__ import annotations

from tests.oracle.graph import Land, Reached
from tests.oracle.rules import LaneOracle
from tests.oracle.walks import walked


def _reached(land: Land) -> dict[int, Reached]:
    distance = dict.fromkeys(land.seeds, 0)
    for depth in range(1, land.lane["max_hops"] + 1):
        for node in [node for node, far in distance.items() if far == depth - 1]:
            for _, to, _, _ in land.steps(node):
                distance.setdefault(to, depth)
    return {
        node: Reached(float(-far), {"distance": far})
        for node, far in distance.items()
        if far and node in land.inside
    }


ORACLE = LaneOracle(lambda call: walked(call, _reached))
