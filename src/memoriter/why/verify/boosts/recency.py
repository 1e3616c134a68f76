"""How new rows are: by place, by cycle, by clock."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from ..numbers import Column, Data, either, mapped, snap
from ..rules import BoostColumn, BoostRule, leaning, leans
from ..search import Search


def _values(b: BoostColumn) -> Column:
    shares = _newness(b)
    if b.spec["beside"] is not None:
        none: Column = [None] * len(shares)
        known = b.s.known.get(f"{b.spec['beside']}.score", none)
        shares = [None if k is None else v for v, k in zip(shares, known, strict=True)]
    return leaning(b.spec, shares)


def _newness(b: BoostColumn) -> Column:
    unit, half = b.spec["unit"], b.spec["half_life"]
    if unit == "position":
        places, lengths = b.s.columns["of.position"], b.s.columns["of.length"]
        last = [either(value, 1.0) - 1.0 for value in lengths]
        pairs = zip(places, last, strict=True)
        return [0.0 if p is None else snap(p / end if end > 0.0 else 1.0) for p, end in pairs]
    if unit == "cycle":
        now = b.s.body["query"]["cycle"]
        return [_halved(now - v, half) if v is not None else 0.0 for v in b.s.columns["of.cycle"]]
    now, times = _micros(b.s.body["query"]["now"]), b.s.columns[f"of.{b.spec['of']}"]
    if unit == "seconds":
        return [0.0 if v is None else _halved((now - v) / 1e6, half) for v in times]
    return mapped(lambda v: snap(1.0 / (1.0 + max((now - v) / 86_400e6, 0.0))), times)


def _halved(age: float, half: float) -> float:
    return snap(math.exp(-math.log(2.0) * max(age, 0.0) / half))


def _micros(spelled: str) -> int:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return (datetime.fromisoformat(spelled) - epoch) // timedelta(microseconds=1)


def _may_skip(s: Search, spec: Data) -> bool:
    """Cycles need the call to say which one it is."""
    return spec["unit"] == "cycle" and s.body["query"].get("cycle") is None


RULE = BoostRule(op=leans, values=_values, may_skip=_may_skip)
