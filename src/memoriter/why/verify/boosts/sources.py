"""What reflections lend to their sources: links are not in the receipt, so it is attested."""

from __future__ import annotations

from ..numbers import Data
from ..rules import BoostRule


def _op(spec: Data) -> str:
    """The larger score counts."""
    del spec
    return "max"


RULE = BoostRule(op=_op, reads_score=True)
