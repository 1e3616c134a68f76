"""Nearness to the time that a question names: attested, since the question is not read here."""

from __future__ import annotations

from ..rules import LaneRule

RULE = LaneRule()
