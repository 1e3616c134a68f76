"""Cap: keeps only the first few rows of one kind; which rows are of it is attested."""

from __future__ import annotations

from ..numbers import Data
from ..rules import OrderingRule
from ..verification import Verification


def _kept(s: Verification, spec: Data, move: Data, path: str) -> list[int]:
    del path
    capped = sorted(move["looked"]["of"])
    over = set(capped[int(spec["share"] * s.recipe["window"]) :])
    return [n for n in range(len(s.standing)) if n not in over]


RULE = OrderingRule(_kept)
