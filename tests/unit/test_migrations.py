"""A store of an earlier format is brought forward in one transaction, or refused untouched."""

from __future__ import annotations

import threading
from pathlib import Path

import apsw
import pytest

import memoriter
from memoriter import Unsupported
from memoriter.store.sqlite import schema


def add_color(db: apsw.Connection) -> None:
    """A step as a later version may have one: a new table, filled from what is there."""
    db.execute("CREATE TABLE colors (tenant INTEGER PRIMARY KEY, color TEXT NOT NULL) STRICT")
    db.execute("INSERT INTO colors SELECT tenant, 'blue' FROM tenants")


def add_shade(db: apsw.Connection) -> None:
    db.execute("ALTER TABLE colors ADD COLUMN shade TEXT")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of format 2."""
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None) as memory:
        memory.remember("the ssh port", id="port")
    return path


def later(patch: pytest.MonkeyPatch, *steps: schema.MigrationStep) -> None:
    """Play a version whose format is as much later as there are steps."""
    patch.setattr(schema, "FORMAT", 2 + len(steps))
    patch.setattr(schema, "STEPS", {1: None, **dict(enumerate(steps, start=2))})


def state(path: Path) -> tuple[int, set[str]]:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type='table'")}
    version = int(db.pragma("user_version"))
    db.close()
    return version, tables & {"colors"}


def test_a_store_is_brought_forward_when_it_is_opened_for_writing(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later(monkeypatch, add_color, add_shade)
    with pytest.raises(Unsupported, match="must be upgraded to format 4") as caught:
        memoriter.open(store, embedder=None, read_only=True)
    assert "without `read_only`" in caught.value.hint
    assert state(store) == (2, set())
    with memoriter.open(store, embedder=None) as memory:
        assert memory.get("port").text == "the ssh port"
        memory.remember("more")
        assert memory.verify_store().sound
    assert state(store) == (4, {"colors"})
    with memoriter.open(store, embedder=None, read_only=True) as memory:
        assert memory.count() == 2


def test_a_step_that_fails_leaves_the_store_as_it_was(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(db: apsw.Connection) -> None:
        db.execute("DELETE FROM records")
        raise RuntimeError("a bug in a step")

    before = state(store)
    with monkeypatch.context() as patch:
        later(patch, add_color, fails)
        with pytest.raises(RuntimeError):
            memoriter.open(store, embedder=None)
    assert state(store) == before
    with memoriter.open(store, embedder=None) as memory:
        assert memory.get("port").text == "the ssh port"


def test_threads_that_open_it_at_once_bring_it_forward_once(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []

    def counted(db: apsw.Connection) -> None:
        ran.append(1)
        add_color(db)

    later(monkeypatch, counted)
    threads = [
        threading.Thread(target=lambda: memoriter.open(store, embedder=None).close())
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ran == [1]
    assert state(store)[0] == 3


def test_a_later_format_and_one_without_a_step_are_refused_untouched(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        later(patch, add_color)
        memoriter.open(store, embedder=None).close()
    content = store.read_bytes()
    with pytest.raises(Unsupported, match="has format 3, but this version") as caught:
        memoriter.open(store, embedder=None)
    assert "upgrade" in caught.value.hint
    monkeypatch.setattr(schema, "FORMAT", 5)
    with pytest.raises(Unsupported, match="cannot upgrade format 3") as caught:
        memoriter.open(store, embedder=None)
    assert "export" in caught.value.hint
    assert store.read_bytes() == content


def test_a_backup_of_an_earlier_format_is_brought_forward_when_it_is_opened(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memoriter.open(store, embedder=None) as memory:
        memory.backup(tmp_path / "copy.db")
    later(monkeypatch, add_color)
    memoriter.restore(tmp_path / "copy.db", tmp_path / "new.db")
    assert state(tmp_path / "new.db")[0] == 3
    assert state(tmp_path / "copy.db")[0] == 2
