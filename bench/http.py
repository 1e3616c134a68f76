"""Milliseconds of one recall over HTTP (keep-alive, real process) beside the library, ten hits.

Rounds of both are interleaved, so that whatever else the machine does falls on both. The library
is also timed with the receipt's digest, which a full answer carries and a brief one does not. CPU
is that of the library's process or of the server's, all threads. The last two columns are medians
of the differences, question by question, in wall time and in CPU.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import memoriter
from bench.tools import Corpus, Options, folder, profiled, table
from memoriter.doors.operations import BY_NAME
from memoriter.doors.tenant_session import TenantSession

RECORDS = 10_000


def run(options: Options) -> None:
    corpus = Corpus()
    texts, questions = corpus.records(RECORDS), corpus.questions(30 if options.small else 200)
    with folder() as place:
        with memoriter.open(place / "m.db", maintenance="manual") as memory:
            memory.remember_many(texts)
            memory.maintain()
        with (
            served(place) as (ask, server_cpu),
            memoriter.open(place / "m.db", maintenance="manual") as memory,
        ):
            tenant_session = TenantSession(memory)
            ways: dict[str, Callable[[str], Any]] = {
                "library": lambda q: memory.recall(q, 10),
                "library, digest": lambda q: memory.recall(q, 10).receipt.digest,
                "table of operations": lambda q: BY_NAME["recall"].run(
                    tenant_session, {"query": q, "limit": 10}
                ),
                "HTTP": lambda q: ask("/v1/recall", {"query": q, "limit": 10}),
                "HTTP, full": lambda q: ask(
                    "/v1/recall", {"query": q, "limit": 10, "detail": "full"}
                ),
                "HTTP, status": lambda _: ask("/v1/status", None),
            }  # fmt: skip
            for _ in range(5):  # the first loads what is loaded once: on a busy machine it is late
                with suppress(AssertionError):
                    ask("/v1/recall", {"query": questions[0], "limit": 10})
            first = ask("/v1/recall", {"query": questions[0], "limit": 10})
            local = [hit.id for hit in memory.recall(questions[0], 10)]
            assert [hit["id"] for hit in first["hits"]] == local
            _measured(ways, questions, server_cpu)
            with profiled(options, f"{len(questions)} × recall through the table"):
                for question in questions:
                    ways["table of operations"](question)


def _measured(
    ways: dict[str, Callable[[str], Any]], questions: list[str], server_cpu: Callable[[], float]
) -> None:
    spent: dict[str, list[float]] = {name: [] for name in ways}
    worked: dict[str, list[float]] = {name: [] for name in ways}
    for question in questions:
        for name, way in ways.items():
            cpu = server_cpu if name.startswith("HTTP") else time.process_time
            start, began = time.perf_counter(), cpu()
            way(question)
            spent[name].append(1000 * (time.perf_counter() - start))
            worked[name].append(1000 * (cpu() - began))
    rows: list[tuple[str, ...]] = []
    for name, ms in spent.items():
        tail = sorted(ms)[int(0.9 * len(ms))]
        middle = statistics.median(ms), tail, statistics.median(worked[name])
        more = _more(ms, spent["library"]), _more(worked[name], worked["library"])
        rows.append((name, *(f"{each:.2f}" for each in middle), *(f"{each:+.2f}" for each in more)))
    heads = ["p50 ms", "p90 ms", "p50 CPU ms", "beside the library", "in CPU"]
    table([f"recall, {RECORDS:,} records", *heads], rows)


def _more(ms: list[float], base: list[float]) -> float:
    return statistics.median(one - other for one, other in zip(ms, base, strict=True))


def cpu_of(pid: int) -> float:
    """The CPU seconds of all threads of a process, to the nanosecond, as Linux tells them."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


@contextmanager
def served(place: Path) -> Iterator[tuple[Callable[[str, Any], Any], Callable[[], float]]]:
    """(asks a server that runs meanwhile, the CPU seconds that it has used)."""
    env = {**os.environ, "PYTHONPATH": str(Path(memoriter.__file__).parents[1])}
    command = [sys.executable, "-m", "memoriter", "serve", "--port", "0", "--json"]
    process = subprocess.Popen(  # noqa: S603  # our own program
        [*command, "--store", str(place / "m.db")], env=env, text=True, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(4)]
    address = json.loads("".join(lines))
    wire = http.client.HTTPConnection(address["url"].removeprefix("http://"), timeout=30)
    headers = {"Authorization": f"Bearer {address['token']}", "Content-Type": "application/json"}

    def ask(path: str, body: Any) -> Any:
        method = "GET" if body is None else "POST"
        wire.request(method, path, None if body is None else json.dumps(body), headers)
        answer = wire.getresponse()
        data = answer.read()
        assert answer.status == 200, data
        return json.loads(data)

    try:
        yield ask, partial(cpu_of, process.pid)
    finally:
        wire.close()
        process.terminate()
        process.wait()
