"""What a tenant's questions take while another sends hostile requests over eight connections.

A real server process. The questions of the quiet tenant are asked one after the other, without and
with the other tenant, in turns; the ratio is that of the two p99 of one run. Memory is the server's
anonymous memory: before, at most, and a few seconds after the last request.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path

import memoriter
from bench.hostile_bodies import bodies
from bench.tools import Corpus, Options, folder
from memoriter.doors.tokens import Tokens

RECORDS = 10_000
CONNECTIONS = 8
ROUNDS = 3
SMALL = (
    "a receipt with a long mmr",
    "a vector of 300,000 texts",
    "200,000 unknown fields",
    "100,000 seeds",
)
"""Those that a small run sends."""
HEADS = (
    "hostile requests", "answered", "p50 ms", "p99", "quiet p50", "p99", "p99 ratio",
    "refused to the quiet", "anonymous MB before", "most", "after",
)  # fmt: skip
SETTLE_S = 4.0
"""How long memory has to come back."""


def run(options: Options) -> None:
    print(f"| {' | '.join(HEADS)} |\n|---{'|---:' * (len(HEADS) - 1)}|", flush=True)
    corpus = Corpus()
    questions = corpus.questions(60 if options.small else 120)
    with folder() as place:
        with memoriter.open(place / "m.db", "quiet", maintenance="manual") as memory:
            memory.remember_many(corpus.records(1000 if options.small else RECORDS))
            memory.maintain()
        tokens = Tokens.for_store(place / "m.db")
        quiet, hostile = (tokens.create(tenant, "write")[0] for tenant in ("quiet", "hostile"))
        chosen = [each for each in bodies().items() if each[0] in SMALL or not options.small]
        for name, sent in chosen:  # each row takes a while, so it is printed when it is there
            row = _measured(place, name, sent, (quiet, hostile), questions)
            print(f"| {' | '.join(row)} |", flush=True)


def _measured(
    place: Path, name: str, sent: tuple[str, bytes], tokens: tuple[str, str], questions: list[str]
) -> list[str]:
    with _served(place) as (port, pid):
        quiet, hostile = tokens
        asking = Asking(port, quiet)
        asking.ask(questions[:20])  # warm: what is loaded on first use counts for nobody
        Asking(port, hostile).ask(questions[:2])
        answered: Counter[int] = Counter()
        with _attacked(port, hostile, sent, answered):
            asking.ask(questions[:5])
        asking.failed.clear()
        answered.clear()
        alone: list[float] = []
        beside: list[float] = []
        with Watched(pid) as memory:
            for nth in range(ROUNDS):
                part = questions[nth::ROUNDS]
                alone += asking.ask(part)
                with _attacked(port, hostile, sent, answered):
                    beside += asking.ask(part)
            time.sleep(SETTLE_S)
            after = anonymous(pid)
        ratio = _p99(beside) / _p99(alone)
        counts = ", ".join(f"{count} × {status}" for status, count in sorted(answered.items()))
        return [
            name, counts, f"{statistics.median(beside):.0f}", f"{_p99(beside):.0f}",
            f"{statistics.median(alone):.0f}", f"{_p99(alone):.0f}", f"{ratio:.1f}",
            str(sum(asking.failed.values())), f"{memory.first:.0f}", f"{memory.most:.0f}",
            f"{after:.0f}",
        ]  # fmt: skip


def _p99(ms: list[float]) -> float:
    return sorted(ms)[int(0.99 * len(ms))]


class Asking:
    """The quiet tenant, on one connection."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.failed: Counter[int] = Counter()

    def ask(self, questions: list[str]) -> list[float]:
        """Milliseconds of each question; one that is refused counts with the time until then."""
        wire = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        spent: list[float] = []
        for question in questions:
            body = json.dumps({"query": question, "limit": 10})
            began = time.perf_counter()
            wire.request("POST", "/v1/recall", body, self._headers)
            answer = wire.getresponse()
            answer.read()
            spent.append(1000 * (time.perf_counter() - began))
            if answer.status != 200:
                self.failed[answer.status] += 1
        wire.close()
        return spent


@contextlib.contextmanager
def _attacked(
    port: int, token: str, sent: tuple[str, bytes], answered: Counter[int]
) -> Iterator[None]:
    """The hostile tenant, in a process of its own so that it does not slow the quiet one down."""
    spawn = get_context("spawn")
    stop, ready, results = spawn.Event(), spawn.Event(), spawn.SimpleQueue()
    process = spawn.Process(target=_attack, args=(port, token, sent, stop, ready, results))
    process.start()
    ready.wait(60)
    time.sleep(0.5)
    try:
        yield
    finally:
        stop.set()
        answered.update(results.get())
        process.join()


def _attack(
    port: int, token: str, sent: tuple[str, bytes], stop: Event, ready: Event, results: object
) -> None:
    path, body = sent
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    statuses: list[int] = []

    def one() -> None:
        wire = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while not stop.is_set():
            try:
                wire.request("POST", path, body, headers)
                answer = wire.getresponse()
                answer.read()
                statuses.append(answer.status)
            except OSError:
                wire.close()
                statuses.append(0)

    threads = [threading.Thread(target=one, daemon=True) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    ready.set()
    for thread in threads:
        thread.join()
    results.put(Counter(statuses))  # type: ignore[attr-defined]


def anonymous(pid: int) -> float:
    """The anonymous memory of a process, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if line.startswith("RssAnon:")]
    return int(line.split()[1]) / 1024


class Watched:
    """Looks at the anonymous memory of a process fifty times a second."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.first = self.most = anonymous(pid)

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            self.most = max(self.most, anonymous(self._pid))

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@contextlib.contextmanager
def _served(place: Path) -> Iterator[tuple[int, int]]:
    env = {**os.environ, "PYTHONPATH": str(Path(memoriter.__file__).parents[1])}
    command = [sys.executable, "-m", "memoriter", "serve", "--port", "0", "--json"]
    process = subprocess.Popen(  # noqa: S603  # our own program
        [*command, "--store", str(place / "m.db")], env=env, text=True, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        address = json.loads("".join(process.stdout.readline() for _ in range(4)))
        yield int(address["url"].rpartition(":")[2]), process.pid
    finally:
        process.terminate()
        process.wait(60)
