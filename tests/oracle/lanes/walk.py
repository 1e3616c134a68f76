"""A walk from each seed: nearness, the best link, further seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.oracle.graph import Land, Link, Reached
from tests.oracle.numbers import grid
from tests.oracle.rules import LaneOracle
from tests.oracle.walks import walked

Path = list[list[Link]]
"""For each hop the links that make it."""


def _reached(land: Land) -> dict[int, Reached]:
    lane, paths = land.lane, dict[int, list[Path]]()
    for seed in land.seeds:
        for node, path in reach(land, seed).items():
            if node == seed or node not in land.seeds:
                paths.setdefault(node, []).append(path)
    out: dict[int, Reached] = {}
    for node, ways in paths.items():
        if node not in land.inside or (node in land.seeds and not lane["include_seeds"]):
            continue
        depth = min(len(path) for path in ways)
        worth = max(_worth(lane, path) for path in ways if len(path) == depth)
        near = max(depth, 1)
        further = min(len(ways) - 1, lane["support_most"])
        parts = {
            "graph": grid(1 / near) if depth else 0.0,
            "relation": grid(worth / near),
            "seed_support": grid(further * float(lane["support"])),
        }
        kinds = [link.kind for path in ways for hop in path for link in hop]
        facts = {"distance": depth, "seed_paths": len(ways), "kinds": list(dict.fromkeys(kinds))}
        out[node] = Reached(sum(parts.values()), facts, parts)
    return out


def reach(land: Land, seed: int) -> dict[int, Path]:
    """What one walk visits, and by which hops."""
    paths: dict[int, Path] = {seed: []}
    queue = [seed]
    for node in queue:
        if len(paths[node]) >= land.lane["max_depth"]:
            continue
        steps = land.steps(node)
        for against, to, _, _ in steps:
            if to in paths:
                continue
            if len(paths) >= land.lane["max_visited"]:
                return paths
            hop = [link for a, t, _, link in steps if (a, t) == (against, to)]
            paths[to] = [*paths[node], hop]
            queue.append(to)
    return paths


def _worth(lane: Mapping[str, Any], path: Path) -> float:
    return max((lane["boosts"].get(link.kind, 0.0) for hop in path for link in hop), default=0.0)


ORACLE = LaneOracle(lambda call: walked(call, _reached))
