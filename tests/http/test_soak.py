"""A server that works for long keeps its memory, its handles and its threads."""

from __future__ import annotations

import gc
import itertools
import os
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import pytest
from bench.hostile import anonymous
from tests.http.live import JSON, PATIENT, Live, live

import memoriter
from memoriter.doors import tenant_session
from memoriter.doors.tenant_session import Receipts, TenantSession, weight_of

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
RING = 40
"""So many memories are written again and again."""
DAY_S, NIGHT_S = 60, 30 * 60
KEPT = 2 * 2**20
"""So many bytes of answers are kept, which the first rounds fill; a kept answer holds its view."""
REST_S = 0.04
"""By day the rounds rest between two calls, so that they cost other tests little."""


@dataclass(frozen=True)
class Held:
    """What the process holds."""

    megabytes: float
    handles: int
    threads: int

    @classmethod
    def now(cls, site: Live) -> Held:
        gc.collect()
        site.server_state.heap.trim()
        handles = len(list(Path("/proc/self/fd").iterdir()))
        return cls(anonymous(os.getpid()), handles, threading.active_count())


def rounds(site: Live, place: Path) -> Iterator[Callable[[], object]]:
    """What users, operators and attackers do, in turns; the store stays as large as it is."""
    client = site.client("admin")
    hostile = b'{"query": "x", "vector": [' + b'"a",' * 40_000 + b'"a"]}'

    def fresh() -> object:
        headers = {"Authorization": client.headers["Authorization"]}
        return httpx.get(f"{site.url}/v1/status", headers=headers, timeout=60)

    def proven() -> object:
        handle = client.post("/v1/recall", json={"query": "note of the port"}).json()["receipt"]
        client.post("/v1/verify", json={"receipt": handle})
        client.post("/v1/replay", json={"receipt": handle})
        return client.post("/v1/why-not", json={"receipt": handle, "id": "m0"})

    for n in itertools.count():
        id = f"m{n % RING}"
        yield lambda id=id: client.post("/v1/forget", json={"id": id})
        yield lambda id=id, n=n: client.post(
            "/v1/memories", json={"text": f"note {n % 7} of the port", "id": id}
        )
        yield lambda id=id: client.patch(f"/v1/memories/{id}", json={"tags": ["again"]})
        yield lambda n=n: client.post("/v1/recall", json={"query": f"note {n % 7}"})
        if n % 5 == 0:
            yield proven
            yield lambda: client.post("/v1/recall", content=hostile, headers=JSON)
            yield fresh
        if n % 40 == 0:
            yield lambda: client.post("/v1/maintain", json={})
            yield lambda: site.server_state.tenants.memory("acme").backup(place / "copy.db")


def soak(tmp_path: Path, warm: int, goes_on: Callable[[int], bool]) -> tuple[Held, Held]:
    with live(PATIENT, tmp_path / "m.db") as site:
        work = rounds(site, tmp_path)
        for _ in range(warm):
            next(work)()
        before = Held.now(site)
        for nth in itertools.count():
            if not goes_on(nth):
                break
            next(work)()
        return before, Held.now(site)


def check(before: Held, after: Held, megabytes: float) -> None:
    assert after.megabytes - before.megabytes < megabytes, (before, after)
    # A worker that gets its first job opens the store; a leak would be one handle a round.
    assert after.handles - before.handles <= 16, (before, after)
    assert after.threads - before.threads <= 4, (before, after)


@pytest.mark.parametrize(("records", "limit"), [(40, 1), (40, 40), (500, 10)])
def test_the_weight_of_a_kept_answer_is_about_what_it_takes(records: int, limit: int) -> None:
    """Else the memory that answers may take together is many times what it should be."""
    with memoriter.open(":memory:") as memory:
        memory.remember_many(
            [f"note {n} of the port and the cache {n % 13}" for n in range(records)]
        )
        session = TenantSession(memory, Receipts(10**12))
        weights: list[int] = []

        def ask(n: int) -> None:
            result = memory.recall(f"note {n} of the port {n}", limit)
            for hit in result:
                hit.explanation.to_dict()  # made on demand, and then kept
            weights.append(weight_of(result))
            session.handle(result)

        ask(0)  # what is loaded once
        gc.collect()
        tracemalloc.start()
        try:
            for n in range(1, 9):
                ask(n)
            gc.collect()
            taken = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
    assert 0.5 < sum(weights[1:]) / taken < 2.0


@pytest.fixture
def few_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers fill their memory before the clock starts, however quick the machine is."""
    monkeypatch.setattr(tenant_session, "Receipts", partial(Receipts, KEPT))


@pytest.mark.usefixtures("few_kept")
def test_a_minute_is_flat(tmp_path: Path) -> None:
    began: list[float] = []  # only how long it runs: what is checked is memory

    def goes_on(nth: int) -> bool:
        time.sleep(REST_S)
        if not began:
            began.append(time.monotonic())
        return nth < 200 or time.monotonic() < began[0] + DAY_S

    before, after = soak(tmp_path, 240, goes_on)
    check(before, after, 24.0)


@pytest.mark.night
@pytest.mark.usefixtures("few_kept")
def test_half_an_hour_is_flat(tmp_path: Path) -> None:
    until = time.monotonic() + NIGHT_S  # only how long it runs: what is checked is memory
    before, after = soak(tmp_path, 3000, lambda _: time.monotonic() < until)
    check(before, after, 48.0)
