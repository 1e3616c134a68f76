"""Milliseconds of one recall over HTTP (keep-alive, real process) beside the library, ten hits.

Rounds of both are interleaved, so that whatever else the machine does falls on both. The library
is also timed with the receipt's digest, which a full answer carries and a brief one does not. The
last column is the median of the differences, question by question.
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
from contextlib import contextmanager
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
        with served(place) as ask, memoriter.open(place / "m.db", maintenance="manual") as memory:
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
            first = ask("/v1/recall", {"query": questions[0], "limit": 10})
            local = [hit.id for hit in memory.recall(questions[0], 10)]
            assert [hit["id"] for hit in first["hits"]] == local
            _measured(ways, questions)
            with profiled(options, f"{len(questions)} × recall through the table"):
                for question in questions:
                    ways["table of operations"](question)


def _measured(ways: dict[str, Callable[[str], Any]], questions: list[str]) -> None:
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for question in questions:
        for name, way in ways.items():
            start = time.perf_counter()
            way(question)
            spent[name].append(1000 * (time.perf_counter() - start))
    rows: list[tuple[str, ...]] = []
    for name, ms in spent.items():
        more = [total - base for total, base in zip(ms, spent["library"], strict=True)]
        tail = sorted(ms)[int(0.9 * len(ms))]
        middle = statistics.median(ms), tail, min(ms)
        rows.append((name, *(f"{each:.2f}" for each in middle), f"{statistics.median(more):+.2f}"))
    heads = [f"recall, {RECORDS:,} records", "p50 ms", "p90 ms", "least ms", "beside the library"]
    table(heads, rows)


@contextmanager
def served(place: Path) -> Iterator[Callable[[str, Any], Any]]:
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
        yield ask
    finally:
        wire.close()
        process.terminate()
        process.wait()
