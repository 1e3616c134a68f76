"""Priority: a table by the record's priority, which the receipt does not hold; attested."""

from __future__ import annotations

from ..rules import BoostRule, adds_or_multiplies

RULE = BoostRule(op=adds_or_multiplies)
