"""The same memory on PostgreSQL and in a file: recall, writes, bulk, a first meeting.

The server is the one of the tests, from a wheel, on this machine and with fsync. CPU is that of our
process; "server" is that of all processes of PostgreSQL. The stores are asked in turn.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from tests.postgres.server import Server, new_server

import memoriter
from bench.tools import Corpus, Options, Spent, folder, median, table, timed
from memoriter.core.batch import Batch, RegisterAgent
from memoriter.memory.facade import Memory
from memoriter.store.postgres.store import Postgres

_TICK = os.sysconf("SC_CLK_TCK")


def run(options: Options) -> None:
    server = new_server(fsync="on", shared_buffers="512MB", max_wal_size="4GB")
    with folder() as place:
        os.environ["MEMORITER_CACHE"] = str(place / "cache")
        _heads(server, 100 if options.small else 500)
        _writes(server, place, 40 if options.small else 200)
        for count in (2_000,) if options.small else (10_000, 100_000, *options.more):
            _reads(server, place / f"m{count}.db", count, 20 if options.small else 40)
        _writers(server, 1.0 if options.small else 5.0)
    server.stop()


def server_cpu(server: Server) -> float:
    """CPU seconds of the server and all its processes, those that have ended included."""
    pid = server.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    total = sum(_ticks(pid)[:4])
    for child in children:
        total += sum(_ticks(int(child))[:2])
    return total / _TICK


def _ticks(pid: int) -> list[int]:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return [0, 0, 0, 0]
    return [int(each) for each in stat[11:15]]


def _opened(place: str | Path, tenant: str = "default", **more: Any) -> Memory:
    return memoriter.open(place, tenant, maintenance="manual", **more)


# -- knowing that another process wrote ---------------------------------------------------------


def _heads(server: Server, asked: int) -> None:
    """What it costs to ask before every recall, beside a thread that asks for all tenants."""
    log = Postgres(server.database())
    names = [f"t{n}" for n in range(64)]
    for name in names:
        log.commit(Batch(name, (RegisterAgent("a", b'{"agent":"a"}', bytes(16), None),), 1))
    every = ("SELECT tenant, seq FROM memoriter.heads WHERE tenant=ANY(%s)", (names,))
    spent: dict[str, list[Spent]] = {"the head of one tenant": [], "the heads of 64 tenants": []}
    before = server_cpu(server)
    for _ in range(asked):
        spent["the head of one tenant"].append(timed(partial(log.head, "t7"))[1])
    between = server_cpu(server)
    for _ in range(asked):
        spent["the heads of 64 tenants"].append(timed(partial(log.sessions.every_head, every))[1])
    servers = (between - before, server_cpu(server) - between)
    rows = [
        (name, _ms(median(each).cpu), _ms(of_server / asked))
        for (name, each), of_server in zip(spent.items(), servers, strict=True)
    ]
    table([f"asking whether anybody wrote, median of {asked}", "CPU ms", "server CPU ms"], rows)
    log.close()


# -- one write ---------------------------------------------------------------------------------


def _writes(server: Server, place: Path, count: int) -> None:
    url, texts = server.database(), Corpus().records(count)
    spent: dict[str, list[Spent]] = {"file": [], "PostgreSQL": [], "bare commit": []}
    bare = psycopg.connect(url, autocommit=True)
    bare.execute("CREATE TABLE bodies (n bigint PRIMARY KEY, body bytea)")
    with _opened(place / "w.db") as file, _opened(url) as remote:
        for memory in (file, remote):
            memory.remember("warm")
        for n, text in enumerate(texts):
            spent["file"].append(timed(partial(file.remember, text))[1])
            spent["PostgreSQL"].append(timed(partial(remote.remember, text))[1])
            size = len(text) * 2 + 1100  # body, words and a vector of 256 numbers, roughly
            spent["bare commit"].append(timed(partial(_bare, bare, n, b"x" * size))[1])
    bare.close()
    rows = [(name, _ms(median(each).cpu), _ms(median(each).wall)) for name, each in spent.items()]
    extra = median(spent["PostgreSQL"]).cpu - median(spent["bare commit"]).cpu
    rows.append(("  PostgreSQL beyond the bare commit", f"{1000 * extra:+.2f}", ""))
    table([f"one remember, median of {count}", "CPU ms", "wall ms"], rows)


def _bare(db: psycopg.Connection[Any], n: int, body: bytes) -> None:
    db.execute("BEGIN")
    db.execute("INSERT INTO bodies VALUES (%s, %s)", (n, body))
    db.execute("COMMIT")


# -- many records: bulk, recall, a first meeting --------------------------------------------------


def _reads(server: Server, path: Path, count: int, asked: int) -> None:
    url, corpus = server.database(), Corpus()
    texts, questions = corpus.records(count), corpus.questions(asked)
    rows: list[tuple[str, ...]] = []
    with _opened(path) as file, _opened(url) as remote:
        for name, memory in (("file", file), ("PostgreSQL", remote)):
            before = server_cpu(server)
            _, spent = timed(partial(memory.remember_many, texts))
            rate = count / (spent.cpu + server_cpu(server) - before)
            rows.append(
                (
                    f"bulk, {name}",
                    *_spent(spent, server_cpu(server) - before),
                    f"{rate:,.0f} records per CPU second",
                )
            )
            _, spent = timed(memory.maintain)
            rows.append((f"  upkeep, {name}", *_spent(spent, 0.0), ""))
        answers = _recalls(file, remote, questions)
        rows += answers
    for name, where in (("file", path), ("PostgreSQL, cached", url)):
        rows.append(_met(name, where, questions[0]))
    for each in Path(os.environ["MEMORITER_CACHE"]).glob("*"):
        each.unlink()
    rows.append(_met("PostgreSQL, not cached", url, questions[0]))
    table([f"{count:,} records", "CPU ms", "wall ms", "server CPU ms", ""], rows)


def _recalls(file: Memory, remote: Memory, questions: Sequence[str]) -> list[tuple[str, ...]]:
    spent: dict[str, list[Spent]] = {"file": [], "PostgreSQL": []}
    for question in questions:
        one, first = timed(partial(file.recall, question))
        two, second = timed(partial(remote.recall, question))
        assert [(h.text, h.score) for h in one] == [(h.text, h.score) for h in two]
        spent["file"].append(first)
        spent["PostgreSQL"].append(second)
    middles = {name: median(each) for name, each in spent.items()}
    extra = 1000 * (middles["PostgreSQL"].cpu - middles["file"].cpu)
    return [
        (
            f"recall, {name}",
            _ms(each.cpu),
            _ms(each.wall),
            "",
            "" if name == "file" else f"{extra:+.2f} ms CPU",
        )
        for name, each in middles.items()
    ]


def _met(name: str, place: str | Path, question: str) -> tuple[str, ...]:
    """A process meets the store for the first time: open and answer."""

    def meet() -> None:
        with _opened(place) as memory:
            assert len(memory.recall(question)) > 0

    _, spent = timed(meet)
    return (f"open and first recall, {name}", _ms(spent.cpu), _ms(spent.wall), "", "")


# -- many writers -------------------------------------------------------------------------------


def _writers(server: Server, seconds: float) -> None:
    """Four threads write for some seconds: into one tenant, then into one each; also alone."""
    url = server.database()
    rows = [
        (label, f"{_commits(url, tenants, seconds):,.0f}")
        for label, tenants in (
            ("1 writer", ["a"]),
            ("4 writers, one tenant (they share commits)", ["b"] * 4),
            ("4 writers, 4 tenants", ["c", "d", "e", "f"]),
            ("16 writers, 4 tenants", ["g", "h", "i", "j"] * 4),
        )
    ]
    table(["durable writes", "writes per second"], rows)


def _commits(url: str, tenants: Sequence[str], seconds: float) -> float:
    done, until = [0] * len(tenants), time.monotonic() + seconds

    def work(memory: Memory, at: int) -> None:
        while time.monotonic() < until:
            memory.remember(f"port {done[at]} of writer {at}")
            done[at] += 1

    memories = {name: _opened(url, name, embedder=None) for name in set(tenants)}
    threads = [
        threading.Thread(target=work, args=(memories[name], at)) for at, name in enumerate(tenants)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for memory in memories.values():
        memory.close()
    return sum(done) / seconds


def _spent(spent: Spent, server: float) -> tuple[str, str, str]:
    return _ms(spent.cpu), _ms(spent.wall), _ms(server)


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.2f}"
