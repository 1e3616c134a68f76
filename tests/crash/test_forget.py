"""Forgotten means gone: from every byte of every file, after any crash, on a full disk too."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.crash import forgets, lab
from tests.crash.conftest import Note
from tests.crash.disks import filled, small_disk
from tests.inside import log_of, snapshot_of, write_transaction
from tests.night import NIGHT

import memoriter
from memoriter.index.cache import IndexCache
from memoriter.store.sqlite.openers import OPENERS
from memoriter.store.sqlite.store import Sqlite
from memoriter.store.verify import verify_log
from memoriter.testing.acts import batch, forget_act, put
from memoriter.testing.whole import whole

T = TypeVar("T")
HISTORIES = 200 if NIGHT else 2


def lived(folder: Path, seed: str, histories: int, **more: Any) -> Counter[str]:
    """What random histories showed; it fails when a byte was left."""
    output = lab.run("forgets", folder, f"{lab.SEED}/{seed}", histories, limit=7200, **more)
    return Counter(json.loads(output))


def test_no_byte_of_a_forgotten_record_is_left_after_any_history(quick: Path, note: Note) -> None:
    counts = lived(quick, "histories", HISTORIES)
    note("histories that forget / kills / bytes left", f"{HISTORIES} / {counts['kills']} / 0")
    assert counts["histories"] == HISTORIES
    assert counts["kills"] >= HISTORIES
    assert counts["forgotten"] >= HISTORIES


@pytest.mark.parametrize("bug", ["half_erased", "unscrubbed"])
def test_an_erasure_that_is_not_one_is_noticed(bug: str, quick: Path) -> None:
    with pytest.raises(Exception, match=r"status says erased|after upkeep"):
        lived(quick, "histories", 12, MEMORITER_PLANT=bug)


# -- what SQLite leaves -------------------------------------------------------------------------


def test_free_space_of_pages_is_zeroed_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with contextlib.closing(Sqlite(path)) as log:
        log.commit(batch(*(put(f"r{n}", "a text " * 40) for n in range(50))))
        assert log.scrub("default", 0)
        planted = _plant(path, b"a copy that a split left")
        assert planted > 5
        before = whole(log, "default")
        assert log.scrub("default", 0)
        assert b"a copy that" not in path.read_bytes()
        assert whole(log, "default") == before
        assert log.damage() == []
        log.commit(batch(put("more"), forget_act("r3")))
        verify_log("default", whole(log, "default"))


def _plant(path: Path, what: bytes) -> int:
    """Write bytes into the free space of every page that has room for them."""
    count = 0
    with OPENERS.beside(path) as file:
        size = int.from_bytes(file.xRead(2, 16), "big")
        for at in range(size, file.xFileSize(), size):
            page = file.xRead(size, at)
            begin = (8 if page[0] > 5 else 12) + 2 * int.from_bytes(page[3:5], "big")
            end = int.from_bytes(page[5:7], "big")
            if page[0] in (2, 5, 10, 13) and end - begin > len(what):
                file.xWrite(what, at + begin)
                count += 1
    return count


def test_a_reader_delays_erasing_and_the_status_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None, maintenance="manual") as memory:
        first = memory.remember("the word is xylophone", id="a").id
        with snapshot_of(memory) as reader:
            reader.execute("SELECT count(*) FROM records").fetchall()
            assert _in_thread(lambda: memory.forget(first)).state == "hidden"
            assert _in_thread(memory.maintain).unerased == 1
            status = _in_thread(memory.status)
            assert (status.unerased, status.unerased_since is None) == (1, False)
        assert memory.maintain().unerased == 0
        assert memory.status().unerased_since is None
    assert b"xylophone" not in path.read_bytes()


def _in_thread(work: Callable[[], T]) -> T:
    """Run on another thread: this one's connection is busy reading."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


# -- in the background, at close, after a crash -----------------------------------------------


def test_closing_erases_what_was_forgotten_just_now(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None, flush_rows=2) as memory:
        ids = memory.remember_many([f"zebra{n}x" for n in range(5)]).ids
        memory.maintain()
        assert memory.forget(ids[3]).state == "hidden"
    with memoriter.open(path, embedder=None, read_only=True) as memory:
        assert memory.status().unerased == 0
    assert forgets.search(forgets.files(tmp_path), {b"zebra3x": "3", ids[3].encode(): "3"}) == []


def test_opening_resumes_what_a_crash_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None, maintenance="manual") as memory:
        ids = memory.remember_many(["zebra1x", "zebra2x"]).ids
        memory.forget(ids[0])
    assert b"zebra1x" not in path.read_bytes()  # but it could be in a segment: nothing is marked
    erased: list[str] = []
    plain = IndexCache.erase

    def watched(self: IndexCache, tenant: str, *, wait: bool = False) -> bool:
        erased.append(tenant)
        return plain(self, tenant, wait=wait)

    monkeypatch.setattr(IndexCache, "erase", watched)
    with memoriter.open(path, embedder=None) as memory:
        assert memory.get(ids[1])
    assert erased == ["default"]
    with memoriter.open(path, embedder=None, read_only=True) as memory:
        assert memory.status().unerased == 0


# -- a full disk --------------------------------------------------------------------------------


@pytest.mark.parametrize("flush_rows", [10_000, 200] if NIGHT else [200])
def test_forgetting_works_on_a_full_disk(tmp_path: Path, flush_rows: int) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, "24m" if NIGHT else "12m"):
        options = {"embedder": None, "flush_rows": flush_rows}
        with memoriter.open(disk / "m.db", **options) as memory:  # type: ignore[arg-type]
            kept = filled(memory)
            assert len(kept) > 600, "too few for segments"
            with contextlib.suppress(OSError):  # to the last byte
                (disk / "rest").write_bytes(bytes(64 * 1024**2))
            for gone in (kept[3], kept[-1], *kept[10:20]):
                assert memory.forget(gone, now=True).state == "erased"
            assert memory.status().unerased == 0
            assert memory.forget(kept[30:60]).count == 30, "the reserve was filled again"
            verify_log("default", whole(log_of(memory), "default"))
        files = forgets.files(disk)
        needles = {f'"{kept[3]}"'.encode(): "3", f'"{kept[-1]}"'.encode(): "last"}
        assert forgets.search(files, needles) == []


def test_the_reserve_is_small_and_kept(tmp_path: Path) -> None:
    reserve = tmp_path / "m.db.reserve"
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        assert not reserve.exists(), "nothing is there to forget yet"
        memory.remember("a word")
        assert 256 * 1024 <= reserve.stat().st_size <= 512 * 1024
        assert reserve.stat().st_mode & 0o777 == 0o600


def test_a_mark_of_erasure_that_is_damaged_counts_as_none(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None, maintenance="manual") as memory:
        ids = memory.remember_many(["one", "two"]).ids
        memory.forget(ids[0], now=True)
        memory.forget(ids[1])
        assert memory.status().unerased == 1
        with write_transaction(memory) as db:
            db.execute("UPDATE erasures SET upto=upto+9")
        assert memory.status().unerased == 2
        assert memory.maintain().unerased == 0
