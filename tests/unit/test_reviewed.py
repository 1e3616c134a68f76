"""What a review found, kept from coming back."""

from __future__ import annotations

import threading
from pathlib import Path

import apsw
import pytest

import memoriter
from memoriter.memory.facade import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return memoriter.open(tmp_path / "m.db", embedder=None)


def test_many_threads_may_open_one_file_at_once(tmp_path: Path) -> None:
    memoriter.open(tmp_path / "m.db", embedder=None).close()
    failed: list[BaseException] = []
    barrier = threading.Barrier(8)

    def one() -> None:
        barrier.wait()
        try:
            memoriter.open(tmp_path / "m.db", embedder=None).close()
        except BaseException as error:
            failed.append(error)

    for _ in range(10):
        running = [threading.Thread(target=one) for _ in range(8)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    assert not failed


def test_an_export_never_harms_a_file(memory: Memory, tmp_path: Path) -> None:
    memory.remember("kept")
    kept = tmp_path / "keep.jsonl"
    kept.write_text("mine")
    with pytest.raises(memoriter.BadFilter):
        memory.export(kept, where={"nope": 1})
    assert kept.read_text() == "mine"
    with pytest.raises(memoriter.InputError, match="belongs to the store"):
        memory.export(tmp_path / "m.db")
    with pytest.raises(memoriter.MemoriterError):
        memory.export(tmp_path / "nowhere" / "x")
    assert memory.verify_store().sound
    memory.close()


def test_a_forget_of_several_is_retried_whole(memory: Memory) -> None:
    memory.remember_many([{"text": "x", "id": "a"}, {"text": "y", "id": "b"}])
    first = memory.forget(["a", "b"], key="k")
    assert memory.forget(["a", "b"], key="k") == first
    with pytest.raises(memoriter.InputError, match="ids"):
        memory.forget(where={"kind": "note"}, key="w")
    memory.close()


def test_a_key_knows_values_and_not_their_spelling(memory: Memory) -> None:
    memory.remember("x", id="a")
    first = memory.update("a", key="k", tags=["t"], importance=1)
    assert memory.update("a", key="k", tags=("t",), importance=1.0) == first
    memory.update("a", key="n", title=None)
    with pytest.raises(memoriter.Conflict):
        memory.update("a", key="n", title="None")
    memory.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE records SET id='zzz'",
        "UPDATE agents SET agent='zzz'",
        "DELETE FROM records",
        "DELETE FROM agents",
        "DELETE FROM edges",
        "DELETE FROM commits WHERE seq=3",
        "DELETE FROM chain WHERE seq=1",
        "DELETE FROM mentions WHERE name='Ada'",
        "DELETE FROM tenants",
        "DELETE FROM generations",
    ],
)
def test_a_row_that_was_changed_or_taken_away_is_seen(
    sql: str, memory: Memory, tmp_path: Path
) -> None:
    memory.remember("x", id="a", entities=["Ada", "Grace"])
    memory.remember("y", id="b")
    memory.link("a", "b")
    memory.agents.upsert("bot", description="deploys")
    memory.close()
    with memoriter.open(tmp_path / "m.db", embedder=None) as again:
        assert again.verify_store().sound
    db = apsw.Connection(str(tmp_path / "m.db"))
    db.execute(sql)
    db.close()
    with memoriter.open(tmp_path / "m.db", embedder=None) as again:
        assert not again.verify_store().sound


def test_a_scope_cannot_reach_out_by_ties(memory: Memory) -> None:
    memory.remember("theirs", id="b1", agent="b")
    mine = memory.scoped(agent="a")
    with pytest.raises(memoriter.NotFound):
        mine.remember("x", supersedes="b1")
    with pytest.raises(memoriter.NotFound):
        mine.remember("x", links=[{"target": "b1", "kind": "supports"}])
    memory.close()


def test_refs_can_be_filtered(memory: Memory) -> None:
    memory.remember("first")
    second = memory.remember("second", refs=[0])
    for where in ({"refs": {"any": [0]}}, {"refs": {"all": [0]}}, {"refs": {"exists": True}}):
        assert [record.id for record in memory.browse(where=where).records] == [second.id]
    assert memory.browse(where={"refs": {"any": [7]}}).total == 0
    memory.close()


@pytest.mark.parametrize("place", [5, None, "a\0b", "a\ud800b", "a" * 300])
def test_a_place_that_is_none_is_told(place: object) -> None:
    with pytest.raises(memoriter.MemoriterError):
        memoriter.open(place)  # type: ignore[arg-type]  # on purpose


def test_what_is_no_plain_file_is_left_alone(tmp_path: Path) -> None:
    import os  # noqa: PLC0415  # only here

    os.mkfifo(tmp_path / "pipe", 0o644)
    with pytest.raises(memoriter.Unsupported, match="plain file"):
        memoriter.open(tmp_path / "pipe")
    assert (tmp_path / "pipe").stat().st_mode & 0o777 == 0o644
