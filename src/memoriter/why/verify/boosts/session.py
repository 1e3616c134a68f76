"""Session: a share of the score of the best neighbour in the same session, which is recorded."""

from __future__ import annotations

from ..numbers import Column, snap
from ..rules import BoostColumn, BoostRule


def _values(b: BoostColumn) -> Column:
    score = dict(zip(b.receipt.rows, b.receipt.score, strict=True))
    out: Column = []
    named = zip(
        b.receipt.rows,
        b.receipt.claimed[f"{b.label}.row"],
        b.receipt.claimed[f"{b.label}.score"],
        strict=True,
    )
    for row, neighbour, best in named:
        if neighbour == row:
            b.receipt.wrong(f"slate/columns/{b.label}.row", f"row {row} is its own neighbour")
        # A neighbour that is no candidate has a score too, which the receipt only attests.
        if neighbour is not None and int(neighbour) in score and score[int(neighbour)] != best:
            path = f"slate/columns/{b.label}.score"
            b.receipt.wrong(path, f"at row {row} is not the score of row {int(neighbour)}")
        gain = 0.0 if best is None else snap(b.spec["weight"] * best)
        out.append(gain if gain > 0.0 else None)
    return out


RULE = BoostRule(values=_values, reads_score=True)
