"""Intervals, AUC and paired tests against numbers worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice, product

import numpy as np
import pytest

from memoriter.evaluate import resampling
from memoriter.evaluate.resampling import (
    Estimate,
    auc,
    auc_difference,
    auc_estimate,
    mean_estimate,
    paired_difference,
)


def test_a_mean_of_equal_values_has_an_interval_without_width() -> None:
    assert mean_estimate([0.5, 0.5, 0.5]) == Estimate(0.5, 0.5, 0.5, 3)
    assert mean_estimate([]) is None


def test_the_interval_of_one_hit_in_four_reaches_from_none_to_three_quarters() -> None:
    # Four draws of 0, 0, 0, 1: the mean is 0 with (3/4)^4 = 32 %; it is 1 with (1/4)^4 = 0.4 %,
    # less than 2.5 %; it is 3/4 or more with 0.4 % + 4 · (1/4)^3 · 3/4 = 5.1 %, more than 2.5 %.
    assert mean_estimate([0.0, 0.0, 0.0, 1.0]) == Estimate(0.25, 0.0, 0.75, 4)


def test_the_interval_of_many_values_is_that_of_the_normal_distribution() -> None:
    # 200 hits of 400: standard error sqrt(1/4 / 400) = 0.025, 1.96 times that is 0.049.
    made = mean_estimate([0.0, 1.0] * 200)
    assert made is not None
    assert made.value == 0.5
    assert made.low == pytest.approx(0.451, abs=0.004)
    assert made.high == pytest.approx(0.549, abs=0.004)


def test_the_same_values_give_the_same_interval_whatever_the_size_of_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = [math.sin(n) for n in range(50)]
    before = mean_estimate(values), auc_estimate(values, values[:20])
    monkeypatch.setattr(resampling, "CELLS", 500)
    assert (mean_estimate(values), auc_estimate(values, values[:20])) == before


def test_auc_counts_pairs_and_a_tie_as_half() -> None:
    # Pairs: 3>1, 3>2, 2>1, 2=2.
    assert auc([3.0, 2.0], [1.0, 2.0]) == 3.5 / 4
    assert auc([1.0], [2.0]) == 0.0
    # An answer with no hit has the signal -inf: below any other, equal to another such.
    assert auc([1.0, -math.inf], [-math.inf]) == 0.75


def test_the_interval_of_an_auc_draws_both_sides() -> None:
    # One positive below all negatives, three above: the share of draws of it decides, so that the
    # interval is that of three hits in four.
    assert auc_estimate([1.0, 1.0, 1.0, -1.0], [0.0, 0.0]) == Estimate(0.75, 0.25, 1.0, 2)
    assert auc_estimate([], [1.0]) is None
    assert auc_estimate([1.0], []) is None


def test_a_paired_auc_draws_each_question_with_both_of_its_answers() -> None:
    # By hand over the four draws of two questions: (0,0) 1 > 0: 1; (1,1) 2 > 3: 0; (0,1), (1,0) the
    # four pairs 1>0, 1>3, 2>0, 2>3: 1/2.
    made = auc_estimate([1.0, 2.0], [0.0, 3.0], paired=True)
    assert made == Estimate(0.5, 0.0, 1.0, 2)


def test_few_gains_are_tested_by_all_sign_patterns() -> None:
    # Five gains of 1 and no loss: only the two patterns of equal signs of 32 are as extreme.
    made = paired_difference([0.0] * 5 + [1.0], [1.0] * 6)
    assert made is not None
    assert made.p == 2 / 32
    assert (made.first, made.second) == (1 / 6, 1.0)
    assert made.difference == pytest.approx(5 / 6)
    assert (made.questions, made.higher, made.lower) == (6, 5, 0)


def test_gains_of_different_size_are_tested_by_their_sums() -> None:
    first, second = [0.0, 0.0, 0.5], [1.0, 0.5, 0.25]
    gains = [1.0, 0.5, -0.25]
    sums = [
        abs(sum(s * g for s, g in zip(p, gains, strict=True))) for p in product((1, -1), repeat=3)
    ]
    assert sum(each >= 1.25 for each in sums) == 4  # 1 + 1/2 ± 1/4, and the same negated
    made = paired_difference(first, second)
    assert made is not None
    assert made.p == 4 / 8


def test_no_difference_at_all_has_p_one() -> None:
    made = paired_difference([1.0, 0.0], [1.0, 0.0])
    assert made is not None
    assert (made.difference, made.low, made.high, made.p) == (0.0, 0.0, 0.0, 1.0)
    assert paired_difference([], []) is None


def test_many_gains_are_tested_by_random_patterns() -> None:
    # 60 gains and 40 losses of 1: P(|60 - 40| or more) of a fair coin is 0.0569 (binomial, exact).
    exact = 2 * sum(math.comb(100, k) for k in range(60, 101)) / 2**100
    made = paired_difference([0.0] * 60 + [1.0] * 40, [1.0] * 60 + [0.0] * 40)
    assert made is not None
    assert exact == pytest.approx(0.0569, abs=1e-4)
    assert made.p == pytest.approx(exact, abs=0.007)
    sure = paired_difference([0.0] * 60, [1.0] * 60)
    assert sure is not None
    assert sure.p == 1 / (resampling.FLIPS + 1)


def test_two_aucs_are_compared_on_the_same_draws() -> None:
    good, bad = ([2.0] * 9, [1.0] * 9), ([1.0] * 9, [2.0] * 9)
    made = auc_difference(bad, good)
    assert made is not None
    assert (made.first, made.second, made.low, made.high) == (0.0, 1.0, 1.0, 1.0)
    assert made.p == 2 / (resampling.RESAMPLES + 1)
    same = auc_difference(good, good)
    assert same is not None
    assert (same.difference, same.p) == (0.0, 1.0)
    assert auc_difference(([], [1.0]), ([], [1.0])) is None


def test_draws_are_even_and_their_streams_differ() -> None:
    drawn = resampling.random_integers(1, 7, range(1000), 70)
    shares = np.bincount(drawn.ravel(), minlength=7) / drawn.size
    assert np.abs(shares - 1 / 7).max() < 0.005
    other = resampling.random_integers(2, 7, range(1000), 70)
    assert abs(float((drawn == other).mean()) - 1 / 7) < 0.005
    assert (resampling.random_integers(1, 7, range(500, 1000), 70) == drawn[500:]).all()


def splitmix64(state: int) -> Iterator[int]:
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        yield z ^ z >> 31


def test_draws_are_the_numbers_of_splitmix64() -> None:
    # Published numbers of the generator, for the seed 1234567.
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert list(islice(splitmix64(1234567), 3)) == known
    wanted = [z % 1000 for z in islice(splitmix64(1 << 40), 6)]
    assert resampling.random_integers(1, 1000, range(2), 3).tolist() == [wanted[:3], wanted[3:]]
