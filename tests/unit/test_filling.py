"""What a new store is made with, and vectors that a large write leaves owed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.inside import engine_of

import memoriter
from memoriter.memory import filling
from memoriter.memory.facade import Memory
from memoriter.memory.tenants import Tenants
from memoriter.write import prepare

NOTES = [f"Note {n}: shelf {n % 7} of room {n} was painted by Ann" for n in range(40)]


@pytest.fixture(autouse=True)
def _new_stores_have_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMORITER_NEW_STORE")
    monkeypatch.setattr(prepare, "AT_ONCE", 400)  # so that eight notes are few, and nine are many


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits a second for the first vectors."""
    monkeypatch.setattr(filling, "AFTER_S", 0.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60.0
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    assert holds()


def serving(memory: Memory) -> str | None:
    return next(space.embedder for space in memory.embedding.status() if space.serves)


# --- what a store is made with -------------------------------------------------------------------


def test_a_new_store_has_the_model_and_keeps_it(path: Path) -> None:
    for _ in range(2):
        with memoriter.open(path) as memory:
            memory.remember("The spare key is under the pot")
            assert serving(memory) == "memory-en"
            assert memory.status().debt == 0


def test_auto_says_the_same_as_nothing(path: Path) -> None:
    with memoriter.open(path, embedder="auto") as memory:
        memory.remember("The spare key is under the pot")
        assert serving(memory) == "memory-en"


@pytest.mark.parametrize("name", ["table", None])
def test_a_store_made_without_the_model_does_without_it_when_it_is_opened_again(
    path: Path, name: str | None
) -> None:
    with memoriter.open(path, embedder=name) as memory:
        memory.remember("The spare key is under the pot")
    with memoriter.open(path) as memory:
        memory.remember("The gate code is 4711")
        assert serving(memory) == "table"


def test_a_store_that_was_only_looked_at_is_still_new(path: Path) -> None:
    with memoriter.open(path, embedder="table"):
        pass
    with memoriter.open(path) as memory:
        memory.remember("The spare key is under the pot")
        assert serving(memory) == "memory-en"


def test_a_refused_first_write_leaves_a_store_with_the_model(path: Path) -> None:
    with memoriter.open(path) as memory, pytest.raises(memoriter.BadRecord):
        memory.remember("a note", expires="whenever")
    with memoriter.open(path) as memory:
        memory.remember("The spare key is under the pot")
        assert serving(memory) == "memory-en"


def test_each_tenant_has_what_it_was_made_with(path: Path) -> None:
    with memoriter.open(path, tenant="old", embedder="table") as memory:
        memory.remember("The spare key is under the pot")
    tenants = Tenants(path)
    tenants.memory("new").remember("The gate code is 4711")
    names = {each: serving(tenants.memory(each)) for each in ("old", "new")}
    tenants.close()
    assert names == {"old": "table", "new": "memory-en"}


def test_a_variable_names_what_new_stores_have(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORITER_NEW_STORE", "hash")
    with memoriter.open(path) as memory:
        memory.remember("The spare key is under the pot")
        assert [space.embedder for space in memory.embedding.status()] == ["hash"]


def test_a_store_keeps_the_named_model_that_it_was_made_with(path: Path) -> None:
    with memoriter.open(path, embedder="hash") as memory:
        memory.remember("The spare key is under the pot")
    with memoriter.open(path) as memory:
        memory.remember("The gate code is 4711")
        assert serving(memory) == "hash"
        assert engine_of(memory).view("default", None).behind == 0


def test_a_store_of_the_table_gets_the_model_by_one_command(path: Path) -> None:
    with memoriter.open(path, embedder="table") as memory:
        memory.remember_many(NOTES)
    shown = " ".join(command("status", "--store", str(path)).stdout.split())
    assert "memoriter embed migrate memory-en --promote" in shown
    command("embed", "migrate", "memory-en", "--promote", "--store", str(path))
    assert "--promote" not in command("status", "--store", str(path)).stdout
    with memoriter.open(path) as memory:
        assert serving(memory) == "memory-en"


# --- what is owed --------------------------------------------------------------------------------


def test_a_few_records_are_embedded_by_the_write_itself(path: Path) -> None:
    with memoriter.open(path, maintenance="manual") as memory:
        assert memory.remember_many(NOTES[:8]).debt == 0
        assert memory.remember_many(NOTES[8:17]).debt == 9


@pytest.mark.usefixtures("at_once")
def test_a_process_that_stays_computes_in_the_background_what_it_owes(path: Path) -> None:
    with memoriter.open(path) as memory:
        assert memory.remember_many(NOTES).debt == 40
        until(lambda: memory.status().debt == 0)
        assert engine_of(memory).view("default", None).behind == 0


@pytest.mark.usefixtures("at_once")
def test_a_process_that_stays_computes_what_others_left_owed(path: Path) -> None:
    with memoriter.open(path, maintenance="manual") as memory:
        memory.remember_many(NOTES)
    with memoriter.open(path) as memory:
        until(lambda: memory.status().debt == 0)


def test_who_does_upkeep_by_hand_computes_nothing_in_the_background(path: Path) -> None:
    with memoriter.open(path, maintenance="manual") as memory:
        memory.remember_many(NOTES)
        assert memory.status().debt == 40
        assert memory.maintain().embedded == 40
        assert memory.status().debt == 0


def test_filling_says_how_far_it_is(path: Path) -> None:
    reached: list[int] = []
    with memoriter.open(path, maintenance="manual") as memory:
        memory.remember_many(NOTES)
        assert memory.embedding.fill(progress=reached.append) == 40
        assert memory.embedding.fill() == 0
    assert reached == [40]


def test_a_search_finds_by_words_what_has_no_vector_yet(path: Path) -> None:
    with memoriter.open(path, maintenance="manual") as memory:
        memory.remember_many([*NOTES, "The gate code is 4711"])
        hits = memory.recall("gate code")
        assert hits[0].text == "The gate code is 4711"


@pytest.mark.usefixtures("at_once")
def test_closing_does_not_wait_for_what_is_owed(path: Path) -> None:
    memory = memoriter.open(path)
    memory.remember_many(NOTES * 50)
    memory.close()
    with memoriter.open(path, maintenance="manual") as again:
        assert len(again) == 2000
        assert again.status().debt > 0


# --- the command line ----------------------------------------------------------------------------


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "memoriter", *arguments]
    return subprocess.run(call, capture_output=True, text=True, check=True)  # noqa: S603  # ours


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    file = tmp_path / "notes.txt"
    file.write_text("\n".join(NOTES), "utf-8")
    return file


def test_an_import_on_the_command_line_leaves_nothing_owed(path: Path, lines: Path) -> None:
    command("import", str(lines), "--store", str(path))
    with memoriter.open(path, maintenance="manual") as memory:
        assert (len(memory), memory.status().debt) == (40, 0)


def test_a_single_command_begins_no_work_that_goes_on_behind_it(path: Path) -> None:
    with memoriter.open(path, maintenance="manual") as memory:
        memory.remember_many(NOTES)
    command("recall", "who painted shelf 3?", "--store", str(path))
    with memoriter.open(path, maintenance="manual") as memory:
        assert memory.status().debt == 40
