"""Recency: how new a row is, by position, by cycle or by clock."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from ..numbers import Column, Data, either, mapped, snap
from ..rules import BoostColumn, BoostRule, adds_or_multiplies, share_values
from ..verification import Verification


def _values(b: BoostColumn) -> Column:
    shares = _newness(b)
    if b.spec["beside"] is not None:
        none: Column = [None] * len(shares)
        known = b.receipt.derived.get(f"{b.spec['beside']}.score", none)
        shares = [None if k is None else v for v, k in zip(shares, known, strict=True)]
    return share_values(b.spec, shares)


def _newness(b: BoostColumn) -> Column:
    """A share between 0 (old) and 1 (new) per row."""
    unit, half = b.spec["unit"], b.spec["half_life"]
    if unit == "position":
        places, lengths = b.receipt.claimed["of.position"], b.receipt.claimed["of.length"]
        last = [either(value, 1.0) - 1.0 for value in lengths]
        pairs = zip(places, last, strict=True)
        return [0.0 if p is None else snap(p / end if end > 0.0 else 1.0) for p, end in pairs]
    if unit == "cycle":
        now = b.receipt.body["query"]["cycle"]
        return [
            _decay(now - v, half) if v is not None else 0.0 for v in b.receipt.claimed["of.cycle"]
        ]
    # The other units read the clock: `seconds` decays by half-life, `days` by 1 / (1 + days).
    now, times = _micros(b.receipt.body["query"]["now"]), b.receipt.claimed[f"of.{b.spec['of']}"]
    if unit == "seconds":
        return [0.0 if v is None else _decay((now - v) / 1e6, half) for v in times]
    return mapped(lambda v: snap(1.0 / (1.0 + max((now - v) / 86_400e6, 0.0))), times)


def _decay(age: float, half: float) -> float:
    return snap(math.exp(-math.log(2.0) * max(age, 0.0) / half))


def _micros(time: str) -> int:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return (datetime.fromisoformat(time) - epoch) // timedelta(microseconds=1)


def _may_skip(s: Verification, spec: Data) -> bool:
    """By cycle, it needs the query to name the current cycle."""
    return spec["unit"] == "cycle" and s.body["query"].get("cycle") is None


RULE = BoostRule(op=adds_or_multiplies, values=_values, may_skip=_may_skip)
