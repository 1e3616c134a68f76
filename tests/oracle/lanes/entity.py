"""tanh(½ · how many entities a record shares with the seeds of its agent)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import LaneCall, LaneOracle, Spec

from memoriter.core.record import Record
from memoriter.text.entities import dice, entity_key


def _scores(call: LaneCall) -> Column:
    seeds = [record for row in call.seeds for record in call.world.records if record.row == row]
    shared = _shared(call.spec, seeds, call.chosen)
    return {row: score for row, score in shared.items() if row not in call.seeds}


def _shared(lane: Spec, seeds: Sequence[Record], chosen: Sequence[Record]) -> Column:
    clusters: list[str] = []
    of_agent: dict[str, set[int]] = {}
    for seed in seeds:
        own = {_joined(entity_key(name), clusters, lane) for name in seed.entities} - {-1}
        of_agent.setdefault(_agent(lane, seed), set()).update(own)
    out: Column = {}
    for record in chosen:
        known = {_likest(entity_key(name), clusters, lane) for name in record.entities}
        both = known & of_agent.get(_agent(lane, record), set())
        if both:
            out[record.row] = grid(math.tanh(0.5 * len(both)))
    return out


def _agent(lane: Spec, record: Record) -> str:
    return "" if lane["within"] == "tenant" else record.agent


def _joined(name: str, clusters: list[str], lane: Spec) -> int:
    """The cluster of a seed's name, a new one if none is like it; -1 for an empty name."""
    if not name:
        return -1
    cluster = _likest(name, clusters, lane)
    if cluster < 0:
        clusters.append(name)
        return len(clusters) - 1
    return cluster


def _likest(name: str, clusters: Sequence[str], lane: Spec) -> int:
    if name in clusters:
        return clusters.index(name)
    near = [dice(name, other) for other in clusters]
    return near.index(max(near)) if near and max(near) >= lane["alike"] else -1


ORACLE = LaneOracle(_scores)
