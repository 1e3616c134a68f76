"""A database is set back to an earlier state: a process that knew more neither answers nor writes.

`test_failover.py` has the same with a standby that takes over without the last commits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.postgres.forked import opened
from tests.postgres.server import OWNER, server

import memoriter


def only_ours(name: str) -> None:
    """End all sessions of a database, so that it can be copied or removed."""
    sql = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname=%s"
    with server().connect() as db:
        db.execute(sql, (name,))


@contextmanager
def set_back(url: str) -> Iterator[None]:
    """When the block ends, the database is again as it was before."""
    name = url.partition("?")[0].rpartition("/")[2]
    only_ours(name)
    with server().connect() as db:
        db.execute(f"CREATE DATABASE {name}_old TEMPLATE {name} OWNER {OWNER}".encode())
        yield
        only_ours(name)
        db.execute(f"DROP DATABASE {name}".encode())
        db.execute(f"ALTER DATABASE {name}_old RENAME TO {name}".encode())


def test_no_write_goes_on_from_another_history(url: str) -> None:
    with opened(url) as memory:
        memory.remember("first", id="a")
        with set_back(url):
            assert memory.remember("acknowledged", id="b", key="k").seq == 2
        for work in (
            lambda: memory.remember("again", key="k"),
            lambda: memory.remember_many(["one", "two"]),  # the head would be beyond what was known
            lambda: memory.forget("a"),
            lambda: memory.remember("third"),
            lambda: memory.recall("first"),
        ):
            with pytest.raises(
                memoriter.Corrupt, match="log entry 2 of tenant 'default' is missing"
            ):
                work()
    with opened(url) as memory:  # who knows nothing of it goes on from what is there
        assert [record.id for record in memory.browse()] == ["a"]
        assert memory.remember("another second entry").seq == 2


def test_a_history_that_went_on_without_us_is_seen_by_the_first_write(url: str) -> None:
    with opened(url) as memory:
        memory.remember("first", id="a")
        with set_back(url):
            memory.remember("acknowledged", id="b")
        with opened(url) as other:
            other.remember_many(["one", "two", "three"])
        with pytest.raises(memoriter.Corrupt, match="log entry 2 of tenant 'default' is missing"):
            memory.remember("fork")
        with opened(url) as other:
            assert other.count() == 4
