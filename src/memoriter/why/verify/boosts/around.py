"""Shares of the scores of the turns around a record, which are named beside its value."""

from __future__ import annotations

import math

from ..numbers import Column, snap
from ..rules import BoostColumn, BoostRule


def _values(b: BoostColumn) -> Column:
    score = dict(zip(b.receipt.rows, b.receipt.score, strict=True))
    named = [(str(n), share) for n, share in enumerate(b.spec["shares"], start=1)]
    if b.spec.get("nearby"):  # until version 14 of the default recipe
        named.append(("_best", b.spec["nearby"]))
    none: Column = [None] * len(b.receipt.rows)
    b.receipt.spend(len(b.receipt.rows) * (len(named) + 1))
    out: Column = []
    for at, row in enumerate(b.receipt.rows):
        lent: list[float] = []
        for name, share in named:
            other = b.receipt.claimed.get(f"{b.label}.row{name}", none)[at]
            best = b.receipt.claimed.get(f"{b.label}.score{name}", none)[at]
            if other == row:
                b.receipt.wrong(
                    f"slate/columns/{b.label}.row{name}", f"row {row} stands beside itself"
                )
            # A turn that is no candidate has a score too, which the receipt only attests.
            if other is not None and int(other) in score and score[int(other)] != best:
                b.receipt.wrong(
                    f"slate/columns/{b.label}.score{name}",
                    f"at row {row} is not the score of row {int(other)}",
                )
            lent.append(0.0 if best is None else snap(share * best))
        words = b.receipt.claimed["of.words"][at]
        damp = 1.0 if words is None else min(1.0, b.spec["words"] / words)
        gain = snap(damp * math.fsum(lent))
        out.append(gain if gain > 0.0 else None)
    return out


RULE = BoostRule(values=_values, reads_score=True)
