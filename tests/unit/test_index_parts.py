"""Parts of the index: when to merge, dictionaries, segment files and their damage."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import memoriter
from memoriter.core.errors import Corrupt
from memoriter.index.dictionary import Dictionary, union
from memoriter.index.file import IndexOwner, load_segment, save_segment
from memoriter.index.merge import due, merge
from memoriter.index.segment import Segment
from memoriter.memory.facade import Memory
from memoriter.store.port import SegmentRef
from memoriter.store.segments import FolderSegments
from memoriter.store.sqlite.store import Sqlite
from memoriter.testing.fakes import CountedEntropy, HandClock


@pytest.mark.parametrize(
    ("sizes", "factor", "run"),
    [
        ([], 4, None),
        ([1, 1, 1], 4, None),
        ([1, 1, 1, 1], 4, slice(0, 4)),
        ([100, 1, 1, 1, 1], 4, slice(1, 5)),
        ([3, 1, 1, 1], 4, slice(0, 4)),
        ([4, 1, 1, 1], 4, None),
        ([100, 50, 30, 30, 5], 4, slice(0, 5)),
        ([0, 0, 0, 0], 4, slice(0, 4)),
        ([8, 8, 8, 8, 8, 8, 8, 1], 8, slice(0, 8)),
    ],
)
def test_which_neighbours_are_due(sizes: list[int], factor: int, run: slice | None) -> None:
    assert due(sizes, factor) == run


def test_merging_costs_little() -> None:
    sizes: list[int] = []
    moved = 0
    for _ in range(4000):
        sizes.append(1)
        while (run := due(sizes, 4)) is not None:
            moved += sum(sizes[run])
            sizes[run] = [sum(sizes[run])]
    assert sum(sizes) == 4000
    assert len(sizes) < 4 * 8
    assert moved / 4000 < 12


def test_dictionaries_find_by_code_point() -> None:
    strings = sorted(["", "a", "ab", "é", "z", "\ue000", "\U00010000", "東"])
    dictionary = Dictionary.of(strings)
    assert list(dictionary) == dictionary[:] == strings
    assert [dictionary.find(s) for s in strings] == list(range(len(strings)))
    assert [dictionary.find(s) for s in ("b", "zz", "\U0010ffff")] == [-1, -1, -1]
    assert dictionary[1:3] == strings[1:3]
    assert len(Dictionary.of([])) == 0
    assert Dictionary.of([]).find("") == -1
    for wrong in (-1, len(strings)):
        with pytest.raises(IndexError):
            dictionary[wrong]
    joined, maps = union([Dictionary.of(["a", "c"]), Dictionary.of([]), Dictionary.of(["b", "c"])])
    assert list(joined) == ["a", "b", "c"]
    assert [m.tolist() for m in maps] == [[0, 2], [], [1, 2]]


def opened(path: Path, **more: object) -> Memory:
    options: dict[str, object] = {"maintenance": "manual", "flush_rows": 3, **more}
    return memoriter.open(path, clock=HandClock(), entropy=CountedEntropy(), **options)  # type: ignore[arg-type]


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A store with two published segments."""
    with opened(tmp_path / "m.db") as memory:
        memory.remember_many({"text": f"port {n} of ssh", "tags": ["ops"]} for n in range(40))
        assert memory.maintain().published
        memory.remember_many({"text": f"cache {n}"} for n in range(4))
        assert memory.maintain().published
    return tmp_path / "m.db"


def segments(path: Path) -> list[Path]:
    return sorted(path.with_name("m.db.idx").glob("*.seg"))


def answers(memory: Memory) -> list[tuple[str, float]]:
    results = [memory.recall(text, 50) for text in ("ssh port 7", "cache")]
    return [(hit.id, hit.score) for result in results for hit in result]


def listed(path: Path) -> tuple[FolderSegments, IndexOwner, tuple[SegmentRef, ...]]:
    """The home of a store's segments, whose they are, and the manifest's list of them."""
    with contextlib.closing(Sqlite(path)) as log:
        ((index, manifest),) = log.manifests("default").items()
    home = FolderSegments(path.with_name("m.db.idx"))
    return home, IndexOwner("default", index), manifest.segments


def test_a_segment_survives_the_disk(published: Path) -> None:
    home, owner, refs = listed(published)
    for ref in refs:
        segment = load_segment(home, ref, owner)
        other = IndexOwner("anna", "an index")
        copy = save_segment(segment, home, other)
        again = load_segment(home, copy, other)
        assert (again.first, again.last) == (segment.first, segment.last)
        assert set(again.arrays) == set(segment.arrays)
        for name, array in segment.arrays.items():
            assert array.dtype == again.arrays[name].dtype
            assert np.array_equal(array, again.arrays[name], equal_nan=array.dtype.kind == "f")
        assert save_segment(segment, home, other) == copy, "equal content has one name"
        for wrong in (IndexOwner("bert", "an index"), IndexOwner("anna", "another")):
            with pytest.raises(Corrupt, match="another tenant or index"):
                load_segment(home, copy, wrong)
        with pytest.raises(Corrupt, match="but contains other entries"):
            load_segment(home, replace(copy, last=copy.last + 1), other)
        (home.folder / ref.name).replace(home.folder / copy.name)
        with pytest.raises(Corrupt, match="does not match the hash in its name"):
            load_segment(home, copy, other)


def test_merging_all_is_merging_in_steps(published: Path) -> None:
    home, owner, refs = listed(published)
    one, two = (load_segment(home, ref, owner) for ref in refs)
    whole = merge([one, two], 0)
    again = merge([merge([one], 0), merge([two], 0)], 0)
    assert set(whole.arrays) == set(again.arrays)
    for name, array in whole.arrays.items():
        assert np.array_equal(array, again.arrays[name], equal_nan=array.dtype.kind == "f"), name
    assert len(whole) == 44
    assert isinstance(whole, Segment)


def _damages(size: int) -> dict[str, object]:
    places = {"magic": 0, "length": 8, "sum": 16, "stretch": 34, "a name": 60, "middle": size // 2}
    return {
        "gone": None,
        "empty": b"",
        "short": 10,
        "half": size // 2,
        "text": b"hello, this is not a segment" * 20,
        "header length": (8, b"\xff" * 8),
        "header": (16, b"]" * 40),
        **{f"bit in {name}": (at, None) for name, at in places.items()},
        "bit at the end": (-80, None),
    }


def _refused(path: Path, name: str) -> None:
    home, owner, refs = listed(path)
    with pytest.raises(Corrupt):
        load_segment(home, next(ref for ref in refs if ref.name == name), owner)


@pytest.mark.parametrize("name", list(_damages(10_000)))
def test_a_damaged_segment_is_refused_and_the_store_answers(
    published: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(published) as memory:
        before = answers(memory)
    (victim, *_) = segments(published)
    data = bytearray(victim.read_bytes())
    match _damages(len(data))[name]:
        case None:
            victim.unlink()
        case bytes(new):
            victim.write_bytes(new)
        case int(size):
            os.truncate(victim, size)
        case (int(at), None):
            while data[at] == 0x20 or not data[at]:  # padding has no meaning to damage
                at += 1
            data[at] ^= 0x10
            victim.write_bytes(data)
        case (int(at), bytes(new)):
            data[at : at + len(new)] = new
            victim.write_bytes(data)
    _refused(published, victim.name)
    with caplog.at_level(logging.WARNING), opened(published) as memory:
        assert answers(memory) == before
        assert "answering from the log instead" in caplog.text
        assert memory.maintain().published, "upkeep mends it"
        assert answers(memory) == before
    caplog.clear()
    with caplog.at_level(logging.WARNING), opened(published) as memory:
        assert answers(memory) == before
        assert caplog.text == ""


def test_the_folder_of_the_index_can_be_thrown_away_at_any_time(published: Path) -> None:
    with opened(published) as memory:
        before = answers(memory)
        shutil.rmtree(published.with_name("m.db.idx"))
        assert answers(memory) == before
        memory.remember("one more port", id="more")
        assert len(memory.keywords("port", 100)) == 41
        memory.maintain()
    with opened(published) as memory:
        assert len(memory.keywords("port", 100)) == 41
