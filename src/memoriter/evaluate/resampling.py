"""Means with bootstrap intervals, the area under the ROC curve, and paired tests.

What is drawn is a function of fixed numbers, so that two runs print the same on any machine.
Intervals are 95 % percentile intervals over questions (Efron & Tibshirani, An Introduction to the
Bootstrap, 1993); the paired test is the sign-flip randomisation test (Smucker, Allan & Carterette,
A comparison of statistical significance tests for information retrieval evaluation, 2007).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 2_000
"""How often a bootstrap draws the questions anew."""
FLIPS: Final = 10_000
"""How many random sign patterns a paired test draws, where there are too many to try them all."""
_POSITIVE, _NEGATIVE, _SIGNS = 1, 2, 3
"""The seeds of independent streams."""
CELLS: Final = 2_000_000
"""How many numbers a block of resamples may have, to bound the memory."""
_SLACK: Final = 1e-12
"""Sums of the same numbers in another order differ by less."""
_TAILS: Final = (0.025, 0.975)
Floats = NDArray[np.float64]


class Estimate(NamedTuple):
    """A figure over questions with its 95 % interval."""

    value: float
    low: float
    high: float
    questions: int

    def to_dict(self) -> dict[str, object]:
        """The estimate as plain data."""
        interval = [round(self.low, 6), round(self.high, 6)]
        return {"value": round(self.value, 6), "interval": interval, "questions": self.questions}


class PairedDifference(NamedTuple):
    """What the second of two recipes gains over the first on the same questions."""

    first: float
    second: float
    low: float
    """The 95 % interval of the difference."""
    high: float
    p: float
    """How often chance alone makes a difference as large as this, in either direction."""
    questions: int
    higher: int
    """On how many questions the second has the higher value; an AUC has no such count: 0."""
    lower: int

    @property
    def difference(self) -> float:
        """The second minus the first."""
        return self.second - self.first

    def to_dict(self) -> dict[str, object]:
        """The difference as plain data."""
        return {
            "first": round(self.first, 6),
            "second": round(self.second, 6),
            "difference": round(self.difference, 6),
            "interval": [round(self.low, 6), round(self.high, 6)],
            "p": round(self.p, 6),
            "questions": self.questions,
            "higher": self.higher,
            "lower": self.lower,
        }


def mean_estimate(values: Sequence[float]) -> Estimate | None:
    """The mean over questions with its interval; None if there is no question."""
    if not values:
        return None
    low, high = _mean_interval(np.array(values, float))
    return Estimate(math.fsum(values) / len(values), low, high, len(values))


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The chance that a positive lies above a negative, ties counting half.

    This is the area under the ROC curve.

    >>> auc([3.0, 2.0], [1.0, 2.0])
    0.875
    """
    return float(_wins(positive, negative).mean())


def auc_estimate(
    positive: Sequence[float], negative: Sequence[float], *, paired: bool = False
) -> Estimate | None:
    """The AUC with its interval, None without positives or negatives.

    `paired`: both are of the same questions, which are then drawn together. The number of questions
    is that of the negatives.
    """
    if not positive or not negative:
        return None
    drawn = np.concatenate(list(_drawn_aucs([_wins(positive, negative)], paired=paired)), axis=1)
    low, high = _interval(drawn[0])
    return Estimate(auc(positive, negative), low, high, len(negative))


def paired_difference(first: Sequence[float], second: Sequence[float]) -> PairedDifference | None:
    """The difference of means over the same questions; None if there is no question."""
    if not first:
        return None
    gains = np.array(second, float) - np.array(first, float)
    low, high = _mean_interval(gains)
    return PairedDifference(
        first=math.fsum(first) / len(first),
        second=math.fsum(second) / len(second),
        low=low,
        high=high,
        p=_sign_flip(gains),
        questions=len(first),
        higher=int((gains > 0).sum()),
        lower=int((gains < 0).sum()),
    )


def auc_difference(
    first: tuple[Sequence[float], Sequence[float]],
    second: tuple[Sequence[float], Sequence[float]],
    *,
    paired: bool = False,
) -> PairedDifference | None:
    """The difference of two AUCs over the same questions; None if one cannot be computed.

    Each argument is (positive, negative), in the same order of questions. The p-value is that of
    the paired bootstrap, since scores of two recipes have different scales and cannot be swapped.
    """
    if not first[0] or not first[1]:
        return None
    wins = [_wins(*first), _wins(*second)]
    drawn = np.concatenate(list(_drawn_aucs(wins, paired=paired)), axis=1)
    gains = drawn[1] - drawn[0]
    low, high = _interval(gains)
    tail = min(int((gains <= _SLACK).sum()), int((gains >= -_SLACK).sum()))
    p = min(1.0, 2 * (tail + 1) / (gains.size + 1))
    values = [float(each.mean()) for each in wins]
    return PairedDifference(
        first=values[0],
        second=values[1],
        low=low,
        high=high,
        p=p,
        questions=len(first[1]),
        higher=0,
        lower=0,
    )


def _sign_flip(gains: Floats) -> float:
    """The two-sided p-value of the mean gain if each gain might as well have the other sign."""
    moved = gains[gains != 0.0]  # a gain of 0 has no sign
    seen = abs(float(moved.sum())) - _SLACK
    if 2**moved.size <= FLIPS:
        places = np.arange(2**moved.size, dtype=np.int64)[:, None]
        bits = np.right_shift(places, np.arange(moved.size, dtype=np.int64)) % 2
        return float((np.abs((1 - 2 * bits) @ moved) >= seen).mean())
    as_large = 0
    for patterns in _blocks(FLIPS, moved.size):
        signs = 1 - 2 * random_integers(_SIGNS, 2, patterns, moved.size)
        as_large += int((np.abs(signs @ moved) >= seen).sum())
    return (as_large + 1) / (FLIPS + 1)  # the pattern that was seen counts too


def _mean_interval(values: Floats) -> tuple[float, float]:
    means = [
        values[random_integers(_POSITIVE, values.size, resamples, values.size)].mean(axis=1)
        for resamples in _blocks(RESAMPLES, values.size)
    ]
    return _interval(np.concatenate(means))


def _interval(drawn: Floats) -> tuple[float, float]:
    low, high = np.quantile(drawn, _TAILS)
    return float(low), float(high)


def _wins(positive: Sequence[float], negative: Sequence[float]) -> Floats:
    """1 where a positive (row) lies above a negative (column), 1/2 where they are equal."""
    rows, columns = np.array(positive, float)[:, None], np.array(negative, float)[None, :]
    return (rows > columns) + 0.5 * (rows == columns)


def _drawn_aucs(wins: Sequence[Floats], *, paired: bool) -> Iterator[Floats]:
    """The AUCs of each table of wins over the same resamples: rows by table, in blocks."""
    rows, columns = wins[0].shape
    for resamples in _blocks(RESAMPLES, max(rows, columns)):
        up = _counts(_POSITIVE, rows, resamples)
        down = up if paired else _counts(_NEGATIVE, columns, resamples)
        yield np.array([((up @ each) * down).sum(axis=1) / (rows * columns) for each in wins])


def _counts(seed: int, n: int, resamples: range) -> Floats:
    """How often each of n questions was drawn, for each resample."""
    size = len(resamples)
    drawn = random_integers(seed, n, resamples, n) + n * np.arange(size)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(float)


def _blocks(total: int, wide: int) -> Iterator[range]:
    """Rows 0 to `total` in blocks, each row `wide` numbers long."""
    step = max(1, CELLS // max(1, wide))
    for start in range(0, total, step):
        yield range(start, min(total, start + step))


def random_integers(seed: int, n: int, rows: range, wide: int) -> NDArray[np.int64]:
    """Uniform numbers below n for some rows of an endless table, `wide` numbers each.

    A number depends on the seed and its place alone: the SplitMix64 of its place (Steele, Lea &
    Flood, Fast splittable pseudorandom number generators, 2014). The remainder favours no number
    by more than n / 2^64.
    """
    places = np.arange(rows.start * wide, rows.stop * wide, dtype=np.uint64)
    z = (places + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed << 40)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return (z % np.uint64(n)).astype(np.int64).reshape(len(rows), wide)
