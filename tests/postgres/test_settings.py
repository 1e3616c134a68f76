"""What is set for a client, a role or a database does not change what is written and read."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from tests.postgres.forked import opened
from tests.postgres.server import OWNER, server

import memoriter


def name_of(url: str) -> str:
    """The database of an address."""
    return url.partition("?")[0].rpartition("/")[2]


def set_for(url: str, setting: str) -> None:
    """Change a setting of the database; sessions that begin later have it."""
    with server().connect() as db:
        db.execute(f"ALTER DATABASE {name_of(url)} SET {setting}".encode())


def test_the_encoding_of_the_client_changes_nothing(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    set_for(url, "client_encoding='LATIN1'")
    with opened(f"{url}&client_encoding=LATIN1") as memory:
        memory.remember("Grüße aus 漢字", id="köln")
    monkeypatch.delenv("PGCLIENTENCODING")
    with opened(url) as memory:
        assert [(hit.id, hit.text) for hit in memory.recall("Grüße")] == [
            ("köln", "Grüße aus 漢字")
        ]


@pytest.mark.usefixtures("url")
@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_of_another_encoding_is_refused(encoding: str) -> None:
    name = f"other_{encoding.lower()}"
    with server().connect() as db:
        other = f"OWNER {OWNER} ENCODING '{encoding}' TEMPLATE template0"
        db.execute(f"CREATE DATABASE {name} {other}".encode())
    for read_only in (False, True):
        with pytest.raises(memoriter.Unsupported, match=f"the encoding {encoding}") as raised:
            memoriter.open(server().url(name), read_only=read_only)
        assert "--encoding=UTF8" in raised.value.hint
    with server().connect(name) as db:
        assert db.execute("SELECT 1 FROM pg_namespace WHERE nspname='memoriter'").fetchall() == []


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_writers_wait_for_one_another_at_any_default_isolation(url: str, level: str) -> None:
    set_for(url, f"default_transaction_isolation='{level}'")
    failed: list[Any] = []

    def write(name: str) -> None:
        with opened(url) as memory:
            start.wait()
            for n in range(10):
                try:
                    memory.remember(f"port {n}", id=f"{name}{n}")
                except memoriter.MemoriterError as error:
                    failed.append(error)

    start = threading.Barrier(3)
    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with opened(url) as memory:
        assert memory.count() == 30


@pytest.mark.usefixtures("url")
def test_those_who_make_a_store_at_once_wait_at_any_default_isolation() -> None:
    with server().connect() as db:
        db.execute(f"CREATE DATABASE blank_repeatable OWNER {OWNER} TEMPLATE template0".encode())
    url = server().url("blank_repeatable")
    set_for(url, "default_transaction_isolation='repeatable read'")
    failed: list[Any] = []

    def make() -> None:
        start.wait()
        try:
            opened(url).close()
        except memoriter.MemoriterError as error:
            failed.append(error)

    start = threading.Barrier(4)
    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_a_database_that_takes_no_writes_says_so(url: str) -> None:
    set_for(url, "default_transaction_read_only=on")
    with pytest.raises(memoriter.Unavailable, match=r"takes writes: .* or read-only") as raised:
        opened(url)
    assert "name the primary" in raised.value.hint
    with memoriter.open(url, embedder=None, read_only=True) as memory:
        assert memory.count() == 0
