"""Opening a file: what may stand at its place, its names, its mode, and what lies beside it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from tests.unit.processes import python

import memoriter
from memoriter import Forbidden, NotFound, Unsupported
from memoriter.store.sqlite import connect

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a POSIX system is needed")


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


@pytest.mark.parametrize("place", [5, None, "a\0b", "a\ud800b", "a" * 300])
def test_a_place_that_is_none_is_told(place: object) -> None:
    with pytest.raises(memoriter.MemoriterError):
        memoriter.open(place)  # type: ignore[arg-type]  # on purpose


def test_what_is_no_plain_file_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o644)
    with pytest.raises(memoriter.Unsupported, match="regular file"):
        memoriter.open(tmp_path / "pipe")
    assert (tmp_path / "pipe").stat().st_mode & 0o777 == 0o644


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A store that holds one memory."""
    path = tmp_path / "kept" / "m.db"
    path.parent.mkdir()
    with memoriter.open(path, embedder=None) as memory:
        memory.remember("first", id="first")
    return path


def test_a_file_with_two_names_is_refused_until_it_has_one(kept: Path) -> None:
    other = kept.with_name("other.db")
    other.hardlink_to(kept)
    for path in (kept, other):
        with pytest.raises(Unsupported, match="more than one name") as caught:
            memoriter.open(path, embedder=None)
        assert "remove the other names" in caught.value.hint
    other.unlink()
    with memoriter.open(kept, embedder=None) as memory:
        assert memory.browse().total == 1


def test_a_symbolic_link_leads_to_the_file_and_all_that_lies_beside_it(
    kept: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    link = folder / "current.db"
    link.symlink_to(kept)
    with memoriter.open(link, embedder=None, flush_rows=1, maintenance="manual") as memory:
        memory.remember("second")
        memory.maintain()
        assert memory.status().segments == 1
        with pytest.raises(memoriter.InputError, match="reserved for the store"):
            memory.export(kept)
    (tmp_path / "folder").symlink_to(kept.parent)
    with memoriter.open(tmp_path / "folder" / "m.db", embedder=None) as memory:
        assert memory.status().segments == 1
        with pytest.raises(memoriter.InputError, match="reserved for the store"):
            memory.export(tmp_path / "folder" / "m.db")
    assert [path.name for path in folder.iterdir()] == ["current.db"]
    assert {path.name for path in kept.parent.iterdir()} == {
        "m.db",
        "m.db.idx",
        "m.db.lock",
        "m.db.reserve",
    }


def test_the_network_is_seen_behind_a_symbolic_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = tmp_path / "far"
    far.mkdir()
    (tmp_path / "near.db").symlink_to(far / "m.db")
    monkeypatch.setattr(connect, "filesystem", lambda at: "nfs" if at == far else "ext4")
    with pytest.raises(Unsupported, match="network"):
        memoriter.open(tmp_path / "near.db", embedder=None)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_a_log_without_its_file_is_damage_and_stays(
    tmp_path: Path, *, missing: bool, read_only: bool
) -> None:
    path, wal = tmp_path / "m.db", tmp_path / "m.db-wal"
    python(
        "m = memoriter.open(sys.argv[1], embedder=None); m.remember('kept')\n"
        "sys.stdout.flush(); os._exit(0)",
        path,
    )
    whole, log = path.read_bytes(), wal.read_bytes()
    if missing:
        path.unlink()
    else:
        os.truncate(path, 0)
    with pytest.raises(
        memoriter.Corrupt, match=r"m\.db is missing or empty, but its write-ahead log m\.db-wal"
    ) as caught:
        memoriter.open(path, embedder=None, read_only=read_only)
    assert "m.db-wal" in caught.value.hint
    assert wal.read_bytes() == log
    path.write_bytes(whole)
    with memoriter.open(path, embedder=None) as memory:
        assert memory.browse().total == 1


def test_a_limit_on_the_size_of_files_is_a_full_disk_at_birth_too(tmp_path: Path) -> None:
    script = """
import resource
for limit in (0, 20_000, 40_000, 100_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        memoriter.open(sys.argv[1], embedder=None).close()
    except memoriter.MemoriterError as error:
        print(type(error).__name__)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with memoriter.open(sys.argv[1], embedder=None) as memory:
    memory.remember("and then it fits")
"""
    assert set(python(script, tmp_path / "m.db").split()) == {"StorageFull"}


def test_a_store_that_was_taken_out_of_wal_mode_is_put_back(kept: Path) -> None:
    script = """
import sqlite3
print(*sqlite3.connect(sys.argv[1]).execute("PRAGMA journal_mode=delete").fetchone())
"""
    assert python(script, kept) == "delete\n"
    with pytest.raises(Unsupported, match="no longer in WAL mode") as caught:
        memoriter.open(kept, embedder=None, read_only=True)
    assert "without read_only" in caught.value.hint
    with memoriter.open(kept, embedder=None) as memory:
        memory.remember("second")
        assert kept.with_name("m.db-wal").exists()
    with memoriter.open(kept, embedder=None, read_only=True) as memory:
        assert memory.browse().total == 2


def test_a_folder_that_may_not_be_written_is_the_reason_not_the_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memoriter.open(tmp_path / "kept.db") as memory:
        memory.remember("tea")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(Forbidden, match=r"new\.db cannot be created: the folder .* not writable"):
        memoriter.open(tmp_path / "new.db")
    with (
        memoriter.open(tmp_path / "kept.db") as memory,
        pytest.raises(Forbidden, match="it or its folder is not writable"),
    ):
        memory.remember("coffee")


def test_a_missing_store_that_was_to_be_read_only_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no store at"):
        memoriter.open(tmp_path / "new.db", read_only=True)
