"""A memory that reads several vector spaces: a record counts what it is worth in the best one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memoriter
from memoriter.core.explanation import Explanation, reconciles
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import ToyEmbedder

TEXTS = ("port ssh", "queue of tokens", "cache memory", "a note on ports", "wedding plans")


class Mirror(ToyEmbedder):
    """Another space: a text is read backwards, every other letter."""

    name = "mirror"
    fingerprint = "mirror/1"

    def embed(self, texts: Sequence[str], side: Any) -> list[Any]:
        return super().embed([text[::-2] for text in texts], side)


def both() -> tuple[ToyEmbedder, Mirror]:
    return ToyEmbedder(), Mirror()


def filled(memory: Memory) -> Memory:
    memory.remember_many({"text": text, "id": text} for text in TEXTS)
    memory.maintain()
    return memory


def cosines(model: ToyEmbedder, query: str) -> dict[str, float]:
    (asked,) = model.embed([query], "query")
    made = zip(TEXTS, model.embed(TEXTS, "record"), strict=True)
    return {text: float(np.asarray(asked, float) @ np.asarray(v, float)) for text, v in made}


def ask(memory: Memory, query: str, **overrides: float) -> Any:
    changed = {f"lanes.meaning.{key}": value for key, value in overrides.items()}
    wide = {"lanes.meaning.min_cosine": -1.0, **changed}
    return memory.recall(query, recipe="semantic", overrides=wide)


def test_the_best_space_counts_and_never_the_sum() -> None:
    with filled(memoriter.open(":memory:", embedder=both())) as memory:
        result = ask(memory, "port of tokens")
        one, other = (cosines(model, "port of tokens") for model in both())
        for hit in result:
            best = max(one[hit.id], other[hit.id])
            assert hit.lanes["meaning"].score == pytest.approx(best, abs=1e-9)
            why = hit.lanes["meaning"].why
            assert (why.op, [part.label for part in why.parts]) == ("max", ["toy", "mirror"])
            assert all(
                [p.label for p in part.parts] == ["cosine", "freshness"] for part in why.parts
            )
            assert reconciles(why)
        assert {max(one[h.id], other[h.id]) == one[h.id] for h in result} == {True, False}


def test_each_space_is_weighed_by_its_own_freshness() -> None:
    with memoriter.open(":memory:", embedder=both()) as memory:
        filled(memory)
        memory.remember("late", id="late")  # embedded in the space that serves alone
        result = ask(memory, "port ssh", fresh=0.5, stale=0.25)
        parts = {part.label: part for part in result[0].lanes["meaning"].why.parts}
        assert parts["toy"].parts[1] == Explanation("freshness", 0.5)
        assert parts["mirror"].parts[1] == Explanation("freshness", 0.25)
        assert "spaces {toy 0.5, mirror 0.25}" in str(result.plan)
        assert memory.maintain().embedded == 1
        assert "spaces {toy 0.5, mirror 0.5}" in str(memory.plan("x", overrides=_halves()))


def _halves() -> dict[str, object]:
    return {"lanes.meaning.fresh": 0.5, "lanes.meaning.stale": 0.25}


def test_a_query_is_embedded_once_in_each_space() -> None:
    models = both()
    with filled(memoriter.open(":memory:", embedder=models)) as memory:
        before = [model.calls for model in models]
        memory.recall("port")
        memory.plan("port")
        memory.recall("port", recipe="lexical")
        assert [model.calls for model in models] == [count + 1 for count in before]


def test_a_space_that_does_not_answer_degrades_the_answer() -> None:
    models = both()
    with filled(memoriter.open(":memory:", embedder=models)) as memory:
        models[1].failing = True
        result = ask(memory, "port ssh")
        assert (result.status, result.used) == ("degraded", ("meaning",))
        assert "the embedder failed" in result.skipped["meaning.mirror"]
        assert result[0].id == "port ssh"
        models[0].failing, models[1].failing = True, False
        assert "meaning.toy" in ask(memory, "port ssh").skipped
        models[1].failing = True
        assert "meaning" in memory.recall("port ssh").skipped


def test_a_vector_of_the_callers_own_belongs_to_the_serving_space() -> None:
    models = both()
    with filled(memoriter.open(":memory:", embedder=models)) as memory:
        (vector,) = models[0].embed(["port ssh"], "query")
        assert vector is not None
        result = memory.recall("", recipe="semantic", vector=vector.tolist())
        assert (result[0].id, result.status) == ("port ssh", "complete")


def test_filters_past_views_and_forgetting_hold_in_every_space() -> None:
    with filled(memoriter.open(":memory:", embedder=both())) as memory:
        seen = memory.status().time
        memory.forget("wedding plans")
        memory.remember("another", id="another")
        memory.maintain()
        now = {hit.id for hit in ask(memory, "wedding")}
        then = memory.recall(
            "wedding",
            recipe="semantic",
            known_at=seen,
            overrides={"lanes.meaning.min_cosine": -1.0},
        )
        assert now == {*TEXTS, "another"} - {"wedding plans"}
        assert {hit.id for hit in then} == set(TEXTS) - {"wedding plans"}


def test_a_space_filled_by_a_migration_is_read_beside(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path) as memory:
        memory.remember_many({"text": text, "id": text} for text in TEXTS)
        memory.embedding.migrate("hash")
    with memoriter.open(path, embedder=["table", "hash"]) as memory:
        result = memory.recall("cache memory", recipe="semantic")
        assert [part.label for part in result[0].lanes["meaning"].why.parts] == [
            "static-en",
            "hash",
        ]
        assert set(result.receipt.body["outcomes"]) >= {"vector", "vectors"}  # pyright: ignore[reportCallIssue, reportArgumentType]  # plain data
        assert memory.replay(result).same
        assert memory.maintain().behind == 0
        assert memory.verify_store().sound


def test_a_memory_with_one_space_shows_no_others() -> None:
    with filled(memoriter.open(":memory:", embedder=[ToyEmbedder()])) as memory:
        result = ask(memory, "port ssh")
        assert result[0].lanes["meaning"].why.label == "cosine"
        assert "spaces" not in str(result.plan)


@pytest.mark.parametrize(
    "embedders", [[], ["table", None], ["table", "table"], ["hash"] * 5, ["nope"], [5]]
)
def test_a_wrong_list_of_embedders_is_refused(embedders: Any) -> None:
    with pytest.raises(memoriter.InputError, match="embedder"):
        memoriter.open(":memory:", embedder=embedders)


def test_a_query_vector_of_zeros_finds_nothing_and_says_so() -> None:
    with filled(memoriter.open(":memory:", embedder=ToyEmbedder())) as memory:
        result = memory.recall("port", recipe="semantic", vector=[0.0] * 8)
        assert (len(result), result.status, result.used) == (0, "complete", ("meaning",))
        assert "vector zero, which points nowhere" in str(result.plan)


def test_spaces_are_replayed_in_the_order_in_which_they_are_read() -> None:
    one, two = both()
    with filled(memoriter.open(":memory:", embedder=["table", two, one, "hash"])) as memory:
        result = memory.recall("cache memory")
        two.failing = True
        failed = memory.recall("cache memory")
        memory.remember("cache memory once more")
        for then in (result, failed):
            replay = memory.replay(then)
            assert replay.same, replay.differences
