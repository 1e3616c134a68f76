"""Sources of reflections: links are not in the receipt, so the values are attested."""

from __future__ import annotations

from ..numbers import Data
from ..rules import BoostRule


def _op(spec: Data) -> str:
    """The larger of score and value counts."""
    del spec
    return "max"


RULE = BoostRule(op=_op, reads_score=True)
