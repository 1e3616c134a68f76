"""By a table: the trust of a record is no number, so the values are attested."""

from __future__ import annotations

from ..rules import BoostRule, leans

RULE = BoostRule(op=leans)
