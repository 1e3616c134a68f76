"""What mnestic, jeffs-brain, Comis and engrava promise of meaning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.claims.corpus import VECTOR, close, ids, open_corpus, open_empty, scores
from tests.claims.embedders import Counting, alone, with_lane, worded

import memoriter
from memoriter.core.errors import BadQuery
from memoriter.embed.static import Static
from memoriter.memory.facade import Memory
from memoriter.rank.units import units

# --- mnestic ---------------------------------------------------------------------------------


def test_mn_05_an_exact_search_says_so_in_its_plan(vectors: Memory) -> None:
    ask: dict[str, Any] = {"recipe": alone(), "vector": VECTOR}
    assert "scan exact" in str(vectors.plan("", **ask))
    wide = vectors.recall("", 20, **ask)
    wider = vectors.recall("", 20, recipe=alone(exact_up_to=10**6), vector=VECTOR)
    assert scores(wide, "vector") == scores(wider, "vector")


def test_mn_05_a_wider_approximate_search_finds_no_less() -> None:
    random = np.random.default_rng(5)
    matrix = np.rint(random.standard_normal((9_000, 64)) * 2**20) * 2.0**-20
    queries = units(np.rint(random.standard_normal((12, 64)) * 2**20) * 2.0**-20)
    best = np.argsort(-(units(matrix) @ queries.T), axis=0, kind="stable")[:10].T
    with open_empty("given:64") as memory:
        memory.remember_many(
            {"text": "x", "id": f"r{n}", "vector": row.tolist()} for n, row in enumerate(matrix)
        )
        recalls: list[float] = []
        for pool in (10, 40, 160):
            recipe = alone(pool=pool, exact_up_to=0, min_cosine=-1.0)
            results = [memory.recall("", 10, recipe=recipe, vector=q.tolist()) for q in queries]
            hits = zip(results, best, strict=True)
            recalls.append(
                sum(len({f"r{n}" for n in true} & set(ids(r))) for r, true in hits) / best.size
            )
    assert recalls == sorted(recalls)
    assert recalls[-1] >= 0.99


@pytest.mark.parametrize("kind", [np.float32, np.float64, float])
def test_mn_06_vectors_of_32_and_of_64_bits_are_taken(vectors: Memory, kind: Any) -> None:
    asked = [kind(value) for value in (0.0, 0.5, 0.25, 0.0)]
    result = vectors.recall("", 3, recipe=alone(), vector=asked)
    plain = vectors.recall("", 3, recipe=alone(), vector=[0.0, 0.5, 0.25, 0.0])
    assert scores(result, "vector") == scores(plain, "vector")
    array = np.array(asked, np.float32 if kind is np.float32 else np.float64)
    same = vectors.recall("", 3, recipe=alone(), vector=array)  # pyright: ignore[reportArgumentType]  # an array is a list of numbers
    assert scores(same, "vector") == scores(plain, "vector")


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ([1.0, 0.0], "expected 4 numbers, got 2"),
        ([math.nan, 0.0, 0.0, 1.0], "NaN or infinity"),
        ([math.inf, 0.0, 0.0, 1.0], "NaN or infinity"),
    ],
)
def test_mn_06_a_vector_that_cannot_be_is_a_named_error(
    vectors: Memory, vector: list[float], message: str
) -> None:
    with pytest.raises(BadQuery, match=message) as caught:
        vectors.recall("", recipe=alone(), vector=vector)
    assert caught.value.field == "vector"


def test_mn_26_the_score_of_the_leg_is_the_cosine_and_the_distance_stands_beside(
    vectors: Memory,
) -> None:
    result = vectors.recall("pricing", 20, recipe=with_lane(worded("mnestic")), vector=VECTOR)
    (hit,) = [hit for hit in result if hit.id == "m02"]
    leg = hit.lanes["vector"]
    assert (leg.rank, leg.score) == (4, pytest.approx(0.990202, abs=1e-6))
    assert leg.why.facts["distance"] == 1.0 - leg.score


# --- jeffs-brain -----------------------------------------------------------------------------


def test_jb_11_the_vector_lane_runs_beside_words_on_the_raw_text_embedded_once() -> None:
    model = Counting()
    with open_empty(model) as memory:
        memory.remember("The pricing decision", id="m01", source={"path": "wiki/m01.md"})
        result = memory.recall("What was the PRICING decision?!", recipe="jeffs-brain")
        assert set(result.used) == {"words", "vector"}
        assert model.asked == [("What was the PRICING decision?!",)]
        model.asked.clear()
        memory.recall("pricing", recipe="jeffs-brain", mode="bm25")
        assert model.asked == []


# --- Comis -----------------------------------------------------------------------------------

COMIS = worded("comis")
LANE = with_lane(COMIS)
UNRELATED = "the cat slept on the window sill"


def noted(memory: Memory, *texts: str) -> Memory:
    for nth, text in enumerate(texts):
        memory.remember(text, id=f"r{nth}")
    return memory


def test_co_02_meaning_finds_what_shares_no_word() -> None:
    with noted(open_empty(Static()), "task due dates", UNRELATED) as memory:
        result = memory.recall("project deadlines", recipe=LANE)
        assert ids(result)[0] == "r0"
        assert set(result[0].lanes) == {"vector"}


def test_co_05_without_embeddings_it_is_not_found() -> None:
    texts = ("how to cook spaghetti", UNRELATED)
    with noted(open_empty(None), *texts) as without, noted(open_empty(Static()), *texts) as memory:
        assert ids(without.recall("pasta recipe", recipe=LANE)) == []
        assert ids(memory.recall("pasta recipe", recipe=LANE))[0] == "r0"


def test_co_06_embeddings_are_on_without_configuration() -> None:
    with memoriter.open(":memory:") as memory, memoriter.open(":memory:", embedder="auto") as auto:
        spaces = {space.space for each in (memory, auto) for space in each.embedding.status()}
        assert len(spaces) == 1
        noted(memory, "task due dates")
        assert memory.recall("project deadlines", recipe=LANE).used == ("words", "vector")


@pytest.mark.parametrize("query", ["pricing", "coffee after lunch", "learning machine"])
def test_co_07_without_a_vector_the_answer_is_that_of_words(corpus: Memory, query: str) -> None:
    plain = corpus.recall(query, recipe=COMIS)
    result = corpus.recall(query, recipe=LANE)
    assert scores(result) == scores(plain)
    assert result.skipped == {"vector": "this memory has no embedder"}
    model = Counting()
    with open_empty(model) as memory:
        for record in reversed(corpus.browse(limit=50).records):
            memory.remember(record.text, id=record.id)
        model.failing = True
        failed = memory.recall(query, recipe=LANE)
        assert scores(failed) == scores(plain)
        assert failed.skipped == {"vector": "the embedder failed: away"}


def test_co_18_nearest_first_and_the_identical_text_at_its_head() -> None:
    texts = ("the meeting is on Monday", "a meeting on Tuesday", UNRELATED)
    with noted(open_empty(Static()), *texts) as memory:
        cosines = scores(memory.recall(texts[0], recipe=alone(min_cosine=-1.0)), "vector")
    assert [id_ for id_, _ in cosines] == ["r0", "r1", "r2"]
    assert cosines[0][1] == pytest.approx(1.0, abs=1e-6)


# --- engrava ---------------------------------------------------------------------------------

ENGRAVA = with_lane(worded("engrava"))


def test_en_03_the_score_is_the_raw_cosine_and_negative_ones_are_dropped() -> None:
    with open_empty("given:2") as memory:
        for id_, vector in (("near", [4.0, 3.0]), ("far", [3.0, 4.0]), ("away", [-1.0, 0.1])):
            memory.remember("x", id=id_, vector=vector)
        result = memory.recall("", recipe=alone(), vector=[2.0, 0.0])
        assert scores(result, "vector") == close([("near", 0.8), ("far", 0.6)])


def test_en_03_without_a_vector_the_text_is_embedded_and_a_given_one_is_taken() -> None:
    model = Counting()
    with noted(open_empty(model), "port", UNRELATED) as memory:
        memory.recall("port", recipe=ENGRAVA)
        (asked,) = Static().embed(["a cat asleep"], "query")
        assert asked is not None
        result = memory.recall("port", recipe=alone(min_cosine=-1.0), vector=asked.tolist())
        assert model.asked == [("port",)]
        assert ids(result)[0] == "r1"


def test_en_03_a_wrong_size_is_named_and_a_zero_vector_is_active_and_empty() -> None:
    with open_corpus(vectors=True) as memory:
        with pytest.raises(BadQuery, match="expected 4 numbers, got 3"):
            memory.recall("x", recipe=ENGRAVA, vector=[1.0, 0.0, 0.0])
        result = memory.recall("pricing", recipe=ENGRAVA, vector=[0.0] * 4)
        assert (result.used, result.status) == (("words", "vector"), "complete")
        assert scores(result, "vector") == []
        assert "vector zero, which points nowhere" in str(result.plan)
