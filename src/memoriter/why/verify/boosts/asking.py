"""Minus the weight where a record asks, which is attested: a receipt holds no text."""

from __future__ import annotations

from ..numbers import Column
from ..rules import BoostColumn, BoostRule, marked_values


def _values(b: BoostColumn) -> Column:
    return marked_values(b, "asks", -b.spec["weight"])


RULE = BoostRule(values=_values, reads_score=True)
