"""Echo: a factor where the share of words of the question is high enough; the share is attested."""

from __future__ import annotations

from ..numbers import Column, mapped, snap
from ..rules import BoostColumn, BoostRule, by_the_question, multiplies


def _values(b: BoostColumn) -> Column:
    shares = b.receipt.claimed[f"{b.label}.share"]
    if any(each is not None and not b.spec["share"] <= each <= 1.0 for each in shares):
        b.receipt.wrong(f"slate/columns/{b.label}.share", f"a share is from {b.spec['share']} to 1")
    return mapped(lambda _: snap(b.spec["factor"]), shares)


RULE = BoostRule(op=multiplies, values=_values, may_skip=by_the_question)
