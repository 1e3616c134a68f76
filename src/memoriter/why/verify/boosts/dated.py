"""The weight where a record has words for a time, which is attested: a receipt holds no text."""

from __future__ import annotations

from ..numbers import Column, snap
from ..rules import BoostColumn, BoostRule, by_the_question


def _values(b: BoostColumn) -> Column:
    marks = b.receipt.claimed[f"{b.label}.times"]
    if not {value for value in marks if value is not None} <= {1.0}:
        b.receipt.wrong(f"slate/columns/{b.label}.times", "a mark is 1")
    out: Column = []
    for mark, words in zip(marks, b.receipt.claimed["of.words"], strict=True):
        short = 1.0 if words is None else min(1.0, b.spec["words"] / words)
        out.append(None if mark is None else snap(b.spec["weight"] * short))
    return out


RULE = BoostRule(values=_values, may_skip=by_the_question)
