"""What MentisDB claims of its vectors, by number: MD-25 to MD-31."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.claims.corpus import close, ids, open_empty
from tests.claims.mentisdb_asking import asked, near

import memoriter
from memoriter.embed.callable import FunctionEmbedder
from memoriter.embed.hash import Hash
from memoriter.embed.memory_en import MemoryModel
from memoriter.embed.static import Static
from memoriter.memory.embedders import embedder_of
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import CountedEntropy, HandClock
from memoriter.why.result import Result

QUESTION, ANSWER = "cache latency", "memory lookups are slow"


def ask(memory: Memory, text: str, **more: Any) -> Result:
    return memory.recall(text, 1000, recipe="mentisdb", **more)


def by(result: Result, name: str) -> list[tuple[str, float]]:
    """One of MentisDB's numbers of each hit."""
    return [(hit.id, hit.scores[name]) for hit in result]


def cosine(embedder: Any, one: str, two: str) -> float:
    first, second = (np.asarray(each, np.float64) for each in embedder.embed([one, two], "record"))
    return float(first @ second)


def test_md_25_the_question_is_embedded_once_whatever_is_switched_on() -> None:
    seen: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        seen.extend(texts)
        return [[1.0, 0.5] for _ in texts]

    with memoriter.open(":memory:", embedder=FunctionEmbedder(embed, "counting", 2)) as memory:
        memory.remember("cache latency", id="a")
        memory.remember("lunch", id="b", links=[{"target": "a", "kind": "related_to"}])
        for overrides in ({}, {"graph": True}, {"graph": True, "enable_reranking": True}):
            seen.clear()
            assert len(ask(memory, QUESTION, overrides=overrides)) == 2
            assert seen == [QUESTION]


def test_md_26_a_cosine_of_004_stays_and_what_lies_below_goes() -> None:
    memory = open_empty("given:2")
    for id, cosine in (("far", 0.039), ("at", 0.04), ("near", 0.9), ("away", -0.5)):
        memory.remember(id, id=id, vector=[cosine, (1.0 - cosine**2) ** 0.5])
    exact = {"lanes.meaning.min_cosine": 0.04 - 1e-7}  # a vector is kept to 2^-23
    result = ask(memory, "nothing of the kind", vector=[1.0, 0.0], overrides=exact)
    assert by(result, "vector") == close([("near", 0.45), ("at", 0.02)])
    on = open_empty("given:2")
    on.remember("on the border", id="on", vector=[1.0, 0.0])
    for floor, kept in ((1.0, ["on"]), (0.5, ["on"])):
        overrides = {"lanes.meaning.min_cosine": floor}
        assert ids(ask(on, "other", vector=[1.0, 0.0], overrides=overrides)) == kept


def test_md_26_all_candidates_are_compared_and_the_best_256_are_kept() -> None:
    memory = open_empty("given:2")
    for n in range(300):
        cosine = 0.1 + n * 0.003
        memory.remember(f"r{n}", id=f"{n}", vector=[cosine, (1.0 - cosine**2) ** 0.5])
    result = ask(memory, "other", vector=[1.0, 0.0])
    assert {hit.id for hit in result} == {f"{n}" for n in range(44, 300)}
    assert next(step.shows for step in result.plan.steps if step.name == "meaning")["pool"] == 256


def test_md_27_a_cosine_counts_half_when_vectors_are_up_to_date_and_less_when_not() -> None:
    """M26."""
    memory = open_empty("given:2")
    memory.remember("one", id="a", vector=[0.6, 0.8])

    def weight_and_score() -> tuple[Any, Any, float]:
        result = ask(memory, "other", vector=[1.0, 0.0])
        shows = next(step.shows for step in result.plan.steps if step.name == "meaning")
        return shows["weight"], shows.get("vectors"), result[0].scores["vector"]

    assert weight_and_score() == (0.5, None, pytest.approx(0.3, abs=1e-6))
    memory.remember("two", id="b", vector=[0.0, 1.0])
    assert weight_and_score() == (0.5, None, pytest.approx(0.3, abs=1e-6))
    memory.remember("three, without a vector", id="c")
    assert weight_and_score() == (0.3, "1 row behind", pytest.approx(0.18, abs=1e-6))


def test_md_28_of_two_spaces_the_better_value_counts_never_the_sum() -> None:
    spaces = (
        FunctionEmbedder(
            lambda texts: [_turned(0.6 if "one" in t else 0.2, t) for t in texts], "left", 2
        ),
        FunctionEmbedder(
            lambda texts: [_turned(0.2 if "one" in t else 0.8, t) for t in texts], "right", 2
        ),
    )
    with memoriter.open(":memory:", embedder=list(spaces)) as memory:
        memory.remember("one", id="a")
        memory.remember("two", id="b")
        memory.maintain()
        result = ask(memory, "nothing shared")
        # .5 · max(.6, .2) and .5 · max(.2, .8)
        assert by(result, "vector") == close([("b", 0.4), ("a", 0.3)])
        assert [(hit.id, hit.score) for hit in result] == near(
            [("b", 36 * 0.4 + 0.05), ("a", 10.8)]
        )
        assert {hit.lanes["meaning"].why.op for hit in result} == {"max"}


def _turned(cosine: float, text: str) -> list[float]:
    """A vector with this cosine to that of the question."""
    return [1.0, 0.0] if "shared" in text else [cosine, (1.0 - cosine**2) ** 0.5]


def words_only(memory: Memory) -> tuple[Result, Result]:
    """What a memory answers, and what it would by words alone."""
    off = {"lanes.meaning.enabled": False}
    return ask(memory, QUESTION), ask(memory, QUESTION, overrides=off)


def told_of(result: Result) -> list[Any]:
    return [(hit.id, hit.score, hit.explanation.to_dict(), hit.scores) for hit in result]


def fill(memory: Memory) -> None:
    for n, text in enumerate(("the cache has a high latency", ANSWER, "lunch plans")):
        memory.remember(text, id=f"{n}")


def test_md_29_without_vectors_or_with_a_failing_embedder_words_answer() -> None:
    def fails(texts: Sequence[str]) -> list[list[float]]:
        raise OSError("gone")

    for embedder in (None, FunctionEmbedder(fails, "failing", 2)):
        with memoriter.open(":memory:", embedder=embedder) as memory:
            fill(memory)
            result, plain = words_only(memory)
            assert ids(result) == ["0"]
            assert told_of(result) == told_of(plain)
            assert (result.backend, list(result.skipped)) == ("lexical", ["meaning"])


def test_md_29_a_damaged_vector_costs_the_vectors_and_not_the_answer(tmp_path: Path) -> None:
    """M25."""
    place = tmp_path / "m.db"
    options: dict[str, Any] = {"clock": HandClock(), "entropy": CountedEntropy()}
    with memoriter.open(place, **options) as memory:
        fill(memory)
        assert ask(memory, QUESTION).backend == "hybrid"
    with sqlite3.connect(place) as file:
        first = "seq=(SELECT MIN(seq) FROM vectors)"
        file.execute(f"UPDATE vectors SET body=zeroblob(length(body)) WHERE {first}")  # noqa: S608  # ours
    file.close()
    with memoriter.open(place, **options) as memory:
        result, plain = words_only(memory)
        assert told_of(result) == told_of(plain)
        assert (ids(result), result.backend, result.status) == (["0"], "lexical", "degraded")
        assert "damaged" in result.skipped["meaning"]
        assert len(memory.browse().records) == 3
        assert memory.doctor().mended
        memory.maintain()
        assert ask(memory, QUESTION).backend == "hybrid"


def test_md_30_a_local_embedder_works_after_a_plain_install_and_theirs_can_be_chosen() -> None:
    with memoriter.open(":memory:") as memory:
        fill(memory)
        assert ask(memory, QUESTION).backend == "hybrid"
    assert isinstance(embedder_of("auto"), MemoryModel)
    theirs = embedder_of("hash")
    assert isinstance(theirs, Hash)
    assert theirs.dimension == 256
    with memoriter.open(":memory:", embedder="hash") as memory:
        fill(memory)
        assert ask(memory, "high latency").backend == "hybrid"
    one = "Latency budget for database performance"
    other = "Performance budget for database latency"
    far = "Invoice reconciliation for vendor payments"
    assert cosine(theirs, one, other) == pytest.approx(0.95858, abs=1e-4)  # G4
    assert cosine(theirs, one, far) == pytest.approx(0.15991, abs=1e-4)


@pytest.mark.parametrize(("one", "two"), [(QUESTION, ANSWER), ("happy", "joyful")])
def test_md_31_meaning_is_matched(one: str, two: str) -> None:
    unrelated = ("The bus to the airport leaves at noon.", "We had soup for lunch.")
    static = Static()
    far = max(cosine(static, one, each) for each in unrelated)
    assert cosine(static, one, two) >= far + 0.2


def test_md_31_a_record_is_found_that_shares_no_word_with_the_question() -> None:
    """M24."""
    with memoriter.open(":memory:") as memory:
        memory.remember("We had soup for lunch.", id="soup")
        memory.remember(ANSWER, id="answer")
        first = ask(memory, QUESTION)[0]
        assert (first.id, first.matched, first.scores["lexical"]) == ("answer", {}, 0.0)
        assert first.scores["vector"] > 0.0


def test_md_42_the_vector_of_a_record_without_words_counts_36_times() -> None:
    memory = open_empty("given:2")
    memory.remember("only one", id="a", vector=[0.6, 0.8])
    result = asked(memory, "nothing shared", vector=[1.0, 0.0])
    assert result == near([("a", 0.3 * 36 + 0.05)])
