"""Coverage: how much of a question a score covers, whatever the other hits are; by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import memoriter
from memoriter.core.calibration import Calibration
from memoriter.core.errors import BadRecipe
from memoriter.lanes.vector import coverage_of
from memoriter.memory.facade import Memory
from memoriter.rank.fuse import by_knots, shares
from memoriter.rank.grid import snap_one

WORDS: dict[str, Any] = {
    "format": 1, "name": "covered", "version": 1, "analyzer": "memoriter",
    "lanes": {"words": {
        "kind": "bm25", "pool": 50, "k1": 1.0, "b": 0.0, "fields": {"text": 1.0}, "ladder": True,
    }},
    "pass": [{"fuse": {
        "kind": "weighted", "scale": "coverage", "absent": "fixed", "weights": {"words": 0.5},
    }}],
}  # fmt: skip


def memory_of(*texts: str) -> Memory:
    memory = memoriter.open(":memory:", embedder=None)
    for n, text in enumerate(texts):
        memory.remember(text, id=f"r{n}")
    return memory


def idf(records: int, df: int) -> float:
    return snap_one(math.log(1.0 + (records - df + 0.5) / (df + 0.5)))


def test_knots_are_level_outside_and_linear_between() -> None:
    knots = ((1.0, 0.25), (2.0, 0.75), (4.0, 1.0))
    values = np.array([0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0, np.nan])
    expected = [0.25, 0.25, 0.5, 0.75, 0.875, 1.0, 1.0]
    assert by_knots(values, knots)[:-1].tolist() == expected
    assert np.isnan(by_knots(values, knots)[-1])


def test_fixed_weights_are_not_divided_by_their_sum() -> None:
    weights, answered = np.array([0.5, 0.25]), np.array([True, False])
    assert shares(weights, answered, "fixed").tolist() == [0.5, 0.25]


def test_a_word_that_no_record_has_counts_in_the_mass_of_the_question() -> None:
    memory = memory_of("port", "tea", "tea", "tea")
    result = memory.recall("port zebra", recipe=WORDS)
    # tf 1 with k1 = 1 and b = 0 saturates at 1, half of the limit of 2.
    share = idf(4, 1) / (2.0 * (idf(4, 1) + idf(4, 0)))
    assert result[0].score == pytest.approx(0.5 * share, abs=1e-9)
    assert memory.recall("port", recipe=WORDS)[0].score == pytest.approx(0.25, abs=1e-9)


def test_the_score_of_a_hit_does_not_depend_on_the_other_hits() -> None:
    both = memory_of("port", "port port port", "tea", "tea")
    result = both.recall("port", recipe=WORDS)
    scores = {hit.id: hit.score for hit in result}
    alone = both.recall("port", recipe=WORDS, where={"id": "r0"})
    assert alone[0].score == scores["r0"] < scores["r1"]


def test_a_misspelt_word_covers_its_share_of_the_words() -> None:
    memory = memory_of("kubernetes upgrade", "tea")
    (hit,) = memory.recall("kubernetix zebra", recipe=WORDS)
    assert hit.score == pytest.approx(0.5 * hit.lanes["words"].score / 2, abs=1e-9)


def test_cosines_become_normal_deviates_of_unrelated_texts() -> None:
    knots = coverage_of(Calibration((0.0, 0.25, 0.5, 0.625, 0.75)))
    deviates = [0.0, 1.2815515655, 2.3263478740, 3.0902323062, 3.7190164855]
    assert [x for x, _ in knots[:-1]] == [0.0, 0.25, 0.5, 0.625, 0.75]
    assert [y for _, y in knots[:-1]] == [snap_one(each / 6.0) for each in deviates]
    # The last slope goes on until the whole question is covered.
    slope = (knots[4][1] - knots[3][1]) / 0.125
    assert knots[-1] == (snap_one(0.75 + (1.0 - knots[4][1]) / slope), 1.0)


def test_equal_quantiles_make_one_knot() -> None:
    knots = coverage_of(Calibration((0.0, 0.25, 0.25, 0.25, 0.5)))
    xs = [x for x, _ in knots]
    assert xs == sorted(set(xs))
    assert coverage_of(Calibration((0.5,) * 5))[-1][1] == 1.0


def test_a_receipt_has_the_knots_and_verifies_them() -> None:
    receipt = memory_of("port", "tea").recall("port", recipe=WORDS).receipt
    body: Any = receipt.to_dict()
    assert list(body["coverage"]) == ["words"]
    assert memoriter.verify(receipt).ok


# -- every candidate is judged by every lane -------------------------------------------------------


def two_lanes(pool: int, *, complete: bool) -> dict[str, Any]:
    words = WORDS["lanes"]["words"]
    lanes = {"words": {**words, "pool": pool}, "twice": {**words, "k1": 2.0, "pool": pool}}
    fuse = {**WORDS["pass"][0]["fuse"], "weights": {"words": 0.5, "twice": 0.5}}
    return {**WORDS, "lanes": lanes, "pass": [{"fuse": fuse, "complete": complete}]}


def test_a_candidate_of_one_lane_gets_the_score_of_every_lane() -> None:
    memory = memory_of("port tea", "port port port", "tea")
    recipe = two_lanes(1, complete=True)
    recipe["lanes"]["twice"] |= {"dialect": "bare", "fields": {"text": 1.0, "title": 1.0}}
    memory.remember("nothing", title="port", id="titled")
    result = memory.recall("port", recipe=recipe)
    assert all(set(hit.lanes) >= {"twice"} for hit in result)
    assert memoriter.verify(result.receipt).ok


def test_the_plan_says_whether_a_record_outside_of_the_pools_could_be_a_hit() -> None:
    memory = memory_of("port port port", "port", "port tea tea", "tea")

    def noted(pool: int, limit: int) -> Any:
        result = memory.recall("port", limit, recipe=two_lanes(pool, complete=True))
        return {step.name: step.shows for step in result.plan.steps}["fuse"]

    assert noted(9, 3)["outside"] == "no other record has a score"
    assert noted(2, 1)["proved"] is True
    assert noted(2, 3)["proved"] is False


def test_without_completion_the_plan_says_nothing_about_it() -> None:
    memory = memory_of("port")
    result = memory.recall("port", recipe=two_lanes(1, complete=False))
    (fuse,) = [step for step in result.plan.steps if step.name == "fuse"]
    assert "outside" not in fuse.shows


def test_a_boost_that_reads_boosted_scores_sees_the_same_at_any_pool() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("My boss at the bakery was Liis", id="old")
    memory.remember("the bakery has many people, ovens and tables", session="s")
    memory.remember("Priit runs things", session="s", supersedes="old")
    memory.remember("a boss is needed for shops and hard to find", session="s")
    for n in range(30):
        memory.remember(f"My boss at the bakery, boss {n}")

    def first(pool: int) -> tuple[float, float | None]:
        pools = {f"lanes.{lane}.pool": pool for lane in ("words", "kin", "meaning", "moment")}
        result = memory.recall("Who was my boss at the bakery before?", 50, overrides=pools)
        assert memoriter.verify(result.receipt).ok
        (hit,) = [hit for hit in result if hit.id == "old"]
        return hit.score, hit.relevance

    assert len({first(pool) for pool in (2, 10, 31, 32, 200)}) == 1


# -- other weights for vectors of a model ----------------------------------------------------------


def weighed(memory: Memory) -> float:
    fuse = {**WORDS["pass"][0]["fuse"], "model_weights": {"words": 0.25}}
    return memory.recall("port", recipe={**WORDS, "pass": [{"fuse": fuse}]})[0].score


def test_a_model_has_weights_of_its_own() -> None:
    table = memoriter.open(":memory:")
    table.remember("port")
    model = memoriter.open(":memory:", embedder=lambda texts: [[1.0, 0.0]] * len(texts))
    model.remember("port")
    assert weighed(table) == 2 * weighed(model)


def test_weights_for_a_model_name_only_signals_that_have_weights() -> None:
    fuse = {**WORDS["pass"][0]["fuse"], "model_weights": {"other": 0.25}}
    with pytest.raises(BadRecipe, match="other"):
        memory_of("port").recall("port", recipe={**WORDS, "pass": [{"fuse": fuse}]})
