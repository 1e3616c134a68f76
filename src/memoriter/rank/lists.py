"""The public functions of `memoriter.rank` for lists of your own: rrf, weighted, smooth, mmr.

They validate their input (`checks`) and call the engine's own functions (`fuse`, `diverse`). A list
of results has one of three shapes: a mapping from label to pairs (item, score), a list
of such lists (their labels are 0, 1, 2 …), or rows [list_id, item, score]. Items and labels are
texts or whole numbers; whole numbers come before texts. Invalid input raises a `BadQuery` that
names the column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypedDict, Unpack, cast, get_args, overload

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import BadQuery
from memoriter.core.names import EXACT_INT, choice, flag, integer
from memoriter.rank import diverse, fuse
from memoriter.rank.checks import (
    Item,
    best_of,
    finite,
    in_order,
    labelled_lists,
    matrix_of,
    pairs_of,
    per_list,
    relevance_rows,
)
from memoriter.rank.top import top
from memoriter.rank.units import units

Pairs = Iterable[tuple[Item, float]]
Lists = (
    Mapping[str, Pairs] | Mapping[int, Pairs] | Iterable[Pairs] | Iterable[Sequence[Item | float]]
)
MOST: Final = 2.0**20
"""The largest absolute score that is added unscaled: within ±2^20 sums on the grid are exact."""


class FusedList(NamedTuple):
    """An item and its fused score."""

    item: Item
    score: float


class RankedList(NamedTuple):
    """An item's rank and original score in one list, next to its fused score."""

    item: Item
    score: float
    list_id: Item
    leg_rank: int
    leg_score: float


class Picked(NamedTuple):
    """An item and its place, from 1."""

    item: Item
    rank: int


class Reciprocal(TypedDict, total=False):
    """The further options of `rrf`."""

    weights: Mapping[str, float] | Sequence[float] | None
    """The weight of each list; without, all count the same."""
    base: Literal[0, 1]
    """What the best rank counts as; 1 by default."""
    scale: Literal["none", "unit"]
    """`unit`: an item that is first in every non-empty list scores 1."""
    descending: bool
    """Whether the greatest score is the best; if False, the smallest."""


@overload
def rrf(
    lists: Lists, k: float = ..., *, detailed: Literal[False] = ..., **how: Unpack[Reciprocal]
) -> list[FusedList]: ...
@overload
def rrf(
    lists: Lists, k: float = ..., *, detailed: Literal[True], **how: Unpack[Reciprocal]
) -> list[RankedList]: ...
def rrf(
    lists: Lists, k: float = 60.0, *, detailed: bool = False, **how: Unpack[Reciprocal]
) -> list[FusedList] | list[RankedList]:
    """Reciprocal rank fusion: Σ weight / (k + rank) over the lists that hold an item, best first.

    Ranks count from 1, the greatest score first unless `descending` is false. Equal scores get
    consecutive ranks in the order of their items, an item that a list holds twice keeps its best
    score there, and a negative k counts as 0. With `detailed` there is a row for every list that
    holds an item: its parts, which sum to its score. See `Reciprocal` for the rest.

    >>> rrf([["vec", "b", 0.5], ["vec", "a", 0.5]], k=0)
    [FusedList(item='a', score=1.0), FusedList(item='b', score=0.5)]
    >>> rrf([["cycle", "m", 20]], k=0, detailed=True)
    [RankedList(item='m', score=1.0, list_id='cycle', leg_rank=1, leg_score=20)]
    >>> rrf({"vec": [("a", 9)], "fts": [("a", 1), ("b", 0)]}, weights=[3, 1], scale="unit")[0]
    FusedList(item='a', score=1.0)
    """
    damping, descending = max(finite(k, "k"), 0.0), how.get("descending", True)
    base, scale = _reciprocal(how, damping)
    best = {
        label: best_of(pairs, greatest=descending) for label, pairs in labelled_lists(lists).items()
    }
    items = in_order({item for scores in best.values() for item in scores})
    values = _matrix(best, items)
    ranks = np.full(values.shape, np.nan)
    for lane, row in enumerate(values):
        at = np.flatnonzero(~np.isnan(row))
        known = row[at] if descending else -row[at]
        ranks[lane, at[top(known, at, at.size)]] = np.arange(1, at.size + 1)
    weights = _weights(how.get("weights"), list(best))
    if scale == "unit":
        weights = fuse.shares(weights, np.array([bool(each) for each in best.values()], np.bool_))
    parts = fuse.rrf_parts(ranks, weights, damping, base, scale)
    fused, order = _summed(parts, items)
    if not detailed:
        return fused
    labels = {label: lane for lane, label in enumerate(best)}
    return [
        RankedList(item, score, label, int(ranks[labels[label], at]), best[label][item])
        for (item, score), at in zip(fused, order, strict=True)
        for label in in_order(labels)
        if item in best[label]
    ]


def _reciprocal(how: Reciprocal, k: float) -> tuple[int, Literal["none", "unit"]]:
    """What the best rank counts as, and the scale."""
    if unknown := set(how) - set(Reciprocal.__annotations__):
        known = ", ".join(Reciprocal.__annotations__)
        raise BadQuery(
            f"{min(unknown)}: rrf has no such option", hint=f"its options are {known}", field="rrf"
        )
    flag(how.get("descending", True), "descending", BadQuery)
    base = integer(how.get("base", 1), "base", 0, 1, BadQuery)
    scale = choice(how.get("scale", "none"), "scale", ("none", "unit"), BadQuery)
    if k + base == 0:
        raise BadQuery(
            "`k` and `base` are both 0, so 1 / (k + rank) of the best rank would divide by 0",
            hint="give `k` above 0, or `base` 1",
            field="base",
        )
    return base, cast('Literal["none", "unit"]', scale)


def weighted(
    lists: Lists,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    *,
    scale: fuse.Scale | Mapping[str, fuse.Scale] | Sequence[fuse.Scale] = "max",
    absent: fuse.Absent = "redistribute",
) -> list[FusedList]:
    """The weighted sum of scaled scores, best first; weights are divided by their sum.

    `scale` is one for all or one for each list: `max` (s / max, nothing below 0), `min_max`, or
    `none` for scores that are alike already. Without weights all lists count the same. An empty
    list gives its weight to the others, or keeps it with `absent="keep"`.

    >>> weighted({"words": [("a", 4.0), ("b", 2.0)], "meaning": [("b", 0.8)]}, [1, 3])
    [FusedList(item='b', score=0.875), FusedList(item='a', score=0.25)]
    """
    best = {label: best_of(pairs) for label, pairs in labelled_lists(lists).items()}
    if absent not in get_args(fuse.Absent):
        raise BadQuery(f'absent: expected "redistribute" or "keep", got {absent!r}', field="absent")
    kinds = _scales(scale, list(best))
    for kind, scores in zip(kinds, best.values(), strict=True):
        for item, score in scores.items():
            # Scaled scores end in [0, 1]; the wide bound only keeps max − min finite.
            finite(score, f"score of {item!r}", MOST if kind == "none" else 2.0**1000)
    items = in_order({item for scores in best.values() for item in scores})
    scaled = fuse.scaled(_matrix(best, items), kinds)
    answered = np.array([bool(scores) for scores in best.values()], np.bool_)
    parts = fuse.weighted_parts(
        scaled, fuse.shares(_weights(weights, list(best)), answered, absent)
    )
    return _summed(parts, items)[0]


def smooth(base: Pairs, lifted: Pairs, *, lift: float = 35.0, fade: float = 3.0) -> list[FusedList]:
    """Base + lifted · (1 + lift · e^(−base / fade)), best first.

    The second list counts more if the first has a low score: the factor falls smoothly from
    1 + lift (base 0) to 1 (base large). An item that a list does not hold has score 0 there.

    >>> smooth([("a", 6.0)], [("a", 1.0), ("b", 0.5)])[0].item
    'b'
    """
    high = finite(lift, "lift", MOST)
    slow = finite(fade, "fade")
    if high < 0.0 or slow <= 0.0:
        raise BadQuery(
            f"expected `lift` of 0 or more and `fade` above 0, got {lift!r} and {fade!r}",
            field="lift" if high < 0.0 else "fade",
        )
    best: dict[Item, dict[Item, float]] = {
        "base": best_of(pairs_of(base, "base")),
        "lifted": best_of(pairs_of(lifted, "lifted")),
    }
    for scores in best.values():
        for item, score in scores.items():
            finite(score, f"score of {item!r}", MOST)
    items = in_order({item for scores in best.values() for item in scores})
    known, moved = _matrix(best, items)
    parts = np.stack(
        [
            fuse.weighted_parts(known[None], np.ones(1))[0],
            fuse.smooth_parts(known, moved, high, slow),
        ]
    )
    return _summed(parts, items)[0]


def mmr(
    rows: Iterable[Sequence[Item | float | Sequence[float] | NDArray[np.floating] | None]],
    *,
    trade: float = 0.5,
    k: int = 0,
) -> list[Picked]:
    """Maximal marginal relevance: the best that does not repeat what was taken, as (item, rank).

    Rows are [item, relevance, vector]. Each step takes argmax of trade · relevance − (1 − trade) ·
    greatest cosine to those taken, with no floor at 0; `trade` is clamped to 0 … 1, equal values go
    by the order of items, and k is how many to take (0: all). A zero vector has cosine 0 to all.
    Items without a vector (None) cannot be compared: they follow after the others, by relevance.

    >>> rows = [["a", 0.5, [1, 0]], ["b", 0.5, [1, 0]], ["z", 0.5, [0, 1]]]
    >>> mmr(rows) == [("a", 1), ("z", 2), ("b", 3)]
    True
    """
    names, worth, vectors = relevance_rows(rows, MOST)
    integer(k, "k", 0, EXACT_INT, BadQuery)
    balance = min(max(finite(trade, "trade"), 0.0), 1.0)
    scores = dict(zip(names, worth, strict=True))
    arrays = dict(zip(names, vectors, strict=True))
    seen = [item for item in in_order(scores) if arrays[item] is not None]
    blind = [item for item in in_order(scores) if arrays[item] is None]
    made = matrix_of(seen, [arrays[item] for item in seen])
    picks = diverse.mmr_picks(np.array([scores[item] for item in seen]), units(made), balance, k)
    left = np.array([scores[item] for item in blind])
    chosen: list[Item] = [seen[at] for at in picks.order]
    chosen += [blind[at] for at in top(left, np.arange(left.size), left.size)]
    return [Picked(item, rank) for rank, item in enumerate(chosen[: k or None], start=1)]


def _matrix(
    best: Mapping[Item, Mapping[Item, float]], items: Sequence[Item]
) -> NDArray[np.float64]:
    """Lists × items, NaN where a list does not hold an item."""
    out = np.full((len(best), len(items)), np.nan)
    at = {item: column for column, item in enumerate(items)}
    for lane, scores in enumerate(best.values()):
        for item, score in scores.items():
            out[lane, at[item]] = float(score)
    return out


def _summed(
    parts: NDArray[np.float64], items: Sequence[Item]
) -> tuple[list[FusedList], NDArray[np.intp]]:
    """(items with the sum of their parts, best first; the index of each in `items`)."""
    scores: NDArray[np.float64] = np.nansum(parts, axis=0)
    order = top(scores, np.arange(scores.size), scores.size)
    return [FusedList(items[at], float(scores[at])) for at in order], order


def _scales(value: object, labels: Sequence[Item]) -> list[fuse.Scale]:
    values = [value] * len(labels) if isinstance(value, str) else per_list(value, labels, "scale")
    for scale in values:
        if not isinstance(scale, str) or scale not in fuse.SCALES:
            raise BadQuery(
                f"scale: {scale!r} is not one of {', '.join(fuse.SCALES)}", field="scale"
            )
    return cast("list[fuse.Scale]", values)


def _weights(value: object, labels: Sequence[Item]) -> NDArray[np.float64]:
    values = [1.0] * len(labels) if value is None else per_list(value, labels, "weights")
    clean = [
        finite(each, f"weight of {label!r}", MOST)
        for label, each in zip(labels, values, strict=True)
    ]
    for label, weight in zip(labels, clean, strict=True):
        if weight < 0.0:
            raise BadQuery(
                f"weight of {label!r}: expected 0 or more, got {weight!r}", field="weights"
            )
    return np.array(clean)
