"""The oracle's graph lanes: walks over a plain list of links, one at a time.

Nodes are positions. Nothing of `index/`, `rank/` or `lanes/` is used.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from memoriter.store.port import Dump
from memoriter.testing.naive_numbers import grid

REPLACING: Final = ("supersedes", "corrects", "invalidates")


@dataclass(frozen=True)
class Link:
    """An edge."""

    seq: int
    source: int
    target: int
    kind: str
    weight: float
    since: int | None
    until: int | None

    def holds(self, time: int) -> bool:
        """Whether it is valid at a time."""
        return (self.since is None or self.since <= time) and (
            self.until is None or time < self.until
        )


def links_of(dump: Dump, seq: int) -> list[Link]:
    """The links that a view sees, the last of each key, oldest first."""
    last: dict[object, Link] = {}
    for row in sorted(dump.edges, key=lambda row: row.seq):
        body = cast("dict[str, Any]", json.loads(row.body))
        since, until = body.get("valid_from"), body.get("valid_until")
        if row.seq <= seq:
            key = (row.source, row.target, body["kind"], since)
            told = (body["kind"], float(body["weight"]), since, until)
            last[key] = Link(row.seq, row.source, row.target, *told)
    return sorted(last.values(), key=lambda link: link.seq)


@dataclass(frozen=True)
class Past:
    """What had been written at some time: the positions given, and the links."""

    time: int
    positions: frozenset[int] = frozenset()
    links: Sequence[Link] = ()

    @property
    def replaced(self) -> set[int]:
        """Positions that a link took out of force, unless it had said that it no longer does."""
        return {
            link.target
            for link in self.links
            if link.kind in REPLACING and (link.until is None or self.time < link.until)
        }


def past_at(dump: Dump, seq: int, time: int) -> Past:
    """What had been written at a time, as far as a view sees it."""
    last = max((c.seq for c in dump.commits if c.time <= time and c.seq <= seq), default=0)
    positions = frozenset(row.position for row in dump.records if row.row <= last)
    return Past(time, positions, links_of(dump, last))


Step = tuple[int, int, int, Link]
"""(against the link?, where it leads, its age, the link)."""


@dataclass(frozen=True)
class Land:
    """Where a lane may walk."""

    lane: Mapping[str, Any]
    links: Sequence[Link]
    """Valid ones."""
    passed: Collection[int]
    inside: Collection[int]
    seeds: Sequence[int]

    def steps(self, node: int) -> list[Step]:
        """The steps from a node, in their order."""
        out: list[Step] = []
        for link in self.links:
            if self.lane["kinds"] is not None and link.kind not in self.lane["kinds"]:
                continue
            if link.source == node and self.lane["direction"] != "in":
                out.append((0, link.target, link.seq, link))
            if link.target == node and self.lane["direction"] != "out":
                out.append((1, link.source, link.seq, link))
        return sorted((step for step in out if step[1] in self.passed), key=lambda s: s[:3])


@dataclass
class Found:
    """What a lane says of a node: its score, and what its evidence must tell."""

    score: float
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    """What the score is the sum of, where a lane has more than one number to give."""


def found_by(land: Land) -> dict[int, Found]:
    """What any graph lane finds, by node."""
    ways = {"walk": _walk, "hops": _hops, "cheapest": _cheapest}
    return ways[land.lane["kind"]](land)


# -- walk --------------------------------------------------------------------------------------

Path = list[list[Link]]
"""For each hop the links that make it."""


def _walk(land: Land) -> dict[int, Found]:
    lane, paths = land.lane, dict[int, list[Path]]()
    for seed in land.seeds:
        for node, path in reach(land, seed).items():
            if node == seed or node not in land.seeds:
                paths.setdefault(node, []).append(path)
    out: dict[int, Found] = {}
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
        out[node] = Found(sum(parts.values()), facts, parts)
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


# -- hops --------------------------------------------------------------------------------------


def _hops(land: Land) -> dict[int, Found]:
    distance = dict.fromkeys(land.seeds, 0)
    for depth in range(1, land.lane["max_hops"] + 1):
        for node in [node for node, far in distance.items() if far == depth - 1]:
            for _, to, _, _ in land.steps(node):
                distance.setdefault(to, depth)
    return {
        node: Found(float(-far), {"distance": far})
        for node, far in distance.items()
        if far and node in land.inside
    }


# -- cheapest ----------------------------------------------------------------------------------


Way = tuple[int, float, int, int | None]
"""A node, and a way to it: cost, hops, the node before."""


def _cheapest(land: Land) -> dict[int, Found]:
    """Every waiting way is looked at anew before the next one is taken.

    A node is found by its cheapest way; dearer ones with fewer hops may lead further.
    """
    taken: list[Way] = []
    while len({way[0] for way in taken}) < land.lane["max_nodes"]:
        waiting = list(_waiting(land, taken))
        if not waiting:
            break
        cost, depth, node, _, parent = min(waiting, key=lambda way: way[:4])
        taken.append((node, cost, depth, parent))
    return {
        node: Found(0.0 - cost, {"distance": depth, "cost": cost, "parent": parent})
        for node, cost, depth, parent in reversed(taken)
        if depth and node in land.inside
    }


def _waiting(land: Land, taken: Sequence[Way]) -> Iterable[tuple[float, int, int, int, int | None]]:
    lane, most = land.lane, land.lane["max_cost"]
    fewest = {node: depth for node, _, depth, _ in taken}
    yield from ((0.0, 0, seed, -1, None) for seed in land.seeds if seed not in fewest)
    for place, (node, cost, depth, _) in enumerate(taken):
        for _, to, _, link in land.steps(node) if depth < lane["max_hops"] else ():
            fare = 1.0 if lane["cost"] == "hop" else grid(link.weight)
            whole = cost + fare
            fits = most is None or whole - (depth + 1) * 2.0**-33 <= most
            if fare >= 0.0 and depth + 1 < fewest.get(to, depth + 2) and fits:
                yield whole, depth + 1, to, place, node
