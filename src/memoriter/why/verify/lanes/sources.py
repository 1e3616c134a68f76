"""Sources of reflections: the lane adds rows without scoring them."""

from __future__ import annotations

from ..rules import LaneRule

RULE = LaneRule(brings=True)
