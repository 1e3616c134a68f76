"""Laws of a view: isolation, snapshot, rebuild, parity."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.inside import log_of
from tests.property.changes import Change, Corpus, change, changes, corpora
from tests.property.laws import law
from tests.property.pipelines import any_recipes
from tests.property.strategies import queries, wheres
from tests.property.worlds import REFUSED, asked, drop_index, dump_of, expected, open_toy

import memoriter
from memoriter.core.errors import Expired, MemoriterError
from memoriter.memory.facade import Memory
from memoriter.store.ram import Ram
from memoriter.testing.fakes import CountedEntropy, HandClock, ToyEmbedder


def tenants_of(place: Path, clock: HandClock) -> tuple[Memory, Memory]:
    ours = open_toy(place, clock)
    theirs = open_toy(place, clock, CountedEntropy("theirs"), tenant="theirs")
    return ours, theirs


@law(corpora, corpora, queries, any_recipes, st.none() | wheres())
def test_isolation(
    ours: Corpus, theirs: Corpus, text: str, recipe: Any, where: dict[str, Any] | None
) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        alone = open_toy()
        own, other = tenants_of(folder / "m.db", HandClock())
        for n, draft in enumerate(ours):
            draft_fields: dict[str, Any] = {**draft, "id": f"r{n}"}
            alone.remember(**draft_fields)
            own.remember(**draft_fields)
            more: Corpus = [{**d, "id": f"r{n}-{k}"} for k, d in enumerate(theirs)]
            other.remember_many(more)
        other.remember("port ssh", id="r0")
        own.maintain()
        other.maintain()
        assert asked(own, text, recipe, where=where) == asked(alone, text, recipe, where=where)
        assert dump_of(own) == dump_of(alone)
        assert own.browse(where=where).total == alone.browse(where=where).total
        own.close()
        other.close()
    finally:
        shutil.rmtree(folder)


@law(corpora, changes, queries, any_recipes, st.none() | wheres())
def test_snapshot(
    corpus: Corpus, done: list[Change], text: str, recipe: Any, where: dict[str, Any] | None
) -> None:
    clock = HandClock()
    memory = open_toy(clock=clock)
    ids = list(memory.remember_many(corpus).ids)
    then, now = log_of(memory).head("default").time, clock.now()
    before = asked(memory, text, recipe, where=where, now=now)
    if before[1] == [REFUSED]:
        return  # the recipe refuses a text that has no vector
    kept = [step for step in done if step[0] != "forget"]
    change(memory, clock, kept, ids)
    assert asked(memory, text, recipe, where=where, now=now, known_at=then) == before
    change(memory, clock, done, ids)
    pierced = asked(memory, text, recipe, where=where, now=now, known_at=then)
    assert pierced == expected(memory, text, recipe, where=where, now=now, known_at=then)


def test_a_view_behind_the_horizon_is_refused_and_the_present_stays(tmp_path: Path) -> None:
    clock = HandClock()
    memory = open_toy(tmp_path / "m.db", clock, horizon_days=1.0)
    memory.remember_many({"text": f"port {n}", "id": f"r{n}"} for n in range(5))
    old = clock.now()
    memory.maintain()
    clock.move(1)
    memory.update("r0", text="harbour")
    clock.move(3 * 86_400)
    memory.remember_many({"text": f"ssh {n}"} for n in range(5))
    before = asked(memory, "port harbour", "memoriter")
    for _ in range(9):
        memory.remember_many({"text": f"more {n}"} for n in range(3))
        memory.maintain()
    assert asked(memory, "port harbour", "memoriter") == expected(
        memory, "port harbour", "memoriter"
    )
    assert len(before[0]) > 0
    with pytest.raises(Expired):
        memory.recall("port", known_at=old)
    assert memory.get("r0", known_at=old).text == "port 0"
    memory.close()


@law(corpora, changes, queries, any_recipes)
def test_rebuild(corpus: Corpus, done: list[Change], text: str, recipe: Any) -> None:
    folder, clock = Path(tempfile.mkdtemp()), HandClock()
    try:
        memory = open_toy(folder / "m.db", clock)
        ids: list[str] = []
        for draft in corpus:
            ids += memory.remember(**draft).ids
            memory.maintain()
        change(memory, clock, done, ids)
        memory.maintain()
        before = asked(memory, text, recipe)
        again = open_toy(folder / "m.db", clock)
        assert asked(again, text, recipe) == before
        again.close()
        drop_index(memory)
        memory.close()
        shutil.rmtree(folder / "m.db.idx", ignore_errors=True)
        rebuilt = open_toy(folder / "m.db", clock)
        assert asked(rebuilt, text, recipe) == before
        rebuilt.close()
    finally:
        shutil.rmtree(folder)


@given(corpora, changes, queries, any_recipes, st.none() | wheres())
def test_parity(
    corpus: Corpus, done: list[Change], text: str, recipe: Any, where: dict[str, Any] | None
) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        answers = []
        for place in (":memory:", folder / "m.db"):
            clock = HandClock()
            memory = open_toy(place, clock)
            change(memory, clock, done, list(memory.remember_many(corpus).ids))
            receipt = b""
            try:
                receipt = memory.recall(text, recipe=recipe, where=where).receipt.to_bytes()
            except MemoriterError as error:
                receipt = str(error).encode()
            answers.append((asked(memory, text, recipe, where=where), receipt, dump_of(memory)))
            memory.close()
        assert answers[0] == answers[1]
    finally:
        shutil.rmtree(folder)


def test_a_view_whose_only_vectors_were_forgotten_has_none(tmp_path: Path) -> None:
    memory = open_toy(tmp_path / "m.db")
    memory.remember("49222", id="no letters, no vector")
    memory.remember("ssh port", id="b")
    assert asked(memory, "port", "semantic") == ([("b", 1.0)], ["meaning"])
    memory.forget("b")
    fresh = open_toy(tmp_path / "m.db")
    assert asked(memory, "port", "semantic") == asked(fresh, "port", "semantic") == ([], [])
    memory.close()
    fresh.close()


def test_an_end_is_remembered_through_every_merge(tmp_path: Path) -> None:
    memory = open_toy(tmp_path / "m.db")
    memory.remember_many({"text": f"port {n}", "id": f"r{n}"} for n in range(9))
    memory.maintain()
    for n in range(9):
        memory.update(f"r{n}", text=f"harbour {n}")
        memory.recall("port")
    memory.maintain()
    memory.forget("r8")
    memory.remember_many(f"more {n}" for n in range(3))
    memory.maintain()
    fresh = open_toy(tmp_path / "m.db")
    for text in ("port", "harbour"):
        oracle = expected(memory, text, "lexical")
        assert asked(memory, text, "lexical") == asked(fresh, text, "lexical") == oracle
    assert len(asked(fresh, "harbour", "lexical")[0]) == 8
    assert asked(fresh, "port", "lexical")[0] == []
    memory.close()
    fresh.close()


def test_what_a_forgotten_record_had_replaced_comes_back(tmp_path: Path) -> None:
    memory = open_toy(tmp_path / "m.db")
    memory.remember("port one", id="a")
    memory.remember("port two", id="b", supersedes="a")
    assert [name for name, _ in asked(memory, "port", "lexical")[0]] == ["b"]
    memory.forget("b")
    fresh = open_toy(tmp_path / "m.db")
    for handle in (memory, fresh):
        assert [name for name, _ in asked(handle, "port", "lexical")[0]] == ["a"]
        handle.close()


def test_a_late_vector_of_a_published_record_is_published_too(tmp_path: Path) -> None:
    toy = ToyEmbedder()
    memory = open_toy(tmp_path / "m.db", embedder=toy)
    toy.failing = True
    memory.remember_many({"text": f"port {n}", "id": f"r{n}"} for n in range(3))
    assert memory.maintain().published
    toy.failing = False
    assert memory.maintain().embedded == 3
    memory.remember_many(f"more {n}" for n in range(3))
    assert memory.maintain().published
    fresh = open_toy(tmp_path / "m.db")
    oracle = expected(memory, "port", "semantic")
    assert {"r0", "r1", "r2"} <= {name for name, _ in oracle[0]}
    for handle in (memory, fresh):
        assert asked(handle, "port", "semantic") == oracle
        handle.close()


def test_an_unpaid_vector_comes_late_and_only_to_later_views() -> None:
    clock, toy = HandClock(), ToyEmbedder()
    memory = memoriter.open(":memory:", clock=clock, entropy=CountedEntropy(), embedder=toy)
    toy.failing = True
    commit = memory.remember("ssh port", id="a")
    assert commit.debt == 1
    assert log_of(memory).debts("default", 9)
    toy.failing = False
    owing = asked(memory, "ssh port", "memoriter")
    assert owing[1] == ["words", "kin"]
    moment = clock.now()
    clock.move(1)
    assert memory.maintain().embedded == 1
    assert asked(memory, "ssh port", "memoriter")[1] == ["words", "kin", "meaning"]
    assert asked(memory, "ssh port", "memoriter", known_at=moment) == owing
    assert isinstance(log_of(memory), Ram)
