"""MMR (maximal marginal relevance): repeats the greedy selection up to the last hit.

The receipt holds the vectors of rows only as far as the hits depend on them; the rest is attested.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..numbers import Data, decoded_vector, dot_of, either, snap, unpacked
from ..rules import OrderingRule
from ..verification import ATTRIBUTES, Verification

_PER_STEP: Final = 8
"""So many numbers of a dot product are one step: they are multiplied in C."""


def _kept(s: Verification, spec: Data, move: Data, path: str) -> list[int]:
    """The kept places: those taken one by one, rows without vectors, then the others."""
    size, bare = len(s.standing), list(move["looked"]["bare"])
    tiers = s.derived.get("tier", [1.0] * len(s.rows))
    head = min(spec["head"], sum(tiers[at] == 1.0 for at in s.standing))
    without = set(bare)
    part = _by_ties(s, [n for n in range(head) if n not in without])
    count = min(spec["take"], len(part)) if spec["take"] else len(part)
    taken = move["kept"][:count]
    if not set(taken) <= set(part):
        s.wrong(f"{path}/kept", "takes a row without a vector")
        return []
    _picked(s, spec, move, _Taking(path, head, part, taken))
    gone = {*taken, *bare}
    left = [] if spec["drop"] else [n for n in range(size) if n not in gone]
    return [*taken, *bare, *left]


def _by_ties(s: Verification, places: list[int]) -> list[int]:
    """These places in the order of the recipe's ties."""
    ties = [tie for tie in s.recipe["ties"] if tie.lstrip("-") in ATTRIBUTES]
    by_index = {s.standing[n]: n for n in places}
    return [by_index[at] for at in s.ordered([0.0] * len(s.rows), ties, list(by_index))]


@dataclass(frozen=True)
class _Taking:
    """A selection: of the first `head` places, `part` have vectors; `taken` in this order.

    `part` stands in the order in which equal values are taken.
    """

    path: str
    head: int
    part: list[int]
    taken: list[int]


def _picked(s: Verification, spec: Data, move: Data, taking: _Taking) -> None:
    """Check that each place taken had the largest marginal relevance at its turn."""
    path, part, taken = taking.path, taking.part, taking.taken
    penalty, cause = (unpacked(move["beside"][key]) for key in ("penalty", "cause"))
    units = {int(row): decoded_vector(v) for row, v in s.body["vectors"].get("units", {}).items()}
    names = [s.rows[at] for at in s.standing]
    sure = next((n for n, at in enumerate(taken) if names[at] not in units), len(taken))
    hits = set(s.body["hits"])
    _spend(s, sure, len(part), units)
    if any(s.ids[s.standing[at]] in hits for at in taken[sure:]):
        s.wrong("vectors/units", "the vector of a hit is missing")
    if taken[sure:]:
        s.attested[f"{path}/kept, behind the last hit"] = None
    worth = dict(zip(part, _worths(s, spec, part, taking.head), strict=True))
    closest, nearest = dict.fromkeys(taken[:sure], -math.inf), dict[int, int]()
    free, rest = set(taken[:sure]), set(part) - set(taken[:sure])
    made: dict[int, tuple[float, float | None]] = {}
    for nth, at in enumerate(taken[:sure]):
        cost = {n: snap((1.0 - spec["trade"]) * closest[n]) if nth else 0.0 for n in free}
        value = {n: _gain(spec, worth[n], nth) - cost[n] for n in free}
        value |= {n: _least(spec, worth[n], penalty[n], nth) for n in rest}
        best = max((n for n in part if n in value), key=value.__getitem__)
        if best != at:
            s.wrong(f"{path}/kept", f"place {at} is taken, but place {best} has a larger value")
        made[at] = (cost[at], float(names[nearest[at]]) if nth else None)
        free.discard(at)
        for n in free:
            alike = dot_of(units[names[n]], units[names[at]])
            if alike > closest[n]:
                closest[n], nearest[n] = alike, at
    s.same(f"{path}/beside/penalty", [penalty[at] for at in made], [m for m, _ in made.values()])
    s.same(f"{path}/beside/cause", [cause[at] for at in made], [c for _, c in made.values()])
    s.same(f"{path}/taken", [n for n, v in enumerate(penalty) if v is not None], sorted(taken))


def _spend(s: Verification, turns: int, rows: int, units: dict[int, tuple[float, ...]]) -> None:
    """Count the work: at every turn all rows are compared, those still free by vectors too."""
    widest = max(map(len, units.values()), default=0)
    s.spend(turns * (2 * rows + turns * (1 + widest // _PER_STEP) // 2))


def _least(spec: Data, worth: float, penalty: float | None, nth: int) -> float:
    """A lower bound of the value of a row whose vector is not in the receipt.

    Its penalty only grows from turn to turn, so the final penalty bounds every earlier one.
    """
    if nth and penalty is None:
        return -math.inf
    return _gain(spec, worth, nth) - (either(penalty, 0.0) if nth else 0.0)


def _gain(spec: Data, worth: float, nth: int) -> float:
    """What relevance adds at a turn: at the first it alone decides, unless it counts nothing."""
    if nth:
        return snap(spec["trade"] * worth)
    return worth if spec["trade"] > 0.0 else 0.0


def _worths(s: Verification, spec: Data, part: Sequence[int], head: int) -> list[float]:
    """The relevance of rows: their score, or the score scaled to 0 … 1 (`unit`)."""
    scores = [either(s.score[at], math.nan) for at in s.standing[:head]]
    if spec["relevance"] == "unit" and scores:
        low, high = min(scores), max(scores)
        scores = [(v - low) / (high - low) if high > low else 0.5 for v in scores]
    return [snap(scores[n]) for n in part]


RULE = OrderingRule(_kept)
