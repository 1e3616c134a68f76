"""By trust: rows of low trust go behind others that score a share of them; trust is attested."""

from __future__ import annotations

import math

from ..numbers import Column, Data, either, unpacked
from ..rules import OrderingRule
from ..verification import Verification


def _kept(s: Verification, spec: Data, move: Data, path: str) -> list[int]:
    """Every place, with those of low trust behind what competes with them."""
    size = len(s.standing)
    scores = [either(s.first[at], -math.inf) for at in s.standing]
    low: set[int] = set(move["looked"]["of"])
    if not low <= set(range(size)):
        s.wrong(f"{path}/looked/of", "has a place that is none")
    high = [at for at in range(size) if at not in low]
    behind: Column = [None] * size
    slots: list[tuple[int, int, int]] = [(n, 1, at) for n, at in enumerate(high)]
    for at in sorted(low) if high else ():
        already = sum(other < at for other in high)
        least = spec["share"] * min(scores[at], either(spec.get("most"), math.inf))
        rivals = [n for n, other in enumerate(high) if scores[other] >= least]
        needed = rivals[: spec["before"]][-1] + 1 if rivals else 0
        if needed > already:
            behind[at] = float(needed - already)
        slots.append((max(needed, already), 0, at))
    s.same(f"{path}/beside/behind", unpacked(move["beside"]["behind"]), behind)
    return [at for _, _, at in sorted(slots)] if high else list(range(size))


RULE = OrderingRule(_kept)
