"""What reflections were made from: it brings rows without scoring them."""

from __future__ import annotations

from ..rules import LaneRule

RULE = LaneRule(brings=True)
