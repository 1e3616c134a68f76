"""A replay runs the search of a receipt again on its view: the same bytes, or what is gone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memoriter
from memoriter.core.errors import BadQuery, BadRecipe, Corrupt, Expired, Forbidden, NotFound
from memoriter.memory import receipts
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.testing.fakes import CountedEntropy, HandClock, ToyEmbedder, ToyReranker
from memoriter.why.receipt import Receipt, sealed

DAY = 86_400
RERANKED: dict[str, Any] = {**recipe_of("memoriter").to_data(), "name": "reranked"}
RERANKED["pass"] = [RERANKED["pass"][0], {"head": 3, "rerank": {"timeout_ms": 5000}}]


def filled(memory: Memory, count: int = 12) -> Memory:
    memory.remember_many({"text": f"ssh port {n} in prod", "id": f"r{n}"} for n in range(count))
    return memory


def opened(place: Path, clock: HandClock, **more: Any) -> Memory:
    return memoriter.open(
        place, clock=clock, entropy=CountedEntropy(), maintenance="manual", flush_rows=3, **more
    )


def altered(receipt: Receipt, path: str, value: object) -> dict[str, Any]:
    """The receipt with one thing changed, and sealed anew."""
    body = json.loads(receipt.to_bytes())
    body.pop("digest")
    *keys, last = path.split(".")
    at = body
    for key in keys:
        at = at[key]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return dict(sealed(body).body)


def test_a_question_that_names_a_speaker_replays_the_same() -> None:
    """The name says whose memories are meant, and is not embedded."""
    memory = memoriter.open(":memory:", maintenance="manual")
    for n, name in enumerate(("Ann", "Bob", "Ann", "Bob")):
        memory.remember(f"{name} took the cat to the vet {n}", source={"who": name})
    again = memory.replay(memory.recall("what did Bob say about the cat?").receipt)
    assert again.same
    assert not again.differences


def test_it_is_the_same_after_later_writes_edits_links_and_merges(tmp_path: Path) -> None:
    clock = HandClock()
    memory = filled(opened(tmp_path / "m.db", clock))
    asked = [
        memory.recall("ssh port 3"),
        memory.recall("prod", limit=2, where={"id": {"in": ["r1", "r2", "r3"]}}),
        memory.keywords('"ssh port" NOT 4'),
        memory.recall("port", recipe="linked", as_of="2026-09-01"),
    ]
    for n, result in enumerate(asked):
        result.receipt.save(tmp_path / f"{n}.json")
    clock.move(5)
    memory.update("r3", text="harbour")
    memory.link("r1", "r2", "supersedes")
    memory.agents.upsert("default", description="ssh ssh port")
    for n in range(9):
        memory.remember_many(f"more ssh {n} {k}" for k in range(4))
        memory.maintain()
        clock.move(60)
    for n in range(len(asked)):
        assert memory.replay(tmp_path / f"{n}.json").same
    memory.close()
    memory = opened(tmp_path / "m.db", clock)
    for n, result in enumerate(asked):
        replay = memory.replay(tmp_path / f"{n}.json")
        assert replay.same, replay.differences
        assert replay.result.receipt.to_bytes() == result.receipt.to_bytes()
        lines = [
            [(hit.id, hit.score, dict(hit.journey)) for hit in each]
            for each in (replay.result, result)
        ]
        assert lines[0] == lines[1]
        assert set(replay.result.used) == set(result.used)
    memory.close()


def test_a_receipt_may_be_given_in_any_form(memory: Memory, tmp_path: Path) -> None:
    result = filled(memory).recall("ssh port")
    result.receipt.save(tmp_path / "r.json")
    body = json.loads(result.receipt.to_bytes())
    for given in (result, result.receipt, body, tmp_path / "r.json", str(tmp_path / "r.json")):
        assert memory.replay(given).same


def test_the_vectors_that_served_then_are_read_after_another_model_serves(tmp_path: Path) -> None:
    clock = HandClock()
    memory = filled(opened(tmp_path / "m.db", clock))
    receipt = memory.recall("ssh port 3").receipt
    memory.embedding.migrate("hash")
    memory.embedding.promote("hash")
    memory.close()
    memory = opened(tmp_path / "m.db", clock)
    assert memory.recall("ssh port 3").receipt.to_bytes() != receipt.to_bytes()
    assert memory.replay(receipt).same
    memory.remember_many(f"more {n}" for n in range(8))
    memory.maintain()
    assert memory.replay(receipt).same
    memory.close()


def test_it_asks_neither_the_embedder_nor_the_reranker() -> None:
    model, judge = ToyEmbedder(), ToyReranker()
    memory = filled(memoriter.open(":memory:", embedder=model, reranker=judge))
    results = [memory.recall("ssh port 3", recipe=RERANKED), memory.recall("ssh", mode="auto")]
    judge.failing = True
    results.append(memory.recall("ssh port 3", recipe=RERANKED))
    model.failing = True
    results.append(memory.recall("ssh port 3"))
    calls, asked = model.calls, len(judge.asked)
    for result in results:
        replay = memory.replay(result)
        assert replay.same, replay.differences
        assert replay.result.status == result.status
        assert replay.result.skipped == result.skipped
    assert (model.calls, len(judge.asked)) == (calls, asked)


def test_a_vector_of_the_callers_own_is_replayed() -> None:
    memory = memoriter.open(":memory:", embedder="given:3")
    for n in range(4):
        memory.remember(f"note {n}", vector=[1.0, float(n), 0.0])
    result = memory.recall("", recipe="semantic", vector=[0.0, 1.0, 0.5])
    assert memory.replay(result).same
    assert memory.replay(memory.recall("note", recipe="lexical", vector=[0.0, 1.0, 0.5])).same


def test_seeds_lists_modes_and_reflections_are_replayed(memory: Memory) -> None:
    filled(memory)
    memory.link("r1", "r2", "derived_from")
    for result in (
        memory.recall("ssh", recipe="linked", seeds=["r1"]),
        memory.recall("ssh", lists={"mine": [("r3", 2), ("r4", 0.5)], "new": "created"}),
        memory.recall("ssh", mode="hybrid", overrides={"lanes.moment.enabled": True}),
        memory.reflections(""),
        memory.reflections("port", cycle=3),
    ):
        assert memory.replay(result).same


def test_what_was_forgotten_is_named_and_the_rest_is_shown(memory: Memory) -> None:
    receipt = filled(memory).recall("ssh port 3", limit=4).receipt
    memory.forget("r3")
    replay = memory.replay(receipt)
    assert (replay.same, replay.gone, replay.forgotten) == (False, ("r3",), 1)
    assert len(replay.result) == 4
    assert "r3" not in [hit.id for hit in replay.result]
    assert any(path.startswith("hits") for path in replay.differences)
    data = json.loads(json.dumps(replay.to_dict()))
    assert data["hits"]["then"][0] == "r3"
    assert len(data["hits"]["now"]) == 4


def test_a_forgotten_record_that_was_no_candidate_is_counted(memory: Memory) -> None:
    memory.remember("the sea", id="sea")
    receipt = filled(memory).keywords("ssh").receipt
    memory.remember("a later one", id="later")
    memory.forget("later")
    assert memory.replay(receipt).same
    memory.forget("sea")
    replay = memory.replay(receipt)
    assert (replay.same, replay.gone, replay.forgotten) == (False, (), 1)
    assert len(replay.result) == 10


def test_seeds_that_were_forgotten_are_left_out(memory: Memory) -> None:
    filled(memory)
    memory.link("r1", "r2", "derived_from")
    receipt = memory.recall("ssh", recipe="linked", seeds=["r1", "r4"]).receipt
    listed = memory.recall("ssh", lists={"mine": [("r1", 1.0)]}).receipt
    memory.forget("r1")
    assert memory.replay(receipt).gone == ("r1",)
    assert memory.replay(listed).gone == ("r1",)


def test_a_leg_whose_every_seed_was_forgotten_cannot_be_answered(memory: Memory) -> None:
    filled(memory)
    recipe = {
        **memory.plan("x", recipe="lexical").recipe.to_data(), "name": "leg",
        "lanes": {"hops": {"kind": "hops"}},
    }  # fmt: skip
    recipe["pass"][0]["fuse"]["weights"] = {"hops": 1.0}
    receipt = memory.recall("", recipe=recipe, seeds=["r1"]).receipt
    memory.forget("r1")
    with pytest.raises(Expired, match="r1 was forgotten"):
        memory.replay(receipt)


def test_a_reranker_that_never_saw_a_row_is_said_to_have_failed() -> None:
    memory = filled(memoriter.open(":memory:", reranker=ToyReranker()))
    receipt = memory.recall("ssh port 3", recipe=RERANKED).receipt
    memory.forget("r3")
    replay = memory.replay(receipt)
    assert "1 of 3 rows were not judged then" in replay.result.skipped["rerank"]


def test_a_view_behind_the_horizon_is_expired(tmp_path: Path) -> None:
    clock = HandClock()
    memory = filled(opened(tmp_path / "m.db", clock, horizon_days=1.0))
    receipt = memory.recall("ssh").receipt
    memory.maintain()
    clock.move(1)
    memory.update("r1", text="harbour")
    clock.move(3 * DAY)
    for n in range(9):
        memory.remember_many(f"more {n} {k}" for k in range(4))
        memory.maintain()
    with pytest.raises(Expired, match="the index no longer has the state"):
        memory.replay(receipt)
    with pytest.raises(Expired, match="the index no longer has the state"):
        memory.why_not(receipt, "r1")
    memory.close()


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("outcomes.generations.words", "the analyzer of this receipt, other/1"),
        ("outcomes.generations.kin", "the table of similar words of this receipt, other/1"),
        ("outcomes.generations.vectors", "needs the vector space other/1"),
    ],
)
def test_a_generation_that_is_gone_is_named(memory: Memory, path: str, named: str) -> None:
    receipt = filled(memory).recall("ssh port").receipt
    with pytest.raises(Expired, match=named):
        memory.replay(altered(receipt, path, "other/1"))


def test_the_words_of_an_analyzer_that_was_removed_are_read_again_or_gone(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = {**memory.plan("x", recipe="lexical").recipe.to_data(), "analyzer": "simple"}
    memory.analyzers.add("simple")
    receipt = filled(memory).recall("ssh", recipe=recipe).receipt
    memory.analyzers.remove("simple")
    assert memory.replay(receipt).same
    monkeypatch.setattr(receipts, "IN_MEMORY", 3)
    with pytest.raises(Expired, match="which the store no longer keeps"):
        memory.replay(receipt)


def test_an_analyzer_that_could_not_be_used_is_not_used_in_a_replay_either(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoriter.memory.engine.IN_MEMORY", 3)
    recipe = {**memory.plan("x").recipe.to_data(), "analyzer": "simple"}
    result = filled(memory).recall("ssh", recipe=recipe)
    assert "too many" in result.skipped["words"]
    memory.analyzers.add("simple")
    assert memory.replay(result).same


def test_another_tenant_and_a_wider_scope_are_refused(tmp_path: Path) -> None:
    ours = filled(memoriter.open(tmp_path / "m.db", "ours"))
    theirs = filled(memoriter.open(tmp_path / "m.db", "theirs"))
    receipt = ours.recall("ssh").receipt
    for ask in (theirs.replay, lambda receipt_from: theirs.why_not(receipt_from, "r1")):
        with pytest.raises(Forbidden, match="another tenant"):
            ask(receipt)
    with pytest.raises(Forbidden, match="is limited to agent"):
        ours.scoped(agent="bot").replay(receipt)
    narrow = ours.scoped(agent="bot").recall("ssh").receipt
    assert ours.replay(narrow).same
    assert ours.scoped(agent="bot").replay(narrow).same
    ours.close()
    theirs.close()


def test_a_receipt_of_another_store_is_not_the_same(memory: Memory) -> None:
    receipt = filled(memoriter.open(":memory:")).recall("ssh port").receipt
    with pytest.raises(NotFound, match="ends at entry 0"):
        memory.replay(receipt)
    memory.remember_many(f"ssh {n}" for n in range(12))
    replay = memory.replay(receipt)
    assert (replay.same, replay.gone, replay.forgotten) == (False, (), 0)
    assert replay.differences


@pytest.mark.parametrize(
    ("path", "value", "error"),
    [
        ("query.text", 5, BadQuery),
        ("query.limit", 0, BadQuery),
        ("query.now", "yesterday", BadQuery),
        ("query.scope", ["bot"], BadQuery),
        ("query.scope", {"team": "x"}, BadQuery),
        ("query.surprise", 1, BadQuery),
        ("query.where", None, BadQuery),
        ("query.where", {"nothing": 1}, memoriter.BadFilter),
        ("query.seeds", "r1", BadQuery),
        ("query.tenant", "other", BadQuery),
        ("query", [], BadQuery),
        ("view.seq", "12", BadQuery),
        ("view", None, BadQuery),
        ("recipe.data.lanes.words.k1", -1, BadRecipe),
        ("recipe.data.surprise", 1, BadRecipe),
        ("outcomes", None, BadQuery),
        ("outcomes.vector", "?", BadQuery),
        ("outcomes.vector", "AACAfw==", BadQuery),
        ("outcomes.vector", "AAAAAA==", BadQuery),
        ("outcomes.generations", None, BadQuery),
        ("outcomes.beside", {}, BadQuery),
        ("outcomes.beside", [1], BadQuery),
        ("outcomes.beside", [{"name": "x", "no_vector": 1}], BadQuery),
        ("outcomes.rerank", {"rows": [1], "scores": []}, BadQuery),
        ("outcomes.rerank", {"rows": 1}, BadQuery),
        ("outcomes.recorded", "x", BadQuery),
    ],
)
def test_a_receipt_that_makes_no_sense_is_refused(
    memory: Memory, path: str, value: object, error: type[Exception]
) -> None:
    receipt = filled(memory).recall("ssh port").receipt
    with pytest.raises(error):
        memory.replay(altered(receipt, path, value))


def test_what_is_no_receipt_and_what_was_tampered_with(memory: Memory, tmp_path: Path) -> None:
    receipt = filled(memory).recall("ssh port").receipt
    wrong: list[Any] = [{}, {"receipt": 1}, 5, None, {"receipt": 2, "x": np.nan}]
    for what in wrong:
        with pytest.raises(BadQuery):
            memory.replay(what)
    with pytest.raises(BadQuery):
        memory.replay(tmp_path / "nothing.json")
    body: Mapping[str, Any] = {**receipt.body, "hits": []}
    for what in (body, Receipt(body)):
        with pytest.raises(Corrupt):
            memory.replay(what)


def test_a_question_that_the_recorded_vector_is_not_of_is_noticed(memory: Memory) -> None:
    """For meaning alone nothing else in a receipt depends on the words of the question."""
    body = json.loads(filled(memory).recall("ssh port", recipe="semantic").receipt.to_bytes())
    assert memory.replay(body).same
    del body["digest"]
    body["query"]["text"] = "who signed the contract?"
    forged = memory.replay(dict(sealed(body).body))
    assert not forged.same
    assert forged.differences == ("outcomes.vector",)
