"""Superseded records: the weight, and a share of the score of what took their place."""

from __future__ import annotations

from ..numbers import Column, snap
from ..rules import BoostColumn, BoostRule, by_the_question


def _values(b: BoostColumn) -> Column:
    score = dict(zip(b.receipt.rows, b.receipt.score, strict=True))
    path = f"slate/columns/{b.label}"
    successors, bests = (
        b.receipt.claimed[f"{b.label}.row"],
        b.receipt.claimed[f"{b.label}.row_score"],
    )
    out: Column = []
    for row, superseded, successor, best in zip(
        b.receipt.rows, b.receipt.claimed["of.superseded"], successors, bests, strict=True
    ):
        if successor is not None and (successor == row or not superseded):
            b.receipt.wrong(
                f"{path}.row", f"nothing took the place of row {row}, or it did so itself"
            )
        # What is no candidate has a score too, which the receipt only attests.
        if successor is not None and int(successor) in score and score[int(successor)] != best:
            b.receipt.wrong(
                f"{path}.row_score", f"at row {row} is not the score of row {int(successor)}"
            )
        lent = 0.0 if best is None else max(snap(b.spec["share"] * best), 0.0)
        gain = snap(b.spec["weight"]) + lent if superseded else 0.0
        out.append(gain if gain > 0.0 else None)
    return out


RULE = BoostRule(values=_values, reads_score=True, may_skip=by_the_question)
