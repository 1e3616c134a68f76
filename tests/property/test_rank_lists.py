"""Fusion and diversity agree with what a patient reader would compute with a pencil."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memoriter import rank
from memoriter.rank import fuse
from memoriter.rank.diverse import near_duplicates
from memoriter.rank.grid import STEP, snap_one, unit
from memoriter.rank.units import units

items = st.integers(0, 6) | st.sampled_from("abcde")
scores = st.integers(-3, 3) | st.sampled_from([0.5, -0.25, 1e-9, 7.25])
pairs = st.lists(st.tuples(items, scores), max_size=8)
lists = st.dictionaries(st.sampled_from(["x", "y", "z", "w"]), pairs, max_size=4)
numbers = st.integers(-8, 8).map(lambda n: n / 4)
candidates = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(numbers, st.lists(st.integers(-3, 3), min_size=width, max_size=width)),
        max_size=9,
    )
)
Lists = dict[str, list[tuple[str | int, float]]]


def naive_rrf(given: Lists, k: float, *, descending: bool) -> list[tuple[str | int, float]]:
    """Rank fusion by loops over dictionaries."""
    sign = -1 if descending else 1
    total: dict[str | int, float] = {}
    for each in given.values():
        best: dict[str | int, float] = {}
        for item, score in each:
            best[item] = min(best.get(item, math.inf), sign * score)
        line = sorted(best, key=lambda item: (best[item], isinstance(item, str), item))
        for place, item in enumerate(line, start=1):
            total[item] = total.get(item, 0.0) + snap_one(1 / (max(k, 0) + place))
    order = sorted(total, key=lambda item: (-total[item], isinstance(item, str), item))
    return [(item, total[item]) for item in order]


@given(made=lists, k=st.sampled_from([60, 0, -5, 1.5]), descending=st.booleans())
def test_rank_fusion_is_what_loops_make_of_it(made: Lists, k: float, *, descending: bool) -> None:
    assert rank.rrf(made, k, descending=descending) == naive_rrf(made, k, descending=descending)


@given(lists, st.randoms(use_true_random=False))
def test_the_order_of_lists_and_of_their_entries_changes_nothing(
    made: Lists, random: object
) -> None:
    labels = list(made)
    random.shuffle(labels)  # type: ignore[attr-defined]
    other = {label: made[label][::-1] for label in labels}
    weights = {label: ord(label) / 100 for label in labels}
    assert rank.rrf(other) == rank.rrf(made)
    assert rank.rrf(other, detailed=True) == rank.rrf(made, detailed=True)
    for scale in ("max", "min_max", "none"):
        assert rank.weighted(other, weights, scale=scale) == rank.weighted(
            made, weights, scale=scale
        )


@given(lists)
def test_the_legs_of_an_item_sum_to_its_score(made: Lists) -> None:
    rows = rank.rrf(made, detailed=True)
    for item, score in rank.rrf(made):
        legs = [row for row in rows if row.item == item]
        assert sum(snap_one(1 / (60 + row.leg_rank)) for row in legs) == score
        assert [row.list_id for row in legs] == sorted(row.list_id for row in legs)


@given(lists, st.sampled_from(["max", "min_max"]))
def test_a_weighted_sum_of_scaled_scores_lies_between_0_and_1(
    made: Lists, scale: fuse.Scale
) -> None:
    for _, score in rank.weighted(made, scale=scale):
        assert 0.0 <= score <= 1.0


@given(st.lists(st.tuples(st.floats(0, 1e6), st.booleans()), min_size=1, max_size=9))
def test_shares_are_on_the_grid_and_never_exceed_the_whole(lanes: list[tuple[float, bool]]) -> None:
    weights, answered = np.array([w for w, _ in lanes]), np.array([a for _, a in lanes])
    for absent, counts in (("redistribute", answered), ("keep", np.ones(len(lanes), bool))):
        made = fuse.shares(weights, answered, absent)  # type: ignore[arg-type]
        assert np.array_equal(np.rint(made / STEP) * STEP, made)
        assert not made[~counts].any()
        whole = float(weights[counts].sum())
        assert made.sum() <= 1.0
        assert whole <= 0.0 or 1.0 - made.sum() <= len(lanes) * STEP
        top = fuse.rrf_parts(np.ones((len(lanes), 1)), made, scale="unit")
        assert top.sum() == made.sum()


def naive_mmr(rows: list[tuple[float, list[int]]], trade: float) -> list[int]:
    """Diversity with exact fractions, looking at every pair anew."""
    vectors = [unit(np.array(vector, float)) for _, vector in rows]

    def alike(one: int, other: int) -> float:
        own, theirs = vectors[one], vectors[other]
        if own is None or theirs is None:
            return 0.0
        parts = zip(own.tolist(), theirs.tolist(), strict=True)
        return float(sum(Fraction(a) * Fraction(b) for a, b in parts))

    taken: list[int] = []
    while len(taken) < len(rows):
        left = [row for row in range(len(rows)) if row not in taken]
        worth = {
            row: snap_one(trade * rows[row][0])
            - snap_one((1 - trade) * max(alike(row, other) for other in taken))
            if taken
            else rows[row][0] * (trade > 0)
            for row in left
        }
        taken.append(max(left, key=lambda row: (worth[row], -row)))
    return taken


@given(candidates, st.sampled_from([0.0, 0.25, 0.5, 0.7, 1.0]), st.integers(1, 9))
def test_diversity_is_what_exact_loops_make_of_it(
    rows: list[tuple[float, list[int]]], trade: float, limit: int
) -> None:
    names, worth = range(len(rows)), [value for value, _ in rows]
    vectors = [vector for _, vector in rows]
    picked = rank.mmr(zip(names, worth, vectors, strict=True), trade=trade)
    assert [item for item, _ in picked] == naive_mmr(rows, trade)
    assert [place for _, place in picked] == list(range(1, len(rows) + 1))
    assert rank.mmr(zip(names, worth, vectors, strict=True), trade=trade, k=limit) == picked[:limit]


@given(candidates, st.sampled_from([0.25, 0.9, 1.0]))
def test_copies_are_near_a_row_that_stays_and_those_that_stay_are_not(
    rows: list[tuple[float, list[int]]], threshold: float
) -> None:
    made = units(
        np.array([vector for _, vector in rows], float).reshape(
            len(rows), len(rows[0][1]) if rows else 0
        )
    )
    cosines = made.astype(float) @ made.astype(float).T
    copied = near_duplicates(made, threshold)
    for row, original in enumerate(copied):
        stays = [other for other in range(row) if copied[other] == -1]
        near = [other for other in stays if cosines[row, other] >= threshold]
        assert original == (near[0] if near else -1)
