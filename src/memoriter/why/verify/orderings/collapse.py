"""Collapse: keeps a few rows of each group of near duplicates; the groups are attested."""

from __future__ import annotations

from collections.abc import Sequence

from ..numbers import Column, Data, unpacked
from ..rules import OrderingRule
from ..verification import Verification


def _kept(s: Verification, spec: Data, move: Data, path: str) -> list[int]:
    """The kept places: of each group the best or the newest rows, at the group's best places."""
    size, count = len(s.standing), min(spec["head"], len(s.standing))
    looked, stays = move["looked"], dict[int, int]()
    sizes: Column = [None] * size
    grouped = {at for places in looked["groups"] for at in places}
    for nth, places in enumerate(looked["groups"]):
        kept = places
        if spec["keep"] == "newest":
            kept = _newest(s, places, looked["created"][nth])
        stays |= dict(zip(places, kept[: spec["most"]], strict=False))
        for at in places:
            sizes[at] = float(len(places))
    stays |= {at: at for at in range(count) if at not in grouped}
    s.same(f"{path}/beside/group", unpacked(move["beside"]["group"]), sizes)
    return [*(stays[at] for at in sorted(stays)), *range(count, size)]


def _newest(s: Verification, places: Sequence[int], created: Sequence[int]) -> list[int]:
    """Places from the newest to the oldest; ties by row, the higher first."""
    ages = dict(zip(places, created, strict=True))
    return sorted(places, key=lambda at: (-ages[at], -s.rows[s.standing[at]]))


RULE = OrderingRule(_kept)
