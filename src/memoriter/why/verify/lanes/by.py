"""All records ordered by an attribute; the attribute itself is attested."""

from __future__ import annotations

from collections.abc import Sequence

from ..numbers import Data
from ..rules import LaneRule


def _ties(lane: Data, ties: Sequence[str]) -> Sequence[str]:
    """If all scores are 0 (`flat`), the attributes of the lane decide the order."""
    return [lane["by"], *lane.get("then", ())] if lane["flat"] else ties


RULE = LaneRule(ties=_ties)
