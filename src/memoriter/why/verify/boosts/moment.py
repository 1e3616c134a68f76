"""Nearness to the time that a question names: attested, since the question is not read here."""

from __future__ import annotations

from ..rules import BoostRule, by_the_question, leans

RULE = BoostRule(op=leans, may_skip=by_the_question)
