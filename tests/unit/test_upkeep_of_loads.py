"""A long load waits for upkeep that is far behind it, and `maintain` for what is running."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.inside import log_of

import memoriter
from memoriter.core.errors import Unavailable
from memoriter.index import cache, dealing, pace, upkeep
from memoriter.index.background import Background
from memoriter.index.pace import Pace
from memoriter.store.sqlite import reader
from memoriter.testing.fakes import HandClock


def test_whoever_waits_for_a_job_goes_on_when_it_is_done() -> None:
    begun, go_on, steps = threading.Event(), threading.Event(), list[str]()

    def work(job: str) -> None:
        begun.set()
        go_on.wait()
        steps.append(f"{job} done")

    background = Background(work)
    background.finish("a")  # nothing runs: it returns at once
    background.ask("a")
    begun.wait()
    background.finish("b")  # another job does not matter
    assert not background.awaited

    def wait() -> None:
        background.finish("a")
        steps.append("waited")

    waiter = threading.Thread(target=wait)
    waiter.start()
    while not background.awaited:
        time.sleep(0.001)
    go_on.set()
    waiter.join()
    assert steps == ["a done", "waited"]
    assert not background.awaited


def test_erasing_is_tried_again_after_an_error_that_nobody_expects(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tried, erased, hooked = list[str](), threading.Event(), list[object]()
    monkeypatch.setattr(threading, "excepthook", hooked.append)

    def fails_once(self: cache.IndexCache, tenant: str) -> bool:
        tried.append(tenant)
        if len(tried) == 1:
            raise RuntimeError("odd")
        erased.set()
        return True

    monkeypatch.setattr(cache, "ERASE_AFTER_S", 0.0)
    monkeypatch.setattr(cache, "ERASE_AGAIN_S", 0.0)
    monkeypatch.setattr(cache.IndexCache, "erase", fails_once)
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("port", id="a")
        memory.forget("a")
        assert erased.wait(30)
    assert len(hooked) == 1, "the error is reported as that of a thread"


def test_a_job_that_fails_is_waited_for_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    begun, go_on = threading.Event(), threading.Event()

    def work(job: str) -> None:
        begun.set()
        go_on.wait()
        raise RuntimeError(job)

    background = Background(work)
    background.ask("a")
    begun.wait()
    waiter = threading.Thread(target=background.finish, args=("a",))
    waiter.start()
    go_on.set()
    waiter.join()


def test_upkeep_rests_only_if_nobody_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, rests, awaited = iter(range(100)), list[float](), [False]
    monkeypatch.setattr(pace.time, "thread_time", lambda: float(next(clock)))
    monkeypatch.setattr(pace.time, "sleep", rests.append)
    paced = Pace(lambda: False, lambda: awaited[0])
    paced()
    awaited[0] = True
    paced()
    assert rests == [1.0, 0.0]


def test_a_long_load_leaves_little_to_publish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "FLUSH_ROWS", 16)
    behind: list[int] = []
    with memoriter.open(tmp_path / "m.db", embedder=None, flush_rows=16) as memory:
        log = log_of(memory)

        def look(_: int) -> None:
            published = [m.segments[-1].last for m in log.manifests("default").values()]
            behind.append(log.head("default").seq - max(published, default=0))

        memory.remember_many((f"note {n}" for n in range(5_000)), progress=look)
        assert memory.maintain().unerased == 0
        assert memory.status().records == 5_000
    assert max(behind) <= 2 * cache.BEHIND * 16 + 1


def test_a_merge_in_small_blocks_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"port {n % 7} of host {n % 5}, host {n}" for n in range(60)]
    names: list[list[str]] = []
    for block in (dealing.BLOCK, 7):
        monkeypatch.setattr(dealing, "BLOCK", block)
        path = tmp_path / f"{block}.db"
        with memoriter.open(path, flush_rows=6, maintenance="manual", clock=HandClock()) as memory:
            for at in range(0, 60, 6):
                memory.remember_many({"text": text, "id": text} for text in texts[at : at + 6])
                memory.maintain()
        # A segment is named after its content.
        names.append(sorted(each.name for each in path.with_suffix(".db.idx").glob("*.seg")))
    assert names[0] == names[1]


def test_processes_that_are_cut_short_at_their_end_publish_a_long_backlog_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    monkeypatch.setattr(cache, "CLOSE_ROWS", 16)
    monkeypatch.setattr(upkeep, "STEP_ROWS", 100)
    monkeypatch.setattr(reader, "DELTA_SPAN", 100)
    with memoriter.open(path, embedder=None, maintenance="manual") as memory:
        memory.remember_many([f"note {n}" for n in range(300)])
    saved, left = upkeep.save_segment, [0]

    def cut_short(*args: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise Unavailable("the process was ended")
        return saved(*args)

    monkeypatch.setattr(upkeep, "save_segment", cut_short)
    published: list[int] = []
    for _ in range(5):
        left[0] = 1
        with memoriter.open(path, embedder=None) as memory:
            memory.remember("one more")
        with memoriter.open(path, embedder=None, read_only=True) as memory:
            (manifest,) = log_of(memory).manifests("default").values()
            published.append(sum(ref.rows for ref in manifest.segments))
    assert published == sorted(published)
    assert published[0] < 200
    assert published[-1] >= 300
