"""Stores that somebody damaged, and what a memory and the doctor make of them."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import apsw
import pytest
from tests.inside import log_of

import memoriter
from memoriter.memory.facade import Memory
from memoriter.testing.whole import whole
from memoriter.text.analyzers import analyzer


def filled(path: Path, **options: object) -> Path:
    """A store of ten notes, an edge and some keys."""
    with memoriter.open(path, **{"embedder": None, **options}) as memory:  # type: ignore[arg-type]
        for n in range(10):
            memory.remember(f"note {n}", id=f"n{n}", key=f"k{n}", tags=["t"])
        memory.link("n1", "n2")
    return path


def with_words(path: Path, **options: object) -> str:
    """Keep the words of one more analyzer: those of our own are not in the log; its fingerprint."""
    with opened(path, **options) as memory:
        name = next(kept.name for kept in memory.analyzers.list() if not kept.added)
        memory.analyzers.add(name)
    return analyzer(name).fingerprint


def hurt(path: Path, *statements: str) -> None:
    """Change a file behind the back of its store."""
    other = apsw.Connection(str(path))
    for statement in statements:
        other.execute(statement)
        assert other.changes(), statement
    other.close()


def opened(path: Path, **options: object) -> Memory:
    return memoriter.open(path, **{"embedder": None, **options})  # type: ignore[arg-type]


def a_damaged_head_is_not_believed(
    path: Path, damage: str = "UPDATE tenants SET seq=seq-1"
) -> None:
    """It is neither read nor written on, and told."""
    filled(path)
    hurt(path, damage)
    with opened(path) as memory:
        for verb in (
            lambda: memory.keywords("note"),
            lambda: memory.get("n3"),
            lambda: memory.remember("more"),
        ):
            with pytest.raises(memoriter.Corrupt):
                verb()
        assert memory.verify_store().problems
        assert not memory.doctor().sound


def dumped(memory: Memory) -> object:
    return whole(log_of(memory), "default")


def the_doctor_mends_derived_data_only(path: Path) -> None:
    """Words, a vector and a segment are damaged and mended; every other row stays as it was."""
    filled(path, embedder="table", flush_rows=5)
    with_words(path, embedder="table", flush_rows=5, maintenance="manual")
    with opened(path, embedder="table", maintenance="manual", flush_rows=5) as memory:
        memory.maintain()
        before = spelled(memory)
    (segment, *_) = path.with_name(path.name + ".idx").glob("*.seg")
    segment.write_bytes(segment.read_bytes()[:-100])
    hurt(
        path,
        "UPDATE words SET body=zeroblob(4) WHERE row=1",
        "UPDATE vectors SET body=zeroblob(length(body)) WHERE row=3",
    )
    with opened(path, embedder="table", maintenance="manual", flush_rows=5) as memory:
        report = memory.doctor()
        assert (len(report.derived), report.problems, report.mended) == (3, (), True)
        assert memory.maintain().embedded == 1
        assert memory.verify_store().sound
        assert spelled(memory) == before


def spelled(memory: Memory) -> object:
    """Everything that was written; of vectors, whose they are."""
    dump = whole(log_of(memory), "default")
    rows = (dump.records, dump.edges, dump.agents, dump.tombs, dump.keys, dump.mentions, dump.chain)
    return rows, sorted((v.row, v.part, v.generation, v.body) for v in dump.vectors)


def the_doctor_keeps_what_it_cannot_make(path: Path) -> None:
    """A damaged vector of another space is told, and stays."""
    filled(path, embedder="table")
    hurt(path, "UPDATE vectors SET body=zeroblob(length(body)) WHERE row=1")
    with opened(path, embedder=None) as memory:
        before = dumped(memory)
        assert memory.doctor().problems
        assert dumped(memory) == before


def published(path: Path, tenant: str, word: str) -> list[Path]:
    """A tenant with a published segment; its files."""
    with memoriter.open(path, tenant, embedder=None, flush_rows=5, maintenance="manual") as memory:
        memory.remember_many([f"{word} {n}" for n in range(6)])
        memory.maintain()
    prefix = hashlib.sha256(tenant.encode()).hexdigest()[:8]
    files = sorted(path.with_name(path.name + ".idx").glob(f"{prefix}-*.seg"))
    assert files
    return files


def a_segment_of_another_is_not_served(path: Path, whose: str = "another tenant") -> None:
    (own,) = published(path, "bert", "bananas")
    if whose == "another tenant":
        (other,) = published(path, "anna", "apples")
    else:
        (other,) = published(path.with_name("o.db"), "bert", "apples")
    shutil.copy(other, own)
    with memoriter.open(path, "bert", embedder=None) as memory:
        assert not memory.keywords("apples")
        assert len(memory.keywords("bananas", 50)) == 6
        assert memory.verify_store().derived
