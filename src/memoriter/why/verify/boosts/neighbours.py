"""Neighbours: linked candidates. Links are not in the receipt, so the values are attested."""

from __future__ import annotations

from ..rules import BoostRule

RULE = BoostRule()
