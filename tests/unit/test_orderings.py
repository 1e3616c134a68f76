"""Orderings by hand: what stays, where, and what the plan and the journey say of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.unit.slates import Data, asked, holding, ids, opened, ranked, step_of

from memoriter.core.slate import Slate
from memoriter.memory.facade import Memory
from memoriter.pipeline.orderings.port import apply_move, unmoved
from memoriter.testing.fakes import START, ToyReranker
from memoriter.why.result import Result

FIVE = {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}


def ordered(memory: Memory, *order: Data, scores: dict[str, float] = FIVE, **more: Any) -> Result:
    known = {record.id for record in memory.browse().records}
    listed = {one: score for one, score in scores.items() if one in known}
    return asked(memory, {"mine": listed}, order=list(order), **more)


def origins(result: Result, stage: str) -> list[object]:
    """Where each hit stood before a stage."""
    return [hit.moves[stage]["from"] for hit in result]


# -- cap -------------------------------------------------------------------------------------------


def test_a_cap_counts_against_the_window_and_tells_how_many_went() -> None:
    memory = holding(*"abcde", kind=dict.fromkeys("abd", "reflection"))
    result = ordered(memory, {"kind": "cap", "share": 0.3}, window=6)
    assert ids(result) == ["a", "c", "e"]  # 0.3 · 6 is 1.8: one may stay
    assert origins(result, "cap") == [1, 3, 5]
    shows = step_of(result, "cap").shows
    assert (shows["at_most"], shows["evicted"], "warning" in shows) == (1, 2, False)


def test_a_cap_that_shows_none_warns() -> None:
    memory = holding(*"abc", kind={"a": "fact", "b": "reflection"})
    result = ordered(memory, {"kind": "cap", "of": "fact", "share": 0.3}, window=3)
    assert ids(result) == ["b", "c"]
    assert step_of(result, "cap").shows["warning"] == "no fact can be shown"


# -- collapse --------------------------------------------------------------------------------------

COPIES = {"a": "The plan ", "b": "other", "c": " the PLAN", "d": "the plan!"}


def test_of_texts_that_begin_alike_the_best_stays() -> None:
    memory = holding(*"abcd", text=COPIES)
    result = ordered(memory, {"kind": "collapse"})
    assert ids(result) == ["a", "b", "d"]
    assert origins(result, "collapse") == [1, 2, 4]
    assert result[0].moves["collapse"]["group"] == 2
    assert "group" not in result[1].moves["collapse"]
    assert step_of(result, "collapse").shows["dropped"] == 1


def test_co_04_the_newest_stays_at_the_better_place() -> None:
    """What comes after 200 characters makes no difference."""
    head = "x" * 200
    memory = holding(
        *"abc", text={"a": head, "b": "other", "c": f" {head.upper()} and more"},
        created={"a": START - 10, "c": START},
    )  # fmt: skip
    result = ordered(memory, {"kind": "collapse", "keep": "newest"})
    assert ranked(result) == [("c", 3.0), ("b", 4.0)]
    assert origins(result, "collapse") == [3, 2]
    again = ordered(
        holding(*"abc", text=dict.fromkeys("abc", "same")), {"kind": "collapse", "keep": "newest"}
    )
    assert ids(again) == ["c"]  # of one age the younger record


def test_several_of_a_group_may_stay() -> None:
    memory = holding(*"abcd", text=dict.fromkeys("abcd", "same"))
    assert ids(ordered(memory, {"kind": "collapse", "most": 3})) == ["a", "b", "c"]
    newest = ordered(memory, {"kind": "collapse", "most": 2, "keep": "newest"})
    assert ids(newest) == ["d", "c"]


def test_only_a_head_is_looked_at() -> None:
    memory = holding(*"abcd", text=dict.fromkeys("abcd", "same"))
    assert ids(ordered(memory, {"kind": "collapse", "head": 2})) == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (["session"], "abe"),
        (["session", "kind"], "abde"),
        (["source.path"], "abcd"),
        (["tags"], "abde"),
        (["metadata.topic"], "abc"),
        (["metadata.deep.0"], "abcd"),
    ],
)
def test_records_of_one_key_are_one(keys: list[str], left: str) -> None:
    memory = holding(
        *"abcde",
        session={"a": "s", "b": "t", "c": "s", "d": "t"}, kind={"d": "fact"},
        source={"b": {"path": "x"}, "e": {"path": "x"}}, tags={"a": ["u", "v"], "c": ["u", "v"]},
        metadata={"a": {"topic": 1}, "b": {"topic": "1"}, "c": {"topic": True, "deep": [0]},
                  "d": {"topic": 1}, "e": {"topic": "1", "deep": [0]}},
    )  # fmt: skip
    assert "".join(ids(ordered(memory, {"kind": "collapse", "by": "key", "keys": keys}))) == left


EAST, NORTH, WEST = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]


def test_vectors_that_are_near_are_one() -> None:
    vectors = {"a": EAST, "b": NORTH, "c": [0.8, 0.6], "d": [0.6, 0.8]}
    memory = holding(*"abcde", vector=vectors)
    result = ordered(memory, {"kind": "collapse", "by": "near", "cosine": 0.7})
    # c is near a; d is near b; e has no vector and is like nobody
    assert ids(result) == ["a", "b", "e"]


# -- diversity -------------------------------------------------------------------------------------


def test_mmr_takes_who_repeats_least_and_tells_the_cost_and_the_cause() -> None:
    memory = holding(*"abcd", vector={"a": EAST, "b": EAST, "c": NORTH})
    scores = {"a": 1.0, "b": 0.75, "c": 0.5, "d": 0.25}
    result = ordered(memory, {"kind": "mmr", "trade": 0.5}, scores=scores)
    # after a: b is worth 0.375 - 0.5, c 0.25 - 0; d has no vector and follows
    assert ranked(result) == [("a", 1.0), ("c", 0.5), ("b", 0.75), ("d", 0.25)]
    assert [dict(hit.moves["mmr"]) for hit in result] == [
        {"from": 1, "penalty": 0.0},
        {"from": 3, "penalty": 0.0, "cause": "a"},
        {"from": 2, "penalty": 0.5, "cause": "a"},
        {"from": 4},
    ]
    assert step_of(result, "mmr").shows["without a vector"] == 1


def test_mmr_gains_by_pointing_away_and_may_drop_the_rest() -> None:
    memory = holding(*"abcd", vector={"a": EAST, "b": NORTH, "c": WEST, "d": EAST})
    spec: Data = {"kind": "mmr", "trade": 0.25, "relevance": "unit", "take": 2}
    scores = {"a": 9.0, "b": 8.0, "c": 7.0, "d": 1.0}
    # on the scale from 1 to 9 b and c are worth 7/8 and 6/8: 0.21875 - 0, and 0.1875 + 0.75
    assert ids(ordered(memory, spec, scores=scores)) == ["a", "c", "b", "d"]
    assert ids(ordered(memory, {**spec, "drop": True}, scores=scores)) == ["a", "c"]


def test_mmr_stays_within_the_tier_of_a_second_pass() -> None:
    toy = ToyReranker()
    toy.answer = [0.25, 0.5]
    vectors = {"a": EAST, "b": EAST, "c": NORTH}
    memory = holding(*"abc", memory=opened(reranker=toy), vector=vectors)
    spec: Data = {"kind": "mmr", "trade": 0.5, "relevance": "unit"}
    second = {"head": 2, "rerank": {"timeout_ms": 60_000}}
    result = ordered(memory, spec, second=second)
    assert ranked(result) == [("b", 0.5), ("a", 0.25), ("c", 3.0)]  # c is no part of it


# -- together --------------------------------------------------------------------------------------


def test_a_floor_is_on_the_scale_of_the_first_pass() -> None:
    toy = ToyReranker()
    toy.answer = [100.0, 0.0, 50.0]
    memory = holding(*"abc", memory=opened(reranker=toy))
    second = {"head": 3, "rerank": {"timeout_ms": 60_000}}
    result = ordered(memory, second=second, final={"min_score": 4.0})
    assert ranked(result) == [("a", 100.0), ("b", 0.0)]
    assert origins(result, "min_score") == [1, 3]
    assert result.total == 2


def test_orderings_follow_one_another_and_a_journey_tells_all_places() -> None:
    memory = holding(
        *"abcde", text={"b": "same", "c": "same"}, kind={"a": "fact"},
        session={"d": "s", "e": "s"},
    )  # fmt: skip
    cap: Data = {"kind": "cap", "of": "fact", "share": 0.0}
    result = ordered(
        memory, {"kind": "collapse"}, cap, {"kind": "collapse", "by": "key", "keys": ["session"]}
    )
    assert ids(result) == ["b", "d"]
    assert result[1].journey == (
        ("mine", 4), ("fuse", 4), ("collapse", 3), ("cap", 2), ("collapse.2", 2),
    )  # fmt: skip
    assert [step_of(result, name).rows for name in ("collapse", "cap", "collapse.2")] == [4, 3, 2]


def test_an_ordering_that_is_off_moves_nothing() -> None:
    memory = holding(*"ab", text=dict.fromkeys("ab", "same"))
    result = ordered(memory, {"kind": "collapse", "enabled": False})
    assert ids(result) == ["a", "b"]
    assert step_of(result, "collapse").skipped == "switched off"


def test_a_move_that_moves_nothing_gives_the_same_slate_as_an_order_by_places() -> None:
    slate = Slate(np.array([7, 3, 5]), {"a.score": np.array([3.0, 2.0, 1.0])}).take(
        np.array([0, 2])
    )
    move = unmoved(slate, "nth", {"moved": 0}, {"groups": []})
    plain = apply_move(slate, "crowd", move)
    moved = apply_move(slate, "crowd", replace(move, is_none=False))
    assert plain.rows.tolist() == moved.rows.tolist() == [7, 5]
    assert list(plain.columns) == list(moved.columns) == ["a.score", "crowd.nth", "crowd.from"]
    for name, column in plain.columns.items():
        np.testing.assert_array_equal(column, moved.columns[name])
