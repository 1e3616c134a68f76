"""Reflection: a constant factor; which rows are reflections is attested."""

from __future__ import annotations

from ..numbers import Column, mapped
from ..rules import BoostColumn, BoostRule, multiplies


def _values(b: BoostColumn) -> Column:
    return mapped(lambda _: b.spec["factor"], b.receipt.claimed[b.name])


RULE = BoostRule(op=multiplies, values=_values)
