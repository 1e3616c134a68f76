"""The same memory on PostgreSQL and in a file: recall, writes, bulk, a first meeting, tenants.

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
from typing import Any, TextIO

import psycopg
from tests.inside import engine_of
from tests.postgres.forked import Child
from tests.postgres.server import Server, new_server

import memoriter
from bench.tools import Corpus, Options, Spent, folder, median, table, timed
from memoriter.core.batch import Batch, RegisterAgent
from memoriter.memory.facade import Memory
from memoriter.memory.tenants import Tenants
from memoriter.store.postgres.store import Postgres

_TICK = os.sysconf("SC_CLK_TCK")


def run(options: Options) -> None:
    server = new_server(fsync="on", shared_buffers="512MB", max_wal_size="4GB")
    with folder() as place:
        os.environ["MEMORITER_CACHE"] = str(place / "cache")
        _heads(server, 100 if options.small else 500)
        _late(server, *(((10, 100), 4.0) if options.small else ((10, 100, 1_000, 5_000), 20.0)))
        _writes(server, place, 40 if options.small else 200)
        for count in (2_000,) if options.small else (10_000, 100_000, *options.more):
            _reads(server, place / f"m{count}.db", count, 20 if options.small else 40)
        _writers(server, 1.0 if options.small else 5.0)
        _tenants(server, (20, 60) if options.small else (100, 1_000, 10_000))
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


def _late(server: Server, sizes: Sequence[int], rest: float) -> None:
    """The first recall after another process wrote: what it costs if nobody read it in advance."""
    url, rows, texts = server.database(), [], Corpus().records(10_000 + 3 * sum(sizes))
    writer = _opened(url)
    writer.remember_many(texts[:10_000])
    writer.maintain()
    with memoriter.open(url) as followed, _opened(url) as alone, writer:
        memories, at = {"alone": alone, "followed": followed}, 10_000
        for each in (*memories.values(), *memories.values()):
            each.recall("port of the cache")
        for size in sizes:
            spent: dict[str, list[Spent]] = {"alone": [], "followed": [], "again": []}
            for _ in range(3):
                writer.remember_many(texts[at : at + size])
                at += size
                while engine_of(followed).index_cache.index("default").end[0] < writer.seq():
                    time.sleep(0.05)
                for name, memory in memories.items():
                    spent[name].append(timed(partial(memory.recall, "port of the cache"))[1])
                spent["again"].append(timed(partial(alone.recall, "port of the cache"))[1])
            rows.append((str(size), *(_ms(median(each).cpu) for each in spent.values())))
        followed.maintain()
        followed.recall("port of the cache")
        time.sleep(1)
        before = time.process_time(), server_cpu(server)
        time.sleep(rest)
        idle = (time.process_time() - before[0], server_cpu(server) - before[1])
    table(["others wrote", "first recall, CPU ms", "if it was followed", "one more recall"], rows)
    print(f"following one tenant: {_ms(idle[0] / rest)} ms of CPU a second, "
          f"server {_ms(idle[1] / rest)} ms\n")  # fmt: skip


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
    rows += _meetings(path, url, questions[0])
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


def _meetings(path: Path, url: str, question: str) -> list[tuple[str, ...]]:
    """New processes meet the store: open and answer; in turn, the median of three."""
    cache = Path(os.environ["MEMORITER_CACHE"])
    places: dict[str, str | Path] = {
        "file": path,
        "PostgreSQL, cached": url,
        "PostgreSQL, not cached": url,
    }
    spent: dict[str, list[Spent]] = {name: [] for name in places}
    for _ in range(3):
        for name, place in places.items():
            if name.endswith("not cached"):
                for each in cache.glob("*"):
                    each.unlink()
            child = Child(partial(_meet, place, question))
            assert child.join() == 0
            spent[name].append(Spent(*map(float, child.lines[0].split())))
    middles = {name: median(each) for name, each in spent.items()}
    return [
        (
            f"open and first recall, {name}",
            _ms(each.cpu),
            _ms(each.wall),
            "",
            "" if name == "file" else f"{each.cpu / middles['file'].cpu:.2f} × the file",
        )
        for name, each in middles.items()
    ]


def _meet(place: str | Path, question: str, out: TextIO) -> None:
    def meet() -> None:
        with _opened(place) as memory:
            assert len(memory.recall(question)) > 0

    _, spent = timed(meet)
    out.write(f"{spent.wall} {spent.cpu}\n")


# -- many writers -------------------------------------------------------------------------------


def _writers(server: Server, seconds: float) -> None:
    """Threads of one process write for some seconds, into one tenant or several; then processes."""
    url = server.database()
    rates = [
        (label, _commits(url, tenants, seconds))
        for label, tenants in (
            ("1 writer", ["a"]),
            ("4 writers, one tenant (they share commits)", ["b"] * 4),
            ("4 writers, 4 tenants", ["c", "d", "e", "f"]),
            ("16 writers, 4 tenants", ["g", "h", "i", "j"] * 4),
        )
    ]
    rates.append(("16 writers, 4 tenants, each in a process of its own", _spread(url, seconds)))
    rows = [(label, f"{rate:,.0f}", f"{rate / rates[0][1]:.1f}") for label, rate in rates]
    table(["durable writes", "writes per second", "times one writer"], rows)


def _spread(url: str, seconds: float) -> float:
    """Four processes, each with four threads that write into a tenant of its own."""

    def work(tenant: str, out: TextIO) -> None:
        out.write(f"{_commits(url, [tenant] * 4, seconds)}\n")

    children = [Child(partial(work, tenant)) for tenant in "klmn"]
    assert all(child.join() == 0 for child in children)
    return sum(float(child.lines[0]) for child in children)


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


# -- many tenants -------------------------------------------------------------------------------


def _tenants(server: Server, counts: Sequence[int]) -> None:
    """Recalls of tenants that nobody asked before, when there are few tenants and when many."""
    rows: list[tuple[str, ...]] = []
    for count in counts:
        child = Child(partial(_asked_tenants, server.database(), count))
        assert child.join() == 0
        cold, warm, held, memory = child.lines[0].split()
        rows.append((f"{count:,}", cold, warm, held, memory))
    table(
        ["tenants of 20 records", "first recall, CPU ms", "next, CPU ms", "indexes MB", "RSS MB"],
        rows,
    )


def _asked_tenants(url: str, count: int, out: TextIO) -> None:
    with Tenants(url, embedder=None, memory_limit=2**20, maintenance="manual") as tenants:
        for n in range(count):
            tenants.memory(f"t{n}").remember_many(f"port {k} of tenant {n}" for k in range(20))
    cold, warm, held = list[Spent](), list[Spent](), 0
    with Tenants(url, embedder=None, memory_limit=2**20, maintenance="manual") as tenants:
        for n in range(0, count, max(1, count // 100)):
            ask = partial(tenants.memory(f"t{n}").recall, "port 7", 1)
            cold.append(timed(ask)[1])
            warm.append(timed(ask)[1])
            held = max(held, engine_of(tenants.memory(f"t{n}")).index_cache.held)
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    figures = (_ms(median(cold).cpu), _ms(median(warm).cpu), _mb(held), _mb(resident))
    out.write(" ".join(figures) + "\n")


def _mb(size: int) -> str:
    return f"{size / 2**20:.1f}"


def _spent(spent: Spent, server: float) -> tuple[str, str, str]:
    return _ms(spent.cpu), _ms(spent.wall), _ms(server)


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.2f}"
