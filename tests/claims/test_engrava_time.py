"""What engrava claims of age and priority: EN-04 and EN-05, the signals alone."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.claims.corpus import CORPUS
from tests.inside import view_of

from memoriter.core.errors import BadQuery
from memoriter.index.reads import numbers, strings
from memoriter.memory.facade import Memory
from memoriter.rank.decay import by_clock, by_cycle, priority
from memoriter.testing.fakes import START

HALF_LIFE = 50.0
TABLE = {"P1": 1.0, "P2": 0.6, "P3": 0.3, "P4": 0.0}


def rows_of(corpus: Memory) -> np.ndarray:
    return np.array([corpus.get(note.id).row for note in CORPUS])


def test_en_04_recency_halves_with_every_fifty_cycles(corpus: Memory) -> None:
    view = view_of(corpus)
    values = by_cycle(numbers(view, rows_of(corpus), "cycle"), 40, HALF_LIFE)
    by_id = dict(zip([note.id for note in CORPUS], values.tolist(), strict=True))
    assert by_id["m02"] == pytest.approx(0.757858, abs=1e-6)
    assert by_id["m11"] == 1.0  # of this very cycle
    expected = [2.0 ** (-(40 - note.cycle) / 50) for note in CORPUS]
    assert values.tolist() == pytest.approx(expected, abs=1e-9)


def test_en_04_a_later_cycle_is_new_and_none_is_worth_nothing() -> None:
    values = by_cycle(np.array([99.0, np.nan, -10.0]), 40, HALF_LIFE)
    assert values.tolist() == pytest.approx([1.0, 0.0, 0.5], abs=1e-9)


def test_en_04_the_wall_clock_is_the_other_reference() -> None:
    week = 604_800.0
    times = np.array([START - week * 1e6, START + 1.0, np.nan])
    assert by_clock(times, START, week).tolist() == pytest.approx([0.5, 1.0, 0.0], abs=1e-9)


def test_en_04_the_cycle_comes_with_the_call_and_stands_in_the_receipt(corpus: Memory) -> None:
    plain = corpus.recall("pricing berlin", recipe="engrava")
    result = corpus.recall("pricing berlin", recipe="engrava", cycle=40)
    assert json.loads(result.receipt.to_bytes())["query"]["cycle"] == 40
    assert "cycle" not in json.loads(plain.receipt.to_bytes())["query"]
    with pytest.raises(
        BadQuery, match="does not use this option"
    ):  # a recipe that counts no cycles
        corpus.recall("pricing berlin", recipe="lexical", cycle=40)


@pytest.mark.parametrize("cycle", [-1, 1.0, True, "40", 2**53 + 1])
def test_en_04_a_cycle_is_a_whole_number_and_not_below_zero(corpus: Memory, cycle: object) -> None:
    with pytest.raises(BadQuery, match="cycle"):
        corpus.recall("pricing", recipe="engrava", cycle=cycle)  # type: ignore[arg-type]  # from outside


def test_en_05_priorities_have_their_worth(corpus: Memory) -> None:
    view = view_of(corpus)
    values = priority(strings(view, rows_of(corpus), "priority"), TABLE)
    assert values.tolist() == pytest.approx([TABLE[note.priority] for note in CORPUS], abs=1e-9)
    assert priority(["P5", None, "p1"], TABLE).tolist() == [0.0, 0.0, 0.0]
