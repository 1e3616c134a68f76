"""Of one kind of record, the first few; which rows are of that kind is attested."""

from __future__ import annotations

from ..numbers import Data
from ..rules import OrderingRule
from ..search import Search


def _kept(s: Search, spec: Data, move: Data, path: str) -> list[int]:
    del path
    of_the_kind = sorted(move["looked"]["of"])
    over = set(of_the_kind[int(spec["share"] * s.recipe["window"]) :])
    return [n for n in range(len(s.standing)) if n not in over]


RULE = OrderingRule(_kept)
