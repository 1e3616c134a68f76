"""What a process has just committed is handed to its index as a read of the file would give it."""

from __future__ import annotations

from pathlib import Path

from tests.inside import log_of

import memoriter
from memoriter.memory.facade import Memory
from memoriter.store.port import Delta

SPACES = ("", "")


def read(memory: Memory, after: int, spaces: tuple[str, str] = SPACES) -> list[Delta]:
    log = log_of(memory)
    return list(log.deltas("default", after, log.head("default").seq, spaces))


def test_the_entries_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder="hash") as writer:
        before = writer.remember("The kettle is green", id="a").seq
        space = log_of(writer).embedded("default")
        generation = next(name for part in space for name in part)
        spaces = ("", generation)
        writer.remember("The kettle is red", id="b", tags=["kitchen"], entities=["Kettle"])
        writer.update("a", text="The kettle was green")
        writer.link("b", "a", "contradicts", weight=0.5)
        with memoriter.open(path, embedder="hash") as reader:
            stored = read(reader, before, spaces)
        handed = read(writer, before, spaces)
        assert handed == stored == read(writer, before, spaces), "the second time from the file"
        assert [len(stored[0].records), len(stored[0].vectors), len(stored[0].edges)] == [2, 2, 1]


def test_entries_of_another_process_in_between_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path) as one, memoriter.open(path) as other:
        one.remember("The kettle is green", id="a")
        other.remember("The kettle is red", id="b")
        one.remember("The kettle is blue", id="c")
        (delta,) = read(one, 0)
        assert [record.id for record in delta.records] == ["a", "b", "c"]


def test_nothing_is_handed_over_beyond_a_forget(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db") as memory:
        memory.remember("The kettle is green", id="a")
        memory.remember("The kettle is red", id="b")
        memory.forget("a")
        (delta,) = read(memory, 0)
        assert [record.id for record in delta.records] == ["b"]
        assert len(delta.tombs) == 1
