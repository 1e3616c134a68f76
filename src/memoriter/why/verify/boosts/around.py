"""Shares of the scores of the turns around a record, which are named beside its value."""

from __future__ import annotations

import math

from ..numbers import Column, snap
from ..rules import BoostColumn, BoostRule


def _values(b: BoostColumn) -> Column:
    score = dict(zip(b.s.rows, b.s.score, strict=True))
    turns = [(f"row{n}", share) for n, share in enumerate(b.spec["shares"], start=1)]
    out: Column = []
    for at, row in enumerate(b.s.rows):
        lent: list[float] = []
        for name, share in (*turns, ("row_best", b.spec["session"])):
            other = b.s.columns[f"{b.label}.{name}"][at]
            if other == row and name != "row_best":
                b.s.wrong(f"slate/columns/{b.label}.{name}", f"row {row} stands beside itself")
            best = None if other is None else score[int(other)]
            lent.append(0.0 if best is None else snap(share * best))
        words = b.s.columns["of.words"][at]
        damp = 1.0 if words is None else min(1.0, b.spec["words"] / words)
        gain = snap(damp * math.fsum(lent))
        out.append(gain if gain > 0.0 else None)
    return out


RULE = BoostRule(values=_values, reads_score=True)
