"""A writer in a process of its own, and what the log has of it."""

from __future__ import annotations

from typing import TextIO

from tests.postgres.forked import opened, write_on

from memoriter.store.port import Log
from memoriter.store.verify import verify_log
from memoriter.testing.whole import whole


def written_ids(log: Log) -> list[str]:
    """The ids of all records, in order; the whole chain is checked."""
    dump = whole(log, "default")
    verify_log("default", dump)
    assert [row.seq for row in dump.chain] == list(range(1, dump.head.seq + 1)), "it is dense"
    return [record.id for record in dump.records]


def writer(url: str, name: str, first: int, count: int, out: TextIO) -> None:
    with opened(url) as memory:
        write_on(memory, name, first, count, out)
