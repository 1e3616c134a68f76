"""Every home of segments keeps the contract; publishing, merging and erasing go through it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.opened import opened
from tests.inside import engine_of, index_of, log_of

import memoriter
from memoriter.memory.facade import Memory
from memoriter.store.segments import FolderSegments, MemorySegments, Segments
from memoriter.testing.segment_contract import SegmentsContract


class TestFolder(SegmentsContract):
    home = staticmethod(lambda folder: FolderSegments(folder / "idx"))


class TestMemory(SegmentsContract):
    home = staticmethod(lambda _: MemorySegments())


@pytest.fixture(params=["memory", "folder"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    with opened(":memory:" if request.param == "memory" else tmp_path / "m.db") as each:
        yield each


def home_of(memory: Memory) -> Segments:
    home = engine_of(memory).index_cache.segments
    assert home is not None
    return home


def kept_bytes(memory: Memory) -> bytes:
    home = home_of(memory)
    return b"".join(bytes(home.open("default", name)) for name in home.list("default"))


def published(memory: Memory) -> set[str]:
    manifests = log_of(memory).manifests("default").values()
    return {ref.name for each in manifests for ref in each.segments}


def test_upkeep_publishes_into_the_home_and_leaves_no_orphan(memory: Memory) -> None:
    counts: set[int] = set()
    for n in range(30):
        memory.remember(f"port {n} of ssh")
        memory.maintain()
        assert set(home_of(memory).list("default")) == published(memory)
        counts.add(memory.status().segments)
    assert max(counts) > 1
    assert {hit.text for hit in memory.recall("port 7", 3)} >= {"port 7 of ssh"}


def test_upkeep_on_request_joins_small_segments(memory: Memory) -> None:
    for start in (0, 40, 80):  # 32 times `flush_rows` are small
        memory.remember_many([f"port {n}" for n in range(start, start + 40)])
        memory.maintain()
    assert [ref.rows for ref in index_of(memory).manifest.segments] == [80, 40]
    assert set(home_of(memory).list("default")) == published(memory)


def test_an_orphan_of_a_crash_is_dropped_by_the_next_upkeep(memory: Memory) -> None:
    memory.remember_many([f"port {n}" for n in range(4)])
    memory.maintain()
    home, (name,) = home_of(memory), published(memory)
    orphan = name.replace(".seg", "0.seg")
    home.put("default", orphan, [b"half of a segment"])
    assert not memory.maintain().published
    assert set(home.list("default")) == published(memory) == {name}


def test_erasing_rewrites_what_is_published_and_nothing_else(memory: Memory) -> None:
    ids = memory.remember_many([f"zebra{n}x of the port" for n in range(100)]).ids
    memory.maintain()
    memory.remember_many([f"cache{n}x" for n in range(100)])
    memory.maintain()
    assert b"zebra2x" in kept_bytes(memory)
    (first, second) = index_of(memory).manifest.segments
    memory.update(ids[2], text="quagga")
    memory.link(ids[2], ids[1], "kin_of_quagga")
    memory.remember_many([f"later {n}" for n in range(9)])
    memory.maintain()
    erasure = memory.forget(ids[2], now=True)
    assert (erasure.state, memory.status().unerased) == ("erased", 0)
    left = kept_bytes(memory)
    for needle in ("zebra2x", "quagga", ids[2]):
        assert needle.encode() not in left
    assert b"zebra3x" in left
    names = published(memory)
    assert first.name not in names
    assert second.name in names, "it held nothing of the record"
    assert memory.status().records == 208
    assert memory.verify_store().sound


def test_segments_of_an_index_that_nobody_reads_here_are_erased_too(memory: Memory) -> None:
    ids = memory.remember_many([f"zebra{n}x" for n in range(4)]).ids
    memory.maintain()
    index, log = index_of(memory), log_of(memory)
    home = home_of(memory)
    (ref,) = index.manifest.segments
    # The manifest of an application with another embedder, whose segments we cannot even decode.
    foreign = ref.name.replace("-0-", "-0-1", 1)
    home.put("default", foreign, [b"zebra2x in another format"])
    manifest = type(index.manifest)((type(ref)(foreign, 0, ref.last, 4),), 0)
    assert log.publish("default", "another index", type(manifest)(), manifest)
    memory.forget(ids[2], now=True)
    assert b"zebra2x" not in kept_bytes(memory)
    assert log.manifests("default")["another index"].segments == ()
    with pytest.raises(memoriter.NotFound):
        home.open("default", ref.name)


_OTHER = """
import sys
from tests.contract.opened import opened
memory = opened(sys.argv[1])
print(memory.status().segments, memory.status().tail, memory.maintain().published)
"""


def test_another_process_uses_what_was_published_and_builds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path) as memory:
        memory.remember_many([f"port {n}" for n in range(9)])
        assert memory.maintain().published
        before = published(memory)
        run = [sys.executable, "-c", _OTHER, str(path)]
        out = subprocess.run(run, check=True, capture_output=True, text=True)  # noqa: S603  # ours
        assert out.stdout.split() == ["1", "0", "False"]
        assert published(memory) == before == set(home_of(memory).list("default"))
