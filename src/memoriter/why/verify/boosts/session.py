"""Session: a share of the score of the best neighbour in the same session, which is recorded."""

from __future__ import annotations

from ..numbers import Column, snap
from ..rules import BoostColumn, BoostRule


def _values(b: BoostColumn) -> Column:
    score = dict(zip(b.s.rows, b.s.score, strict=True))
    out: Column = []
    for row, neighbour in zip(b.s.rows, b.s.columns[f"{b.label}.row"], strict=True):
        if neighbour == row:
            b.s.wrong(f"slate/columns/{b.label}.row", f"row {row} is its own neighbour")
        best = None if neighbour is None else score[int(neighbour)]
        gain = 0.0 if best is None else snap(b.spec["weight"] * best)
        out.append(gain if gain > 0.0 else None)
    return out


RULE = BoostRule(values=_values, reads_score=True)
