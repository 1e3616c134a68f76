"""Clients and servers are killed while they write: nothing is lost, doubled or torn."""

from __future__ import annotations

import random
import threading
import time
from functools import partial
from typing import TextIO

from tests.inside import log_of
from tests.night import NIGHT
from tests.postgres.forked import Child, opened, write_on
from tests.postgres.server import new_server
from tests.postgres.writers import writer, written_ids


def test_killed_clients_lose_double_and_tear_nothing(url: str) -> None:
    dice, acknowledged = random.Random(7), dict[str, int]()
    for at in range(200 if NIGHT else 10):
        names = [f"w{at}a", f"w{at}b"]
        children = [Child(partial(writer, url, name, 0, 10_000)) for name in names]
        for child in children:
            child.wait_for(dice.randint(1, 12))
        for child, name in zip(children, names, strict=True):
            child.kill()
            acknowledged[name] = len(child.lines)
    with opened(url) as memory:
        ids = written_ids(log_of(memory))
        assert len(ids) == len(set(ids)), "no write is there twice"
        for name, count in acknowledged.items():
            own = [record_id for record_id in ids if record_id.startswith(f"{name}-")]
            assert own == [f"{name}-{n}" for n in range(len(own))]
            assert count <= len(own) <= count + 1, "at most the one that was not acknowledged"
            # Whether or not the last one was written, a retry with its key has it written once.
            last = f"{name}-{count}"
            memory.remember(f"port {count} of {name}", id=last, key=last)
        after = written_ids(log_of(memory))
        assert len(after) == len(set(after)) == sum(acknowledged.values()) + len(acknowledged)


def reader(url: str, out: TextIO) -> None:
    """Look again and again: a log only ever grows, and what is there is dense."""
    with opened(url) as memory:
        log, seen, looks = log_of(memory), 0, 0
        while True:
            head = log.head("default")
            assert head.seq >= seen, "a log never shrinks"
            rows = [
                record.row
                for delta in log.deltas("default", seen, head.seq, ("", ""))
                for record in delta.records
            ]
            assert rows == list(range(seen + 1, head.seq + 1)), "no gap, whoever commits"
            seen, looks = head.seq, looks + 1
            total = memory.browse(limit=1).total
            assert total >= seen
            ended = bool(memory.recall("the end", where={"id": "end"}))
            out.write(f"{looks}\n")
            if ended:
                return


def several(url: str, name: str, threads: int, count: int, out: TextIO) -> None:
    """A process with several writing threads."""
    with opened(url) as memory:
        work = [
            threading.Thread(target=write_on, args=(memory, f"{name}{n}", 0, count, out))
            for n in range(threads)
        ]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()


def test_readers_only_ever_see_dense_prefixes(url: str) -> None:
    processes, threads, count = (4, 2, 100) if NIGHT else (3, 2, 12)
    readers = [Child(partial(reader, url)) for _ in range(4 if NIGHT else 2)]
    for child in readers:
        child.wait_for(1)
    writers = [Child(partial(several, url, f"p{n}t", threads, count)) for n in range(processes)]
    for child in readers:
        child.wait_for(4)
    assert [child.join() for child in writers] == [0] * processes
    with opened(url) as memory:
        memory.remember("the end", id="end")
        assert [child.join() for child in readers] == [0] * len(readers)
        assert len(set(written_ids(log_of(memory)))) == processes * threads * count + 1


def test_killed_servers_lose_double_and_tear_nothing() -> None:
    server, dice = new_server(), random.Random(11)
    url = server.database("killed")
    rounds, children = 20 if NIGHT else 2, [
        Child(partial(writer, url, name, 0, 10_000)) for name in ("ann", "bob")
    ]  # fmt: skip
    for _ in range(rounds):
        for child in children:
            child.wait_for(len(child.lines) + dice.randint(1, 10))
        time.sleep(dice.random() / 50)  # somewhere in a commit
        server.kill()
        server.start()
    for child in children:
        child.wait_for(len(child.lines) + 5)
        child.kill()
    with opened(url) as memory:
        ids = written_ids(log_of(memory))
        assert len(ids) == len(set(ids))
        for child in children:
            assert set(child.lines) <= set(ids), "what was acknowledged is there"
        assert len(ids) <= sum(len(child.lines) for child in children) + len(children)
    server.stop()
