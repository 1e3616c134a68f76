"""What a lane that follows links shares with others: the land, and rows for nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.oracle.graph import Land, Reached
from tests.oracle.numbers import Column
from tests.oracle.rules import LaneCall
from tests.oracle.table import tied

from memoriter.core.record import Record


def walked(call: LaneCall, reach: Callable[[Land], dict[int, Reached]]) -> Column:
    """The scores of what a lane reaches; what its evidence must tell is noted in `walks`."""
    scene = call.scene()
    place = {record.row: record.position for record in call.world.records}
    inside = {record.position for record in call.chosen}
    passed = inside if call.spec["through"] == "selection" else scene.readable

    def key(record: Record) -> tuple[Any, ...]:
        return (*(tied(name, record) for name in call.ask.ties), record.row)

    turns = {r.position: nth for nth, r in enumerate(sorted(call.world.records, key=key))}
    seeds = [place[row] for row in call.seeds]
    land = Land(call.spec, scene.links, passed, inside, seeds, turns)
    rows = {position: row for row, position in place.items()}
    call.walks[call.label] = {rows[node]: one for node, one in reach(land).items()}
    return {row: one.score for row, one in call.walks[call.label].items()}
