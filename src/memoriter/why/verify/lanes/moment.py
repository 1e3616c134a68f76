"""Nearness to a time that the query names: attested, as the verifier does not parse the query."""

from __future__ import annotations

from ..rules import LaneRule

RULE = LaneRule(independent=True)
