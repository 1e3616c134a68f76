"""The weight where a record has words for a time, which is attested: a receipt holds no text."""

from __future__ import annotations

from ..numbers import Column
from ..rules import BoostColumn, BoostRule, by_the_question, marked_values


def _values(b: BoostColumn) -> Column:
    return marked_values(b, "times", b.spec["weight"])


RULE = BoostRule(values=_values, reads_score=True, may_skip=by_the_question)
