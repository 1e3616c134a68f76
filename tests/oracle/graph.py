"""The oracle's graph: a plain list of links, and where a lane may walk. Nodes are positions."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from memoriter.store.port import Dump

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
            kind, weight = body["kind"], float(body["weight"])
            last[key] = Link(row.seq, row.source, row.target, kind, weight, since, until)
    return sorted(last.values(), key=lambda link: link.seq)


@dataclass(frozen=True)
class Past:
    """What had been written at some time: the positions given, and the links."""

    time: int
    positions: frozenset[int] = frozenset()
    links: Sequence[Link] = ()

    @property
    def replacing(self) -> list[Link]:
        """Links that take their target out of force, unless they said that they no longer do."""
        return [
            link
            for link in self.links
            if link.kind in REPLACING and (link.until is None or self.time < link.until)
        ]


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
    turns: Mapping[int, int] = field(default_factory=dict[int, int])
    """Which of equals comes first, for lanes that must choose among them."""

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
class Reached:
    """What a lane says of a node: its score, and what its evidence must tell."""

    score: float
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    """What the score is the sum of, where a lane has more than one number to give."""
