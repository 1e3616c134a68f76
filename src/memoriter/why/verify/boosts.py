"""What changes a score: each step from its parts, and values whose inputs are here."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, permutations
from typing import Final

from .numbers import Column, Data, either, mapped, product_of, snap
from .search import Search

SUMS: Final = frozenset(("importance", "confidence", "cohesion", "session", "neighbours"))
LEANING: Final = frozenset(("recency", "priority", "trust", "moment"))
READS: Final = frozenset(("session", "sources", "intent"))
"""Boosts whose values follow from the score so far."""


def applies(s: Search, label: str) -> bool:
    """Whether a boost, or a lane among the boosts, has a say."""
    return f"{label}.score" in s.told if label in s.recipe["lanes"] else s.runs(label)


def _op(s: Search, label: str) -> str | None:
    """How a boost changes a score; None for a kind of another package."""
    if label in s.recipe["lanes"]:
        return "sum"
    boost = s.recipe["boosts"][label]
    kind = boost["kind"]
    if kind in LEANING:
        return "sum" if boost["alpha"] is None else "product"
    if kind in SUMS:
        return "sum"
    return {"reflection": "product", "intent": "product", "sources": "max"}.get(kind)


def boosted(s: Search, stage: str, labels: Sequence[str]) -> None:
    """The score after these boosts, neighbours of one kind in one step."""
    if any(_op(s, label) is None for label in labels):
        _foreign(s, stage)
        return
    base, marks, at = stage, list[tuple[int, str]](), 0
    for label in labels:
        at += s.recipe["boosts"].get(label, {}).get("kind") in READS
        marks.append((at, label))
    grouped = groupby(marks, key=lambda mark: (mark[0], _op(s, mark[1])))
    for n, ((_, op), group) in enumerate(grouped, start=1):
        known = [value is not None for value in s.known[base]]
        inputs = [base, *(_input(s, stage, label, known) for _, label in group)]
        out = f"{stage}.boosted" if n == 1 else f"{stage}.boosted.{n}"
        s.step("boosted", str(op), inputs, out)
        base = out


def _input(s: Search, stage: str, label: str, known: Sequence[bool]) -> str:
    """The column of a boost, under another name where some rows must not have it."""
    name = f"{label}.score" if label in s.recipe["lanes"] else f"boost.{label}"
    widest = _op(s, label) == "max"
    if label in s.recipe["boosts"] and f"slate/columns/{name}" not in {*s.checked, *s.attested}:
        valued(s, label, name, [True] * len(known) if widest else known)
    values = s.known[name]
    if widest or not any(v is not None and not k for v, k in zip(values, known, strict=True)):
        return name
    masked: Column = [v if k else None for v, k in zip(values, known, strict=True)]
    s.derived(f"{stage}.{name}", masked)
    return f"{stage}.{name}"


def _foreign(s: Search, stage: str) -> None:
    """Boosts of another package: their steps are taken as told, what steps make is derived."""
    for step in s.body["slate"]["steps"]:
        if step["out"].startswith(f"{stage}.boosted"):
            for name in step["inputs"]:
                if f"slate/columns/{name}" not in s.checked:
                    s.attested[f"slate/columns/{name}"] = None
            s.step(step["stage"], step["op"], step["inputs"], step["out"])


def valued(s: Search, label: str, name: str, among: Sequence[bool]) -> None:
    """The values of a boost, where what they follow from is here."""
    boost = s.recipe["boosts"][label]
    make = VALUES.get(boost["kind"])
    made = None if make is None else make(_Boost(s, label, name, boost))
    if made is None:
        s.attested[f"slate/columns/{name}"] = None
        for value, inside in zip(s.told[name], among, strict=True):
            if value is not None and not inside:
                s.wrong(f"slate/columns/{name}", "boosts a row that has no score")
        return
    s.derived(name, [v if inside else None for v, inside in zip(made, among, strict=True)])


@dataclass(frozen=True)
class _Boost:
    """A boost whose values are wanted, and the column that they stand in."""

    s: Search
    label: str
    name: str
    spec: Data


def _session(b: _Boost) -> Column:
    """A share of the score of the neighbour that is named beside it."""
    score = dict(zip(b.s.rows, b.s.score, strict=True))
    out: Column = []
    for row, who in zip(b.s.rows, b.s.told[f"{b.label}.row"], strict=True):
        if who == row:
            b.s.wrong(f"slate/columns/{b.label}.row", f"row {row} stands beside itself")
        best = None if who is None else score[int(who)]
        lent = 0.0 if best is None else snap(b.spec["weight"] * best)
        out.append(lent if lent > 0.0 else None)
    return out


def _lexical(b: _Boost) -> list[float]:
    none: Column = [None] * len(b.s.rows)
    return [either(value, 0.0) for value in b.s.known.get(f"{b.spec['lane']}.score", none)]


def _importance(b: _Boost) -> Column:
    out: Column = []
    for given, words in zip(b.s.told[f"{b.label}.given"], _lexical(b), strict=True):
        share = words * b.spec["found"] if words > 0.0 else b.spec["bare"]
        out.append(0.0 if given is None else snap((given - 0.5) * share))
    return out


def _confidence(b: _Boost) -> Column:
    return [snap(b.spec["weight"] * either(value, 0.0)) for value in b.s.told["of.confidence"]]


def _cohesion(b: _Boost) -> Column | None:
    """By the distance to the nearest row that the words found well."""
    if b.spec["same_session"]:
        return None
    places, words, radius = b.s.told["of.position"], _lexical(b), b.spec["radius"]
    pairs = list(zip(places, words, strict=True))
    seeds = sorted(p for p, w in pairs if p is not None and w >= b.spec["strong"])
    out: Column = []
    for place, word in pairs:
        away = 0.0
        if place is not None and seeds:
            after = bisect_left(seeds, place)
            near = seeds[max(after - 1, 0) : after + 1]
            away = min(abs(seed - place) for seed in near)
        gains = word < b.spec["weak"] and 1.0 <= away <= radius
        out.append(snap(b.spec["most"] * (1.0 - away / radius)) if gains else 0.0)
    return out


def _recency(b: _Boost) -> Column:
    shares = _newness(b)
    if b.spec["beside"] is not None:
        none: Column = [None] * len(shares)
        known = b.s.known.get(f"{b.spec['beside']}.score", none)
        shares = [None if k is None else v for v, k in zip(shares, known, strict=True)]
    if b.spec["alpha"] is None:
        return mapped(lambda v: snap(b.spec["weight"] * v), shares)
    return [snap(1.0 + b.spec["alpha"] * (either(v, 0.5) - 0.5)) for v in shares]


def _newness(b: _Boost) -> Column:
    """How new rows are: by place, by cycle, by clock."""
    unit, half = b.spec["unit"], b.spec["half_life"]
    if unit == "position":
        places, lengths = b.s.told["of.position"], b.s.told["of.length"]
        last = [either(value, 1.0) - 1.0 for value in lengths]
        pairs = zip(places, last, strict=True)
        return [0.0 if p is None else snap(p / end if end > 0.0 else 1.0) for p, end in pairs]
    if unit == "cycle":
        now = b.s.body["query"]["cycle"]
        return [_halved(now - v, half) if v is not None else 0.0 for v in b.s.told["of.cycle"]]
    now, times = _micros(b.s.body["query"]["now"]), b.s.told[f"of.{b.spec['of']}"]
    if unit == "seconds":
        return [0.0 if v is None else _halved((now - v) / 1e6, half) for v in times]
    return mapped(lambda v: snap(1.0 / (1.0 + max((now - v) / 86_400e6, 0.0))), times)


def _halved(age: float, half: float) -> float:
    return snap(math.exp(-math.log(2.0) * max(age, 0.0) / half))


def _micros(spelled: str) -> int:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return (datetime.fromisoformat(spelled) - epoch) // timedelta(microseconds=1)


def _intent(b: _Boost) -> Column:
    """The product of the factors beside it, in the order that the engine took them."""
    ours = [c for n, c in b.s.told.items() if n.startswith(f"{b.label}.") and n != b.name]
    out: Column = []
    for at, told in enumerate(b.s.told[b.name]):
        factors = [v for column in ours if (v := column[at]) is not None]
        some = {snap(product_of(each)) for each in permutations(factors[:5])}
        looked_at = told is not None or bool(factors)
        out.append((told if told in some else min(some)) if looked_at else None)
    return out


def _reflection(b: _Boost) -> Column:
    """The factor, or nothing; which rows are reflections is attested."""
    return mapped(lambda _: b.spec["factor"], b.s.told[b.name])


VALUES: Final[dict[str, Callable[[_Boost], Column | None]]] = {
    "session": _session, "importance": _importance, "confidence": _confidence,
    "cohesion": _cohesion, "recency": _recency, "intent": _intent, "reflection": _reflection,
}  # fmt: skip
"""Boosts whose inputs the receipt holds."""
