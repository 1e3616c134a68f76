"""Weight · match: whether the speaker matches is attested, since the question is not read here."""

from __future__ import annotations

from ..numbers import Column, mapped, snap
from ..rules import BoostColumn, BoostRule, by_the_question


def _values(b: BoostColumn) -> Column:
    match = b.receipt.claimed[f"{b.label}.match"]
    if not {value for value in match if value is not None} <= {1.0, -1.0}:
        b.receipt.wrong(f"slate/columns/{b.label}.match", "a match is 1 or -1")
    return mapped(lambda sign: snap(b.spec["weight"] * sign), match)


RULE = BoostRule(values=_values, may_skip=by_the_question)
