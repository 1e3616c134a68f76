"""The arithmetic of ranking, worked out by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from memoriter.rank.bm25 import Bm25Params, bm25_contribution, idf
from memoriter.rank.fuse import by_max, min_max, weighted_parts
from memoriter.rank.grid import STEP, UNIT_STEP, exact_cosines, snap, snap_one, unit
from memoriter.rank.top import top

STEPS = 2.0**32


def test_the_grid_rounds_half_to_even() -> None:
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5]) / STEPS
    assert_array_equal(snap(halves) * STEPS, [0.0, 2.0, 2.0, -0.0, -2.0, -2.0])
    assert [snap_one(float(x)) * STEPS for x in halves] == [0.0, 2.0, 2.0, 0.0, -2.0, -2.0]
    assert snap_one(1 / 3) == 1431655765 / 2**32
    assert math.isnan(snap(np.array([np.nan]))[0])
    assert (STEP, UNIT_STEP) == (1 / 2**32, 1 / 2**23)


def test_snapping_twice_is_snapping_once() -> None:
    values = np.array([0.1, 1.0, 12345.678, -7.25, 2.0**20 + 0.3])
    assert_array_equal(snap(snap(values)), snap(values))
    assert [snap_one(float(v)) for v in values] == snap(values).tolist()


def test_sums_on_the_grid_do_not_depend_on_order() -> None:
    values = snap(np.linspace(0.001, 9.7, 1001))
    assert values.sum() == values[::-1].sum() == math.fsum(values.tolist()) == sum(values.tolist())


def test_unit_vectors() -> None:
    three_four = unit(np.array([3.0, 4.0]))
    assert three_four is not None
    assert (three_four * 2**23).tolist() == [round(0.6 * 2**23), round(0.8 * 2**23)]
    assert three_four.dtype == np.float32
    assert unit(np.zeros(3)) is None
    assert unit(np.zeros(0)) is None
    for scale in (5e-324, 1e-300, 1e300, 1.7e308):
        made = unit(np.array([scale, 0.0]))
        assert made is not None
        assert made.tolist() == [1.0, 0.0]
    assert unit(np.array([-2.0], np.float32)).tolist() == [-1.0]  # type: ignore[union-attr]


def test_cosines_are_exact() -> None:
    draw = np.random.default_rng(7)
    vectors = np.stack([unit(row) for row in draw.normal(size=(20, 256))])  # type: ignore[type-var]
    query = unit(draw.normal(size=256))
    assert query is not None
    for row, cosine in zip(vectors, exact_cosines(vectors, query), strict=True):
        exact = sum(
            Fraction(float(a)) * Fraction(float(b)) for a, b in zip(row, query, strict=True)
        )
        assert Fraction(float(cosine)) == exact


def test_idf() -> None:
    # ln(1 + 3.5/1.5) = ln(10/3); ln(1 + 0.5/1.5) = ln(4/3); ln(1 + 10.5/0.5) = ln 22
    assert idf(4, 1) * 2**32 == round(math.log(10 / 3) * 2**32) == 5171023820
    assert idf(1, 1) * 2**32 == round(math.log(4 / 3) * 2**32) == 1235585093
    assert idf(10, 0) * 2**32 == round(math.log(22) * 2**32) == 13275926248
    assert idf(10**6, 10**6) > 0


@pytest.mark.parametrize(
    ("tf", "length", "mean", "weight", "shape", "value"),
    [
        (1.0, 5.0, 5.0, 1.0, (1.2, 0.75), 1.0),  # 2.2 / (1 + 1.2)
        (2.0, 3.0, 3.0, 1.0, (1.2, 0.75), 1.375),  # 4.4 / 3.2
        (1.0, 2.0, 0.25, 1.0, (1.0, 0.5), 2 / 5.5),  # 2 / (1 + 0.5 + 0.5 · 8)
        (3.0, 9.0, 3.0, 2.0, (1.0, 1.0), 2 * 6 / 6),
        (3.0, 9.0, 3.0, 2.0, (1.0, 0.0), 2 * 6 / 4),
        (7.0, 9.0, 3.0, 0.5, (0.0, 0.75), 0.5),  # k1 = 0: presence alone
        (1.0, 0.0, 3.0, 1.0, (1.0, 1.0), 2.0),
    ],
)
def test_bm25(
    tf: float, length: float, mean: float, weight: float, shape: tuple[float, float], value: float
) -> None:
    scores = bm25_contribution(np.array([tf]), np.array([length]), mean, weight, Bm25Params(*shape))
    assert scores.tolist() == [snap_one(value)]


def test_the_top_breaks_ties_by_age_at_the_border_too() -> None:
    scores = np.array([1.0, 2.0, 2.0, 2.0, 3.0])
    rows = np.array([1, 9, 4, 7, 8])
    assert [top(scores, rows, n).tolist() for n in range(7)] == [
        [], [4], [4, 2], [4, 2, 3], [4, 2, 3, 1], [4, 2, 3, 1, 0], [4, 2, 3, 1, 0],
    ]  # fmt: skip
    assert top(np.zeros(0), np.zeros(0, np.int64), 5).tolist() == []
    assert top(scores, rows, -1).tolist() == []
    assert top(np.array([0.0, -0.0]), np.array([2, 1]), 2).tolist() == [1, 0]


def test_min_max_and_weights() -> None:
    nan = np.nan
    scores = np.array(
        [[1.0, 3.0, nan, 2.0], [7.0, 7.0, nan, nan], [nan] * 4, [nan, nan, nan, -1.0]]
    )
    scaled = [[0.0, 1.0, nan, 0.5], [0.5, 0.5, nan, nan], [nan] * 4, [nan, nan, nan, 0.5]]
    assert_array_equal(min_max(scores), scaled)
    given = weighted_parts(min_max(scores), np.array([0.25, 0.5, 0.125, 1.0]))
    assert_array_equal(
        given, [[0.0, 0.25, nan, 0.125], [0.25, 0.25, nan, nan], [nan] * 4, [nan, nan, nan, 0.5]]
    )
    assert_array_equal(
        by_max(scores),
        [[1 / 3, 1.0, nan, 2 / 3], [1.0, 1.0, nan, nan], [nan] * 4, [nan, nan, nan, 0.0]],
    )
    third = weighted_parts(np.array([[0.0, 1.0]]), np.array([1 / 3]))
    assert third.tolist() == [[0.0, 1431655765 / 2**32]]
