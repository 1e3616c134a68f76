"""Nearness to a time that the query names: attested, as the verifier does not parse the query."""

from __future__ import annotations

from ..rules import BoostRule, adds_or_multiplies, by_the_question

RULE = BoostRule(op=adds_or_multiplies, may_skip=by_the_question)
