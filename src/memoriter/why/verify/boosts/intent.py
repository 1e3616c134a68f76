"""The product of the factors that stand beside it."""

from __future__ import annotations

from itertools import permutations

from ..numbers import Column, product_of, snap
from ..rules import BoostColumn, BoostRule, by_the_question, multiplies


def _values(b: BoostColumn) -> Column:
    """In the order that the engine took them, which the receipt does not keep."""
    factors_of = [
        column
        for name, column in b.s.columns.items()
        if name.startswith(f"{b.label}.") and name != b.name
    ]
    out: Column = []
    for at, value in enumerate(b.s.columns[b.name]):
        factors = [v for column in factors_of if (v := column[at]) is not None]
        some = {snap(product_of(each)) for each in permutations(factors[:5])}
        looked_at = value is not None or bool(factors)
        out.append((value if value in some else min(some)) if looked_at else None)
    return out


RULE = BoostRule(op=multiplies, values=_values, reads_score=True, may_skip=by_the_question)
