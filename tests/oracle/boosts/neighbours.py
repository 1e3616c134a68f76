"""What linked candidates pass on."""

from __future__ import annotations

import math

from tests.oracle.graph import Link
from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, each
from tests.oracle.table import Scene, Table


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    place = {scene.records[row].position: row for row in table.rows}

    def base(row: int) -> float:
        known = [table.columns[name] for name in spec["of"] if name in table.columns]
        return max((column.get(row, 0.0) for column in known), default=0.0)

    def value(row: int) -> float | None:
        me = scene.records[row].position
        near = [(link, other) for link in scene.links for other in _ends(link, me)]
        near = [pair for pair in near if pair[1] in scene.readable and pair[1] != me]
        near.sort(key=lambda pair: (-pair[0].weight, pair[0].seq))
        given = [
            grid(link.weight * base(place[other]) * spec["decay"])
            for link, other in near[: spec["most"]]
            if other in place
        ]
        whole = math.fsum(given)
        return whole if whole > 0.0 else None

    return each(table, value)


def _ends(link: Link, me: int) -> list[int]:
    """Who is at the other end of a link, once for each direction."""
    return [b for a, b in ((link.source, link.target), (link.target, link.source)) if a == me]


ORACLE = BoostOracle(_values)
