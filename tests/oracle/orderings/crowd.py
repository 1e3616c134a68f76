"""Of external records of one source or of the same words, a few keep their places."""

from __future__ import annotations

from tests.oracle.rules import OrderingOracle, Spec
from tests.oracle.table import Scene, Table

from memoriter.core.record import Record
from memoriter.text.copies import compared_text


def _words(record: Record) -> set[str]:
    return {word.lower() for word in compared_text(record.titled).words}


def _same(spec: Spec, one: Record, other: Record) -> bool:
    known = [one.source.who, one.source.channel, one.source.path]
    if known == [other.source.who, other.source.channel, other.source.path] and any(known):
        return True
    first, second = _words(one), _words(other)
    return len(first & second) >= spec["alike"] * len(first | second)


def _rows(spec: Spec, scene: Scene, table: Table) -> list[int]:
    if all(scene.records[row].trust in spec["of"] for row in table.rows):
        return list(table.rows)
    groups: list[list[int]] = []
    for row in table.rows[: spec["head"]]:
        record = scene.records[row]
        if record.trust not in spec["of"]:
            continue
        for group in groups:
            if _same(spec, scene.records[group[0]], record):
                group.append(row)
                break
        else:
            groups.append([row])
    over = [row for group in groups for row in group[spec["most"] :]]
    stay = [row for row in table.rows if row not in over]
    return [*stay, *sorted(over, key=table.rows.index)]


ORACLE = OrderingOracle(_rows)
