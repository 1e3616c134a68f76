"""Shares of the turns around a record in its session."""

from __future__ import annotations

import math

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, each
from tests.oracle.table import Scene, Table
from tests.oracle.world import texts

from memoriter.text.analyzers import analyzer


def _talk(scene: Scene, row: int) -> list[int]:
    """The rows of a record's session in the order in which they were first written."""
    session = scene.records[row].session
    every = sorted(scene.records.values(), key=lambda one: one.position)
    return [one.row for one in every if session is not None and one.session == session]


def turns_around(scene: Scene, row: int, reach: int) -> set[int]:
    """The rows of the session up to so many turns away."""
    talk = _talk(scene, row)
    at = talk.index(row) if row in talk else 0
    return {*talk[max(at - reach, 0) : at + reach + 1]} - {row}


def _beside(spec: Spec, scene: Scene, row: int) -> set[int]:
    return turns_around(scene, row, len(spec["shares"]))


def _lends(spec: Spec, scene: Scene, other: int, row: int) -> bool:
    """Whether a turn is trusted enough to lend a share to a record."""
    order = ("external", "learned", "system")
    theirs, own = (order.index(scene.records[each].trust) for each in (other, row))
    return spec["less_trusted"] or theirs >= own


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    reader = analyzer(scene.recipe["analyzer"])

    def value(row: int) -> float | None:
        talk = _talk(scene, row)
        if not talk:
            return None
        at = talk.index(row)
        lent: list[float] = []
        for n, share in enumerate(spec["shares"], start=1):
            turns = [talk[k] for k in (at - n, at + n) if 0 <= k < len(talk)]
            known = [
                table.score[other]
                for other in turns
                if other in table.score and _lends(spec, scene, other, row)
            ]
            lent += [grid(share * max(known))] if known else []
        length = max(1, reader.analyse(texts(scene.records[row])).lengths[0])
        gain = grid(min(1.0, spec["words"] / length) * math.fsum(lent))
        return gain if gain > 0.0 else None

    return each(table, value)


ORACLE = BoostOracle(_values, reads_score=True, beside=_beside)
