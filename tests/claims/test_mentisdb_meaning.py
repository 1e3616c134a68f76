"""What MentisDB promises of meaning: MD-25 to MD-31."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.claims.corpus import CORPUS, ids, open_corpus, open_empty, scores
from tests.claims.embedders import Counting, alone, with_lane, worded

import memoriter
from memoriter.embed.hash import Hash
from memoriter.memory.embedders import KNOWN, embedder_of
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import ToyEmbedder

MENTISDB = worded("mentisdb")
RECIPE = with_lane(MENTISDB, min_cosine=0.04, fresh=0.5, stale=0.3)


class Other(ToyEmbedder):
    """Another space."""

    name = "other"
    fingerprint = "other/1"

    def embed(self, texts: Any, side: Any) -> list[Any]:
        return super().embed([text[::-1] + "b" for text in texts], side)


def noted(memory: Memory, *texts: str) -> Memory:
    for nth, text in enumerate(texts):
        memory.remember(text, id=f"r{nth}")
    return memory


def test_md_25_the_query_is_embedded_once_per_call() -> None:
    model = Counting()
    with noted(open_empty(model), "cache latency", "ports") as memory:
        for recipe in (RECIPE, "semantic", "memoriter"):
            model.asked.clear()
            memory.recall("slow caches", recipe=recipe)
            assert model.asked == [("slow caches",)]


def test_md_25_and_once_per_space() -> None:
    models = [ToyEmbedder(), Other()]
    with noted(open_empty(models), "cache", "port") as memory:
        memory.maintain()
        before = [model.calls for model in models]
        memory.recall("port")
        assert [model.calls for model in models] == [calls + 1 for calls in before]


def test_md_26_a_cosine_at_the_floor_stays_and_below_it_is_dropped() -> None:
    with open_empty("given:2") as memory:
        for id_, cosine in (("half", 0.5), ("more", 0.041), ("less", 0.039), ("away", -0.5)):
            memory.remember("x", id=id_, vector=[cosine, (1.0 - cosine**2) ** 0.5])
        for floor, expected in (
            (0.04, ["half", "more"]),
            (0.5, ["half"]),
            (float(np.nextafter(0.5, 1.0)), []),
        ):
            result = memory.recall("x", vector=[1.0, 0.0], recipe=alone(min_cosine=floor))
            assert ids(result) == expected


def test_md_26_every_candidate_is_compared_and_the_pool_is_the_recipes() -> None:
    random = np.random.default_rng(1)
    matrix = np.abs(random.standard_normal((400, 8)))
    with open_empty("given:8") as memory:
        memory.remember_many(
            {"text": "x", "id": f"r{n}", "vector": row.tolist()} for n, row in enumerate(matrix)
        )
        query = np.abs(random.standard_normal(8))
        result = memory.recall("", 1000, recipe=alone(), vector=query.tolist())
        units = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        order = np.argsort(-(units @ query), kind="stable")[:256]
        assert ids(result) == [f"r{n}" for n in order]


def test_md_27_vectors_count_half_when_fresh_and_less_when_stale(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path) as memory:
        noted(memory, "cache latency")
        fresh = memory.recall("cache latency", recipe=RECIPE)
        memory.remember("a managed write keeps them fresh")
        again = memory.recall("cache latency", recipe=RECIPE)
    with memoriter.open(path, embedder=None) as memory:
        memory.remember("written without a vector")
    with memoriter.open(path) as memory:
        stale = memory.recall("cache latency", recipe=RECIPE)
        memory.maintain()
        mended = memory.recall("cache latency", recipe=RECIPE)
    cosines = [dict(scores(r, "vector"))["r0"] for r in (fresh, again, stale, mended)]
    assert cosines == [pytest.approx(value, abs=1e-6) for value in (0.5, 0.5, 0.3, 0.5)]
    assert ["1 row behind" in str(r.plan) for r in (fresh, again, stale)] == [False, False, True]
    assert ["weight 0.5" in str(fresh.plan), "weight 0.3" in str(stale.plan)] == [True, True]


def test_md_28_the_best_weighted_space_counts_never_the_sum() -> None:
    models = [ToyEmbedder(), Other()]
    with noted(open_empty(models), "port ssh", "queue token", "cache") as memory:
        memory.maintain()
        result = memory.recall("ssh port queue", recipe=alone(min_cosine=-1.0, fresh=0.5))
        for hit in result:
            (why,) = [lane.why for lane in hit.lanes.values()]
            values = [part.value for part in why.parts]
            assert (why.op, why.value, len(values)) == ("max", max(values), 2)
            assert why.value <= 0.5


def test_md_29_without_usable_vectors_the_answer_is_that_of_words() -> None:
    model, late = Counting(), Counting()
    words = open_corpus()
    with open_empty(model) as failing, open_empty(None) as none, open_empty(late) as bare:
        for memory in (failing, none):
            for note in CORPUS:
                memory.remember(note.text, id=note.id)
        model.failing = True
        for query in ("pricing Berlin", "coffee"):
            answer = scores(words.recall(query, recipe=MENTISDB))
            for memory, why in ((failing, "the embedder failed"), (none, "has no embedder")):
                result = memory.recall(query, recipe=RECIPE)
                assert scores(result) == answer
                assert (result.used, result.status) == (("words",), "degraded")
                assert why in result.skipped["vector"]
        late.failing = True
        bare.remember("port")
        late.failing = False
        assert bare.recall("port", recipe=RECIPE).skipped == {
            "vector": "no record has a vector yet"
        }


def test_md_29_a_damaged_file_of_vectors_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path, flush_rows=4) as memory:
        noted(memory, *(f"port note number {n}" for n in range(9)))
        memory.maintain()
        before = scores(memory.recall("port note", recipe=RECIPE), "vector")
    for file in (tmp_path / "m.db.idx").glob("*.seg"):
        body = bytearray(file.read_bytes())
        body[len(body) // 2] ^= 0xFF
        file.write_bytes(body)
    with memoriter.open(path) as memory:
        result = memory.recall("port note", recipe=RECIPE)
        assert scores(result, "vector") == before
        assert result.status == "complete"


def test_md_30_a_local_embedder_is_there_after_a_plain_install() -> None:
    with memoriter.open(":memory:") as memory:
        (space,) = memory.embedding.status()
        assert (space.embedder, space.serves) == ("table", True)
    assert isinstance(embedder_of("hash"), Hash)
    assert {"minilm", "hash", "table"} <= set(KNOWN)


@pytest.mark.parametrize(
    ("other", "cosine"),
    [
        ("Performance budget for database latency", 0.95858),
        ("Invoice reconciliation for vendor payments", 0.15991),
    ],
)
def test_md_30_the_hash_embedder_has_the_published_cosines(other: str, cosine: float) -> None:
    with noted(open_empty("hash"), other) as memory:
        result = memory.recall("Latency budget for database performance", recipe=alone())
        assert result[0].lanes["vector"].score == pytest.approx(cosine, abs=5e-6)


@pytest.mark.parametrize(
    ("text", "query"),
    [("memory lookups are slow", "cache latency"), ("joyful", "happy")],
)
def test_md_31_meaning_is_matched_well_above_an_unrelated_sentence(text: str, query: str) -> None:
    with memoriter.open(":memory:") as memory:
        noted(memory, text, "the invoice was sent to the landlord on Tuesday")
        cosine_by_id = dict(scores(memory.recall(query, recipe=alone(min_cosine=-1.0)), "vector"))
    assert cosine_by_id["r0"] >= cosine_by_id["r1"] + 0.2


def test_md_31_it_is_found_without_a_shared_word() -> None:
    with memoriter.open(":memory:") as memory:
        noted(memory, "memory lookups are slow")
        (hit,) = memory.recall("cache latency", recipe=RECIPE)
    assert (hit.id, hit.matched, set(hit.lanes)) == ("r0", {}, {"vector"})
