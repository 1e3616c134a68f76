"""Boosts as arithmetic: by hand, at their borders, and against the slow way."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from memoriter.rank.decay import (
    Reach,
    by_clock,
    by_cycle,
    by_position,
    confidence,
    importance,
    near_strong,
    priority,
)
from memoriter.rank.grid import STEP

NAN = float("nan")
REACH = Reach(12, 1.2, 3.0, 5.0)


def on_grid(values: np.ndarray) -> bool:
    return bool((np.rint(values / STEP) * STEP == values).all())


@pytest.mark.parametrize(
    ("length", "positions", "expected"),
    [
        (0, [], []),
        (1, [0.0], [0.05]),
        (2, [0.0, 1.0], [0.0, 0.05]),
        (40, [20.0, 22.0, 30.0, 35.0], [0.0256410, 0.0282051, 0.0384615, 0.0448718]),
        (6, [1.0, NAN], [0.01, 0.0]),
        (1, [NAN], [0.0]),
    ],
)
def test_recency_by_position(length: int, positions: list[float], expected: list[float]) -> None:
    values = by_position(np.array(positions), length, 0.05)
    assert values.tolist() == pytest.approx(expected, abs=1e-6)
    assert on_grid(values)


def test_recency_by_cycle_halves_with_every_half_life() -> None:
    cycles = np.array([0.0, 50.0, 90.0, 100.0, 101.0, -1e15, NAN])
    values = by_cycle(cycles, 100, 50.0).tolist()
    assert values == pytest.approx([0.25, 0.5, 2.0**-0.2, 1.0, 1.0, 0.0, 0.0], abs=1e-9)
    assert on_grid(by_cycle(cycles, 100, 50.0))


def test_recency_by_clock_counts_seconds_and_knows_no_future() -> None:
    week, second = 604_800.0, 1_000_000
    now = 1_790_000_000 * second
    times = np.array([now - week * second, now, now + 5 * second, now - second, NAN])
    values = by_clock(times, now, week).tolist()
    expected = [0.5, 1.0, 1.0, math.exp(-math.log(2.0) / week), 0.0]
    assert values == pytest.approx(expected, abs=2 * STEP)


def test_the_worth_of_importance_hangs_on_the_words() -> None:
    values = np.array([0.3, 0.8, 1.0, 0.0, NAN, 0.9])
    lexical = np.array([0.364643, 1.140980, 0.0, NAN, 2.0, -1.0])
    worth = importance(values, lexical, 0.3, 0.1)
    assert worth.tolist() == pytest.approx(
        [-0.0218786, 0.1026882, 0.05, -0.05, 0.0, 0.04], abs=1e-6
    )
    assert on_grid(worth)


def test_confidence_and_priority() -> None:
    assert confidence(np.array([1.0, 0.1, 0.0, NAN]), 0.1).tolist() == pytest.approx(
        [0.1, 0.01, 0.0, 0.0], abs=STEP
    )
    table = {"P1": 1.0, "P2": 0.6, "P3": 0.3, "P4": 0.0}
    values = priority(["P1", "P2", "P3", "P4", "P9", None], table)
    assert values.tolist() == pytest.approx([1.0, 0.6, 0.3, 0.0, 0.0, 0.0], abs=STEP)
    assert on_grid(values)
    assert priority([], table).tolist() == []


def test_cohesion_falls_with_distance_and_ends_at_the_radius() -> None:
    positions = np.array([100.0, *(100.0 + d for d in range(1, 15))])
    lexical = np.array([3.0, *([NAN] * 14)])
    values = near_strong(positions, lexical, REACH)
    assert values[0] == 0.0
    assert values[1:].tolist() == pytest.approx(
        [1.1, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0, 0.0, 0.0], abs=1e-9
    )
    assert on_grid(values)


@pytest.mark.parametrize(
    ("lexical", "gain"), [(0.0, 1.1), (2.999, 1.1), (3.0, 0.0), (4.0, 0.0), (5.0, 0.0), (NAN, 1.1)]
)
def test_cohesion_is_for_rows_that_the_words_found_badly(lexical: float, gain: float) -> None:
    values = near_strong(np.array([7.0, 8.0]), np.array([9.0, lexical]), REACH)
    assert values.tolist() == pytest.approx([0.0, gain], abs=1e-9)


def test_cohesion_without_seeds_rows_or_places_is_nothing() -> None:
    assert near_strong(np.zeros(0), np.zeros(0), REACH).tolist() == []
    assert near_strong(np.arange(3.0), np.zeros(3), REACH).tolist() == [0.0] * 3
    lost = near_strong(np.array([NAN, 1.0, 2.0]), np.array([9.0, 9.0, 0.0]), REACH)
    assert lost.tolist() == pytest.approx([0.0, 0.0, 1.1], abs=1e-9)


def test_cohesion_may_be_confined_to_one_session() -> None:
    positions = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    lexical = np.array([9.0, 0.0, 0.0, 0.0, 9.0])
    sessions = np.array([0, 0, 1, -1, -1])
    confined = near_strong(positions, lexical, REACH, sessions)
    assert confined.tolist() == pytest.approx([0.0, 1.1, 0.0, 0.0, 0.0], abs=1e-9)
    free = near_strong(positions, lexical, REACH)
    assert free.tolist() == pytest.approx([0.0, 1.1, 1.0, 1.1, 0.0], abs=1e-9)


def slow_cohesion(
    positions: list[float], lexical: list[float], radius: int, sessions: list[int] | None
) -> list[float]:
    out: list[float] = []
    for at, words in enumerate(lexical):
        near = [
            abs(positions[at] - positions[other])
            for other, seed in enumerate(lexical)
            if seed >= 3.0
            and (sessions is None or (sessions[at] == sessions[other] and sessions[at] >= 0))
        ]
        d = min(near, default=0.0)
        gains = 1 <= d <= radius and not words >= 5.0
        out.append(round(1.2 * (1 - d / radius) * 2**32) / 2**32 if gains else 0.0)
    return out


@pytest.mark.parametrize("seed", range(30))
def test_cohesion_equals_the_slow_way(seed: int) -> None:
    dice = Random(seed)
    count = dice.randrange(1, 60)
    positions = [float(p) for p in dice.sample(range(200), count)]
    lexical = [dice.choice([NAN, 0.0, 1.0, 3.0, 4.9, 5.0, 8.0]) for _ in range(count)]
    radius = dice.choice([1, 3, 12])
    sessions = [dice.randrange(-1, 3) for _ in range(count)] if dice.random() < 0.5 else None
    codes = None if sessions is None else np.array(sessions)
    values = near_strong(
        np.array(positions), np.array(lexical), REACH._replace(radius=radius), codes
    )
    assert values.tolist() == slow_cohesion(positions, lexical, radius, sessions)
