"""Ranks follow from scores, and some scores from their parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from .numbers import Column, either, snap, total_of
from .search import ATTRIBUTES, Search

BRINGS: Final = "sources"
"""The kind of lane that brings rows without scoring them."""
LANES: Final = frozenset(
    {
        "bm25",
        "kin",
        "vector",
        "walk",
        "hops",
        "cheapest",
        "entity",
        "moment",
        "list",
        "by",
    }
)
"""Kinds of lanes that put equals in order as the recipe says."""


def lanes_run(s: Search) -> list[str]:
    """The lanes that scored rows."""
    return [n for n, lane in s.recipe["lanes"].items() if s.runs(n) and lane["kind"] != BRINGS]


def check_lanes(s: Search) -> None:
    """Ranks follow from scores, and some scores from their parts."""
    for label in s.recipe["lanes"]:
        if s.runs(label) != (f"{label}.score" in s.told):
            s.wrong(f"skipped/{label}", "a lane that ran has scores, and no other")
    for label in lanes_run(s):
        lane, scores = s.recipe["lanes"][label], s.told[f"{label}.score"]
        if (make := SCORES.get(lane["kind"])) is not None:
            make(s, label)
        found = [at for at, value in enumerate(scores) if value is not None]
        if len(found) > lane.get("pool", math.inf):
            s.wrong(f"slate/columns/{label}.score", f"the pool of the lane holds {lane['pool']}")
        if lane["kind"] not in LANES:
            _falling(s, label, found)
            continue
        flat = lane["kind"] == "by" and lane["flat"]
        ties = (
            [lane["by"]] if flat else [t for t in s.recipe["ties"] if t.lstrip("-") in ATTRIBUTES]
        )
        s.derived(f"{label}.rank", ranked(len(scores), s.ordered(scores, ties, found)))


def _walked(s: Search, label: str) -> None:
    """The score of a walk is the sum of its parts."""
    parts = [s.told[f"{label}.{part}"] for part in ("graph", "relation", "seed_support")]
    made: Column = [
        None if None in some else total_of(v for v in some if v is not None)
        for some in zip(*parts, strict=True)
    ]
    s.derived(f"{label}.score", made)


def _near_enough(s: Search, label: str) -> None:
    """No cosine is less than the lane takes, weighed as fresh vectors or as stale ones."""
    lane = s.recipe["lanes"][label]
    least = min(snap(lane[weight] * lane["min_cosine"]) for weight in ("fresh", "stale"))
    if any(value is not None and value < least for value in s.told[f"{label}.score"]):
        s.wrong(f"slate/columns/{label}.score", f"a score is less than {least!r}")


def _listed(s: Search, label: str) -> None:
    """A list of the caller's own has the scores that the query holds, of an id twice the best."""
    best: dict[str, float] = {}
    for one, score in s.body["query"].get("lists", {}).get(label, ()):
        best[one] = max(score, best.get(one, score))
    found = s.told[f"{label}.score"]
    made: Column = [None if found[at] is None else float(best[one]) for at, one in enumerate(s.ids)]
    s.derived(f"{label}.score", made)


SCORES: Final = {"walk": _walked, "list": _listed, "vector": _near_enough}
"""What can be said of all scores of a lane."""


def ranked(size: int, order: Sequence[int]) -> Column:
    """Ranks from 1 in this order; none for the others."""
    out: Column = [None] * size
    for nth, at in enumerate(order, start=1):
        out[at] = float(nth)
    return out


def _falling(s: Search, label: str, found: Sequence[int]) -> None:
    """A lane of another package: its ranks count from 1, and its scores never rise."""
    ranks, scores = s.told[f"{label}.rank"], s.told[f"{label}.score"]
    order = sorted(found, key=lambda at: either(ranks[at], math.inf))
    s.derived(f"{label}.rank", ranked(len(ranks), order))
    values = [either(scores[at], math.nan) for at in order]
    if values != sorted(values, reverse=True):
        s.wrong(f"slate/columns/{label}.rank", "a better rank has a lower score")
