"""What mnestic promises of its rows, and of its exactness: MN-24 to MN-30, MN-42 to MN-44."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.claims import hybrid_recall
from tests.claims.corpus import CORPUS, close, open_corpus
from tests.claims.mnestic import FUSED, GRAPH, diverse, hybrid
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import BadRecipe
from memoriter.doors.cli.main import app
from memoriter.memory.facade import Memory
from memoriter.why.result import Result

LEG: dict[str, Any] = {"overrides": {"lanes.graph": GRAPH}, "seeds": ["m01"]}


def test_mn_24_rows_are_pairs_or_one_for_every_leg(vectors: Memory) -> None:
    result = hybrid(vectors)
    assert result.rows() == close(FUSED, 1e-7)
    rows = result.rows(detailed=True)
    expected = [
        ("m02", 0.032018, "semantic", 4, 0.990202), ("m02", 0.032018, "text", 1, 3.427714),
        ("m17", 0.031514, "semantic", 5, 0.988165), ("m17", 0.031514, "text", 2, 3.091663),
        ("m01", 0.030536, "semantic", 6, 0.970216), ("m01", 0.030536, "text", 5, 1.576748),
    ]  # fmt: skip
    for row, (id, score, list_id, leg_rank, leg_score) in zip(rows, expected, strict=False):
        assert (row.id, row.list_id, row.leg_rank) == (id, list_id, leg_rank)
        assert (row.score, row.leg_score) == pytest.approx((score, leg_score), abs=1e-6)
    assert [row.list_id for row in rows if row.id == "m18"] == ["semantic"]
    keys = [(-row.score, row.id, row.list_id) for row in rows]
    assert keys == sorted(keys)


def test_mn_25_a_leg_s_rank_is_the_one_that_was_fused(vectors: Memory) -> None:
    twice = {"mine": [("m05", 1.0), ("m06", 2.0), ("m05", 3.0)]}
    rows = hybrid(vectors, limit=20, lists=twice).rows(detailed=True)
    own = [(row.id, row.leg_rank, row.leg_score) for row in rows if row.list_id == "mine"]
    assert sorted(own) == [("m05", 1, 3.0), ("m06", 2, 2.0)]
    for list_id in ("semantic", "text"):
        ranks = sorted(row.leg_rank for row in rows if row.list_id == list_id)
        assert ranks == list(range(1, len(ranks) + 1))


def test_mn_26_leg_scores_are_raw_with_the_distance_beside(vectors: Memory) -> None:
    rows = {(r.id, r.list_id): r for r in hybrid(vectors, **LEG).rows(detailed=True)}
    near = rows["m02", "semantic"]
    assert (near.leg_score, near.distance) == pytest.approx((0.990202, 0.009798), abs=1e-6)
    assert (near.leg_rank, near.parent, near.depth) == (4, None, None)
    assert rows["m02", "text"].leg_score == pytest.approx(3.4277138, abs=1e-6)
    assert rows["m02", "text"].distance is None
    assert rows["m09", "graph"].leg_score == -2.0


@pytest.mark.parametrize("k", [0, 1, 60, 7.5, 1000])
def test_mn_27_the_score_follows_from_the_rows(vectors: Memory, k: float) -> None:
    options = {"overrides": {**LEG["overrides"], "rrf_k": k}, "seeds": ["m01"]}
    rows = hybrid(vectors, limit=20, lists={"recency": "cycle"}, **options).rows(detailed=True)
    for id in {row.id for row in rows}:
        legs = [row for row in rows if row.id == id]
        total = sum(1 / (k + row.leg_rank) for row in legs)
        assert legs[0].score == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("limit", [1, 2, 4, 7])
def test_mn_28_a_limit_counts_items_and_each_comes_with_all_its_legs(
    vectors: Memory, limit: int
) -> None:
    whole = hybrid(vectors, limit=20, **LEG).rows(detailed=True)
    rows = hybrid(vectors, limit=limit, **LEG).rows(detailed=True)
    assert rows == whole[: len(rows)]
    assert len({row.id for row in rows}) == limit
    assert len(rows) <= limit * 3


def test_mn_29_with_mmr_rows_tell_the_rank(vectors: Memory) -> None:
    rows = hybrid(vectors, overrides={"mmr": True, "mmr.k": 3}).rows(detailed=True)
    assert [(row.id, row.rank, row.list_id, row.leg_rank) for row in rows] == [
        ("m02", 1, "semantic", 4), ("m02", 1, "text", 1),
        ("m10", 2, "text", 3), ("m16", 3, "semantic", 9),
    ]  # fmt: skip
    scores = [row.score for row in rows]
    assert scores == pytest.approx([0.032018, 0.032018, 0.015873, 0.014493], abs=1e-6)
    # The program shows cosine - 1 of a vector; here it is the negative distance.
    raw = [row.leg_score if row.distance is None else -row.distance for row in rows]
    assert raw == pytest.approx([-0.009798, 3.427714, 1.791759, -0.245406], abs=1e-6)
    every = hybrid(vectors, overrides={"mmr": True, "mmr.k": 0}).rows(detailed=True)
    assert [(row.rank, row.list_id) for row in every] == sorted(
        (row.rank, row.list_id) for row in every
    )
    for row in every:
        legs = [each for each in every if each.id == row.id]
        assert row.score == pytest.approx(sum(1 / (60 + each.leg_rank) for each in legs), abs=1e-9)


def test_mn_30_every_hit_says_which_signals_brought_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "corpus.db")
    monkeypatch.setenv("MEMORITER_STORE", place)
    with memoriter.open(place, embedder=None) as memory:
        memory.remember_many({"text": note.text, "id": note.id} for note in CORPUS)
        overrides = {"vector_index": False}
        result = memory.recall("pricing OR berlin", recipe="mnestic", overrides=overrides)
    expected = [(row.id, row.list_id, row.leg_rank, row.leg_score) for row in _rows(result)]
    assert expected[0][:3] == ("m02", "text", 1)
    shown = json.loads(json.dumps(result.to_dict()))
    assert _from_json(shown) == expected
    call = ["recall", "pricing OR berlin", "--recipe", "mnestic", "--json"]
    done = CliRunner().invoke(app, [*call, "--override", "vector_index=false"])
    assert done.exit_code == 0, done.output
    assert _from_json(json.loads(done.stdout)) == expected


def _rows(result: Result) -> list[Any]:
    return result.rows(detailed=True)


def _from_json(shown: Any) -> list[tuple[str, str, int, float]]:
    return [
        (hit["record"]["id"], label, lane["rank"], lane["score"])
        for hit in shown["hits"]
        for label, lane in hit["lanes"].items()
    ]


def test_mn_42_relevance_is_the_raw_sum_and_may_be_scaled(vectors: Memory) -> None:
    assert diverse(vectors, 5) == ["m02", "m10", "m16", "m01", "m09"]
    assert diverse(vectors, 5, 1.0) == ["m02", "m17", "m01", "m09", "m18"]
    unit = diverse(vectors, 5, overrides={"order.0.relevance": "unit"})
    assert unit[:2] == ["m02", "m09"]  # on one scale with likeness, relevance has more to say


@pytest.mark.parametrize("name", ["nope", "text"])
def test_mn_42_an_unknown_column_of_vectors_is_an_error(vectors: Memory, name: str) -> None:
    with pytest.raises(BadRecipe, match=repr(name)):
        diverse(vectors, overrides={"mmr.embedding_col": name})


def test_mn_43_candidates_without_a_vector_follow_and_are_reported() -> None:
    with open_corpus(vectors=True) as memory:
        memory.remember("berlin pricing", id="bare")
        memory.remember("berlin", id="bone")
        overrides = {"mmr": True, "mmr.k": 3}
        result = hybrid(memory, overrides=overrides)
        assert [hit.id for hit in result][3:] == ["bare", "bone"]
        (step,) = [step for step in result.plan.steps if step.name == "mmr"]
        assert (step.shows["taken"], step.shows["without a vector"]) == (3, 2)


def test_mn_44_equals_go_by_id_so_that_two_runs_agree() -> None:
    ids = ["c", "a", "d", "b"]
    for order in (ids, ids[::-1]):
        with memoriter.open(":memory:", embedder="given:2") as memory:
            memory.remember_many({"text": "same", "id": id, "vector": [1.0, 0.0]} for id in order)
            overrides = {"vector_k": 2, "fts_k": 2}
            result = memory.recall("same", recipe="mnestic", vector=[1.0, 0.0], overrides=overrides)
            assert [hit.id for hit in result] == ["a", "b"]


def test_mn_44_exact_lanes_find_all_that_exact_fusion_finds() -> None:
    """The published figure on such a set is .954; ties by id and exact lanes make it 1."""
    made = hybrid_recall.made(entities=120, chunks=480, queries=25, seed=1234)
    assert hybrid_recall.recall_at_10(made) == 1.0
