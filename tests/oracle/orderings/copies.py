"""One of several copies: the most trusted, then the newest, at the best place of them."""

from __future__ import annotations

from tests.oracle.rules import OrderingOracle, Spec
from tests.oracle.table import Scene, Table, attribute

from memoriter.core.times import to_micros
from memoriter.text.copies import are_copies, compared_text

_TRUST = {"system": 2, "learned": 1, "external": 0}


def _rows(spec: Spec, scene: Scene, table: Table) -> list[int]:
    count = spec["head"]
    while True:
        stays = _standing(spec, scene, table.rows[:count])
        if len(stays) >= spec["head"] or count >= min(10 * spec["head"], len(table.rows)):
            return [*stays, *table.rows[count:]]
        count = min(2 * count, 10 * spec["head"])


def _standing(spec: Spec, scene: Scene, head: list[int]) -> list[int]:
    def preference(row: int) -> tuple[int, int, int]:
        record = scene.records[row]
        return (_TRUST[record.trust], to_micros(record.created), row)

    groups: dict[int, list[int]] = {}
    for row in sorted(head, key=preference, reverse=True):
        standing = [other for other in groups if _copied(spec, scene, row, other)]
        groups.setdefault(standing[0] if standing else row, []).append(row)
    stays: dict[int, int] = {}
    for standing, rows in groups.items():
        lending = [
            row
            for row in rows
            if spec["less_trusted"] or preference(row)[0] >= preference(standing)[0]
        ]
        stays[min(lending, key=head.index)] = standing
    return [stays[row] for row in head if row in stays]


def _copied(spec: Spec, scene: Scene, row: int, other: int) -> bool:
    one, two = scene.records[row], scene.records[other]
    if any(attribute(name, one) != attribute(name, two) for name in spec["same"]):
        return False
    return are_copies(compared_text(one.titled), compared_text(two.titled), spec["alike"])


ORACLE = OrderingOracle(_rows)
