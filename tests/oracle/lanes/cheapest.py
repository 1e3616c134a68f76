"""Minus the cost of the cheapest way from any seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.oracle.graph import Land, Reached
from tests.oracle.numbers import grid
from tests.oracle.rules import LaneOracle
from tests.oracle.walks import walked

Way = tuple[int, float, int, int | None]
"""A node, and a way to it: cost, hops, the node before."""


def _reached(land: Land) -> dict[int, Reached]:
    """Every waiting way is looked at anew before the next one is taken.

    A node is found by its cheapest way; dearer ones with fewer hops may lead further.
    """
    taken: list[Way] = []
    while len({way[0] for way in taken}) < land.lane["max_nodes"]:
        waiting = list(_waiting(land, taken))
        if not waiting:
            break
        node, cost, depth, parent = min(waiting, key=lambda way: _turn(land, way))
        taken.append((node, cost, depth, parent))
    return {
        node: Reached(0.0 - cost, {"distance": depth, "cost": cost, "parent": parent})
        for node, cost, depth, parent in reversed(taken)
        if depth and node in land.inside
    }


def _turn(land: Land, way: Way) -> tuple[float, int, int, int]:
    node, cost, depth, parent = way
    return cost, land.turns[node], depth, -1 if parent is None else land.turns[parent]


def _waiting(land: Land, taken: Sequence[Way]) -> Iterable[Way]:
    lane, most = land.lane, land.lane["max_cost"]
    fewest = {node: depth for node, _, depth, _ in taken}
    yield from ((seed, 0.0, 0, None) for seed in land.seeds if seed not in fewest)
    for node, cost, depth, _ in taken:
        for _, to, _, link in land.steps(node) if depth < lane["max_hops"] else ():
            fare = 1.0 if lane["cost"] == "hop" else grid(link.weight)
            whole = cost + fare
            fits = most is None or whole - (depth + 1) * 2.0**-33 <= most
            if fare >= 0.0 and depth + 1 < fewest.get(to, depth + 2) and fits:
                yield to, whole, depth + 1, node


ORACLE = LaneOracle(lambda call: walked(call, _reached))
