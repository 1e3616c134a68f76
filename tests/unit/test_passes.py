"""Passes by hand: fusions, tiers, ties, a second fusion, a reranker and its troubles."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.slates import Data, asked, holding, ids, opened, ranked, recipe, step_of

from memoriter.core.errors import BadQuery, BadRecipe, Unavailable
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.rank.grid import snap_one
from memoriter.testing.fakes import ToyReranker
from memoriter.why.result import Result

# -- the first pass --------------------------------------------------------------------------------


def test_weights_are_shares_of_the_lanes_that_answered() -> None:
    memory = holding("a", "b")
    lists = {"one": {"a": 1.0}, "two": {"b": 1.0}, "three": {}}
    fuse: Data = {
        "kind": "weighted", "scale": "none", "weights": {"one": 3.0, "two": 1.0, "three": 4.0},
    }  # fmt: skip
    assert ranked(asked(memory, lists, fuse=fuse)) == [("a", 0.75), ("b", 0.25)]
    kept = asked(memory, lists, fuse={**fuse, "absent": "keep"})
    assert ranked(kept) == [("a", 0.375), ("b", 0.125)]


def test_every_lane_has_a_scale_of_its_own() -> None:
    memory = holding("a", "b", "c")
    lists = {"one": {"a": 8.0, "b": 4.0, "c": 2.0}, "two": {"a": 3.0, "b": 5.0, "c": 4.0}}
    weights = {"one": 0.5, "two": 0.5}
    scale = {"one": "max", "two": "min_max"}
    result = asked(memory, lists, fuse={"kind": "weighted", "scale": scale, "weights": weights})
    # one / 8 and (two - 3) / 2, each by half
    assert ranked(result) == [("b", 0.25 + 0.5), ("a", 0.5), ("c", 0.125 + 0.25)]


def test_reciprocal_ranks_add_up() -> None:
    memory = holding("a", "b")
    lists = {"one": {"a": 9.0, "b": 8.0}, "two": {"b": 1.0}}
    result = asked(memory, lists, fuse={"kind": "rrf", "k": 1, "weights": {"two": 2.0}})
    assert ranked(result) == [("b", snap_one(1 / 3) + 1.0), ("a", 0.5)]
    best = asked(memory, lists, fuse={"kind": "rrf", "k": 1, "base": 0, "scale": "unit"})
    assert ranked(best) == [("b", 0.25 + 0.5), ("a", 0.5)]  # 1 / (1 + 1) of one half, and one half


def test_one_lane_is_lifted_where_the_other_is_silent() -> None:
    memory = holding("a", "b")
    lists = {"base": {"a": 2.0}, "soft": {"a": 0.5, "b": 0.5}}
    fuse = {"kind": "smooth", "base": "base", "lifted": "soft", "lift": 3.0, "fade": 2.0}
    result = asked(memory, lists, fuse=fuse)
    assert ranked(result) == [("a", 2.0 + snap_one(0.5 * (1 + 3 * math.exp(-1)))), ("b", 2.0)]


@pytest.mark.parametrize(
    ("ties", "order"),
    [
        ([], "abc"),
        (["row"], "abc"),
        (["-row"], "cba"),
        (["id"], "abc"),
        (["-id"], "cba"),
        (["path"], "bac"),  # b has the path "A.md"; a and c have none and go by id
        (["-position"], "cba"),
        (["-confidence"], "cab"),  # b has none: it comes last either way
        (["confidence"], "acb"),
        (["other.score"], "bca"),
        (["-other.score"], "cba"),
        (["kind", "-other.score"], "bca"),
        (["row", "-row"], "abc"),
    ],
)
def test_equals_go_by_attributes_and_columns(ties: list[str], order: str) -> None:
    memory = holding(
        "a", "b", "c",
        source={"b": {"path": "A.md"}}, confidence={"a": 0.2, "c": 0.9},
        kind={"b": "fact"},
    )  # fmt: skip
    lists = {"mine": dict.fromkeys("abc", 1.0), "other": {"b": 1.0, "c": 2.0}}
    fuse = {"kind": "weighted", "scale": "none", "weights": {"mine": 1.0, "other": 0.0}}
    assert "".join(ids(asked(memory, lists, fuse=fuse, pass_ties=ties or None))) == order
    assert "".join(ids(asked(memory, lists, fuse=fuse, ties=ties or ["row"]))) == order


def test_attributes_decide_inside_lanes_too() -> None:
    memory = holding("a", "b", "c")
    lanes = {"mine": {"kind": "list", "pool": 1}}
    result = asked(memory, {"mine": dict.fromkeys("abc", 1.0)}, lanes=lanes, ties=["-position"])
    assert ids(result) == ["c"]


def test_sums_beyond_the_grid_are_rounded_once() -> None:
    memory = holding("a")
    parts = {"one": {"a": 2.0**53}, "two": {"a": 1.0}, "three": {"a": 1.0}}
    labels = ("one", "two", "three")
    fuse = {"kind": "smooth", "base": "one", "lifted": "two", "lift": 0.0}
    for order in (labels, labels[::-1], (labels[1], labels[0], labels[2])):
        result = asked(memory, {label: parts[label] for label in order}, fuse=fuse)
        assert ranked(result) == [("a", 2.0**53 + 2.0)]


# -- a second fusion -------------------------------------------------------------------------------


def test_a_low_scored_head_stands_above_the_tail() -> None:
    memory = holding("a", "b", "c")
    lists = {"mine": {"a": 3.0, "b": 2.0, "c": 1.0}, "other": {"c": 0.5}}
    fuse = {"kind": "weighted", "scale": "none", "weights": {"mine": 1.0, "other": 0.0}}
    second = {"head": {"count": 1, "by": ["other.score"]}, "fuse": {"kind": "rrf", "k": 1}}
    result = asked(memory, lists, fuse=fuse, second=second)
    assert ranked(result) == [("c", 0.5), ("a", 3.0), ("b", 2.0)]
    assert [hit.moves["again"]["from"] for hit in result] == [3, 1, 2]
    assert dict(result[0].journey)["fuse"] == 3


def test_md_48_a_head_is_the_union_of_its_lists() -> None:
    """Absent counts as 0, equals are older first, ranks count from 1."""
    memory = holding("a", "b", "c", "d")
    lists = {"mine": {"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.5}, "other": {"c": 5.0}}
    by = ["mine.score", "other.score"]
    second = {"head": {"count": 2, "by": by}, "fuse": {"kind": "rrf", "k": 60}}
    result = asked(memory, lists, second=second)
    first, next_one = snap_one(1 / 61), snap_one(1 / 62)
    shares = {"d": 0.25}
    assert ranked(result) == [
        ("a", first + next_one),  # first of mine, second of other: the oldest of those without
        ("c", first),
        ("b", next_one),
        ("d", shares["d"]),
    ]


def test_a_second_fusion_without_a_head_takes_all() -> None:
    memory = holding("a", "b")
    second = {"fuse": {"kind": "rrf", "k": 1}}
    result = asked(memory, {"mine": {"a": 1.0, "b": 2.0}}, second=second)
    assert ranked(result) == [("b", 0.5), ("a", snap_one(1 / 3))]


def test_a_second_fusion_scales_the_columns_of_its_head() -> None:
    memory = holding("a", "b", "c")
    lists = {"mine": {"a": 8.0, "b": 4.0, "c": 2.0}}
    fuse = {"kind": "weighted", "scale": "max", "weights": {"mine": 1.0}}
    second = {"head": {"count": 2, "by": ["mine.score"]}, "fuse": fuse}
    assert ranked(asked(memory, lists, second=second)) == [("a", 1.0), ("b", 0.5), ("c", 2.0)]


def test_boosts_of_a_second_pass_touch_the_head_alone() -> None:
    memory = holding("a", "b", confidence={"a": 1.0, "b": 1.0})
    second = {
        "head": 1, "fuse": {"kind": "rrf", "k": 1}, "boosts": ["sure", "mine"],
    }  # fmt: skip
    boosts = {"sure": {"kind": "confidence", "weight": 0.25}}
    result = asked(memory, {"mine": {"a": 3.0, "b": 2.0}}, boosts=boosts, second=second)
    assert ranked(result) == [("a", 0.5 + 0.25 + 3.0), ("b", 2.0)]
    assert [part.label for part in result[0].explanation.parts] == ["again", "sure", "mine"]


def test_a_pass_that_is_off_changes_nothing() -> None:
    memory = holding("a", "b")
    second = {"enabled": False, "head": 1, "fuse": {"kind": "rrf"}}
    result = asked(memory, {"mine": {"a": 1.0, "b": 2.0}}, second=second)
    assert ranked(result) == [("b", 2.0), ("a", 1.0)]
    assert step_of(result, "again").skipped == "switched off"
    assert result.status == "complete"


# -- a reranker ------------------------------------------------------------------------------------

LISTS = {"mine": {"a": 3.0, "b": 2.0, "c": 1.0}, "other": {"b": 2.0, "a": 1.0}}
FUSE = {"kind": "weighted", "scale": "none", "weights": {"mine": 1.0, "other": 0.0}}
BEFORE = [("a", 3.0), ("b", 2.0), ("c", 1.0)]


@pytest.fixture
def toy() -> Iterator[ToyReranker]:
    made = ToyReranker()
    yield made
    made.released.set()


def reranked(memory: Memory, head: Any = 2, more: Data | None = None, **ask: Any) -> Result:
    second = {"head": head, "rerank": {"timeout_ms": 60_000, **(more or {})}}
    second |= {name: ask.pop(name) for name in ("boosts",) if name in ask}
    return asked(memory, LISTS, "question", fuse=FUSE, second=second, **{**_BOOSTS, **ask})


_BOOSTS: Data = {"boosts": {"sure": {"kind": "confidence", "weight": 0.25}}}


def outcome(result: Result) -> Any:
    return json.loads(result.receipt.to_bytes())["outcomes"].get("rerank")


def test_a_reranker_orders_a_head_and_the_tail_stays(toy: ToyReranker) -> None:
    memory = holding("a", "b", "c", memory=opened(reranker=toy), title={"a": "Title"})
    toy.answer = [0.25, 0.75]
    result = reranked(memory)
    assert toy.asked == [("question", ("Title\nabout a", "about b"))]
    assert ranked(result) == [("b", 0.75), ("a", 0.25), ("c", 1.0)]
    assert [hit.moves["rerank"] for hit in result] == [
        {"from": 2, "before": 2.0, "score": 0.75},
        {"from": 1, "before": 3.0, "score": 0.25},
        {"from": 3},
    ]  # fmt: skip
    assert outcome(result)["scores"] == [0.25, 0.75]


def test_a_reranker_may_leave_the_scores(toy: ToyReranker) -> None:
    memory = holding("a", "b", "c", memory=opened(reranker=toy))
    toy.answer = [0.25, 0.75]
    assert ranked(reranked(memory, more={"score": "keep"})) == [("b", 2.0), ("a", 3.0), ("c", 1.0)]


def test_equals_of_a_reranker_stay_as_they_stood(toy: ToyReranker) -> None:
    memory = holding("c", "b", "a", memory=opened(reranker=toy))
    toy.answer = [0.5, 0.75, 0.5]
    assert ids(reranked(memory, head=3)) == ["b", "a", "c"]


def test_boosts_after_a_reranker_change_its_scores(toy: ToyReranker) -> None:
    memory = holding("a", "b", "c", memory=opened(reranker=toy), confidence={"a": 1.0})
    toy.answer = [0.5, 0.625]
    second = {"head": 2, "rerank": {}, "boosts": ["sure"]}
    result = asked(memory, LISTS, "question", fuse=FUSE, second=second, **_BOOSTS)
    assert ranked(result) == [("a", 0.75), ("b", 0.625), ("c", 1.0)]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"failing": True}, "rerank_failed: ConnectionError: the toy reranker was told to fail"),
        ({"hanging": True}, "rerank_timeout: no answer within 100 ms"),
        ({"answer": [0.5]}, "rerank_failed: returned 1 score instead of 2 scores"),
        ({"answer": "sorry"}, "rerank_failed: returned str instead of 2 scores"),
        (
            {"answer": [math.nan, 1.0]},
            "rerank_failed: returned NaN or infinity instead of 2 scores",
        ),
        ({"answer": [[1.0], [2.0]]}, "rerank_failed: returned a table instead of 2 scores"),
    ],
)
def test_without_an_answer_the_fused_order_stays_and_the_reason_is_told(
    toy: ToyReranker, fault: Data, reason: str
) -> None:
    memory = holding("a", "b", "c", memory=opened(reranker=toy))
    for name, value in fault.items():
        setattr(toy, name, value)
    result = reranked(memory, more={"timeout_ms": 100})  # what hangs is let go after the test
    assert ranked(result) == BEFORE
    assert step_of(result, "rerank").skipped == reason
    assert result.skipped == {"rerank": reason}
    assert result.status == "degraded"
    assert outcome(result) == {"failed": reason}
    assert all("rerank" not in hit.moves for hit in result)
    with pytest.raises(Unavailable, match="the reranker returned no usable scores"):
        reranked(memory, more={"timeout_ms": 100, "on_failure": "raise"})


@pytest.mark.parametrize(
    ("unless", "asked_for"),
    [
        ({"depth": 2, "agree": 1}, 1),  # a b, b a: nobody at the same place
        ({"depth": 2, "agree": 2, "by": "overlap"}, 0),
        ({"depth": 1, "agree": 1, "by": "overlap"}, 1),
        ({"depth": 3, "agree": 1, "by": "overlap"}, 1),  # the second lane is shorter than that
    ],
)
def test_lanes_that_agree_make_a_reranker_needless(
    toy: ToyReranker, unless: Data, asked_for: int
) -> None:
    memory = holding("a", "b", "c", memory=opened(reranker=toy))
    toy.answer = [0.0, 0.5]
    result = reranked(memory, more={"unless": {"lanes": ["mine", "other"], **unless}})
    assert len(toy.asked) == asked_for
    assert ids(result) == (["b", "a", "c"] if asked_for else ["a", "b", "c"])
    if not asked_for:
        reason = "unanimity: mine and other agree on 2 of their first 2"
        assert step_of(result, "rerank").skipped == reason
        assert outcome(result) == {"skipped": reason}
    assert result.status == "complete"


def test_a_mode_may_leave_the_reranker_out(toy: ToyReranker) -> None:
    memory = holding("a", "b", "c", memory=opened(reranker=toy))
    modes = {"fast": {"lanes": ["mine", "other"], "rerank": False}}
    with pytest.raises(BadQuery, match="mode 'fast' would ignore the reranker") as caught:
        reranked(memory, modes=modes, mode="fast")
    assert caught.value.field == "mode"
    # a recipe whose users read why in its trace, under a name of theirs, may leave it out
    names = {"skipReason": "result.trace.rerank_skipped"}
    result = reranked(memory, modes=modes, mode="fast", names=names)
    assert (ranked(result), toy.asked, outcome(result)) == (BEFORE, [], None)
    assert step_of(result, "rerank").skipped == "mode_off: not in mode fast"
    assert result.status == "complete"


def test_a_memory_without_a_reranker_answers_as_before() -> None:
    memory = holding("a", "b", "c")
    result = reranked(memory)
    assert (ranked(result), result.status) == (BEFORE, "complete")
    assert step_of(result, "rerank").skipped.startswith("no_reranker: this memory has none")
    with pytest.raises(Unavailable, match="'rerank' is required"):
        reranked(memory, require=["rerank"])


def test_nobody_is_asked_about_nothing(toy: ToyReranker) -> None:
    memory = holding("a", memory=opened(reranker=toy))
    second = {"head": 2, "rerank": {}}
    result = asked(memory, {"mine": {}}, second=second)
    assert (len(result), toy.asked) == (0, [])
    assert step_of(result, "rerank").skipped.startswith("empty_candidates")


# -- what a recipe cannot say ----------------------------------------------------------------------

RRF = {"kind": "rrf"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"second": {"head": 2, "rerank": {}, "ties": ["id"]}}, "cannot have `ties`"),
        ({"second": {"head": 2, "rerank": {"score": "keep"}, "boosts": ["mine"]}}, "have `boosts`"),
        ({"second": {"rerank": {}}}, "needs `head`, the number"),
        ({"second": {"head": 2}}, "either `fuse` or `rerank`"),
        ({"second": {"head": 2, "fuse": RRF, "rerank": {}}}, "either `fuse` or `rerank`"),
        ({"second": {"head": {"count": 2, "by": ["mine"]}, "fuse": RRF}}, "has no column"),
        ({"second": {"head": {"count": 2, "by": ["your.score"]}, "fuse": RRF}}, "has no column"),
        ({"second": {"head": 2, "rerank": {"unless": {"lanes": ["mine", "x"]}}}}, "no lane"),
        ({"pass_ties": ["mine"]}, "has no column"),
        ({"ties": ["boost.sure"]}, "has no column"),
        ({"applied": ["nothing"]}, "no lane and no boost"),
        ({"fuse": {"kind": "smooth", "base": "mine", "lifted": "x"}}, "no lane 'x'"),
        (
            {
                "boosts": {"sure": {"kind": "confidence"}}, "applied": ["sure"],
                "fuse": {"kind": "weighted", "scale": "none", "weights": {"mine": 1, "sure": 1}},
            },
            "also has a weight in pass.0",
        ),
        ({"lanes": {"boosted": {"kind": "list"}}, "fuse": RRF}, "is reserved"),
        ({"order": [{"kind": "collapse", "by": "key", "keys": ["colour"]}]}, "neither an attr"),
    ],
)  # fmt: skip
def test_a_recipe_that_names_what_is_not_there_is_refused(more: Data, message: str) -> None:
    with pytest.raises(BadRecipe, match=message):
        recipe_of(recipe("mine", **more))


def test_a_tie_may_name_the_column_of_a_boost() -> None:
    memory = holding("a", "b", confidence={"b": 1.0})
    boosts = {"sure": {"kind": "confidence", "weight": 0.25}}
    more: Data = {"boosts": boosts, "applied": ["sure"]}
    for ties, order in ((["-boost.sure"], "ba"), (["boost.sure"], "ab")):
        result = asked(memory, {"mine": {"a": 1.0, "b": 0.75}}, ties=ties, **more)
        assert ranked(result) == [(one, 1.0) for one in order]
