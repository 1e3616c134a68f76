"""Shares of the turns around a record in its session, and of the session's best."""

from __future__ import annotations

import math

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, each
from tests.oracle.table import Scene, Table
from tests.oracle.world import texts

from memoriter.text.analyzers import analyzer


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    reader = analyzer(scene.recipe["analyzer"])

    def value(row: int) -> float | None:
        record = scene.records[row]
        if record.session is None:
            return None
        talk = [
            one.row
            for one in sorted(scene.records.values(), key=lambda one: one.position)
            if one.session == record.session
        ]
        at = talk.index(row)
        lent: list[float] = []
        for n, share in enumerate(spec["shares"], start=1):
            turns = [talk[k] for k in (at - n, at + n) if 0 <= k < len(talk)]
            known = [table.score[other] for other in turns if other in table.score]
            lent += [grid(share * max(known))] if known else []
        lent.append(grid(spec["session"] * max(table.score.get(one, -math.inf) for one in talk)))
        length = max(1, reader.analyse(texts(record)).lengths[0])
        gain = grid(min(1.0, spec["words"] / length) * math.fsum(lent))
        return gain if gain > 0.0 else None

    return each(table, value)


ORACLE = BoostOracle(_values, reads_score=True)
