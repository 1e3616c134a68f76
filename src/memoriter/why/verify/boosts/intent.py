"""Intent: the product of factors that are recorded in columns next to it."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Final

from ..numbers import Column, product_of, snap
from ..rules import BoostColumn, BoostRule, by_the_question, multiplies

_PERMUTED: Final = 5
"""A question has at most so many intents, hence a row so many factors."""


def _values(b: BoostColumn) -> Column:
    """The product of each row's factors.

    A product of floats depends on the order of its factors, which the receipt does not record: the
    claimed value is accepted if any order gives it.
    """
    factors_of = [
        column
        for name, column in b.receipt.claimed.items()
        if name.startswith(f"{b.label}.") and name != b.name
    ]
    out: Column = []
    b.receipt.spend(len(b.receipt.claimed) + len(b.receipt.rows) * len(factors_of))
    for at, value in enumerate(b.receipt.claimed[b.name]):
        factors = [v for column in factors_of if (v := column[at]) is not None]
        b.receipt.spend(math.factorial(min(len(factors), _PERMUTED)))
        products = {snap(product_of(each)) for each in permutations(factors[:_PERMUTED])}
        applies = value is not None or bool(factors)
        out.append((value if value in products else min(products)) if applies else None)
    return out


RULE = BoostRule(op=multiplies, values=_values, reads_score=True, may_skip=by_the_question)
