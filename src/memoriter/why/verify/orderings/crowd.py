"""Crowd: of each group the first few keep their places; the groups are attested."""

from __future__ import annotations

from ..numbers import Column, Data, unpacked
from ..rules import OrderingRule
from ..verification import Verification


def _kept(s: Verification, spec: Data, move: Data, path: str) -> list[int]:
    """Every place, with those above the limit of their group at the end."""
    size = len(s.standing)
    groups: list[list[int]] = move["looked"]["groups"]
    places = [at for group in groups for at in group]
    if len(set(places)) != len(places) or not set(places) <= set(range(min(size, spec["head"]))):
        s.wrong(f"{path}/looked/groups", "has a place twice or one that was not compared")
    if any(len(group) <= 1 or group != sorted(group) for group in groups):
        s.wrong(f"{path}/looked/groups", "has a group of one or out of order")
    nth: Column = [None] * size
    for group in groups:
        for n, at in enumerate(group, start=1):
            nth[at] = float(n)
    s.same(f"{path}/beside/nth", unpacked(move["beside"]["nth"]), nth)
    over = sorted(at for group in groups for at in group[spec["most"] :])
    return [*(at for at in range(size) if at not in set(over)), *over]


RULE = OrderingRule(_kept)
