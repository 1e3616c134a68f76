"""Many processes and threads on one file: no errors, nothing lost, nothing twice, no long wait."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.crash import images, lab, plan
from tests.crash.conftest import Note
from tests.inside import counted_groups, log_of, no_writer, waiting_writers, write_transaction
from tests.night import NIGHT

import memoriter
from memoriter.store.verify import verify_log
from memoriter.testing.whole import whole

ENTRIES = 4000 if NIGHT else 800
"""So many are written in all, however long that takes."""
HELD_S = 60.0
"""How long a writer holds its transaction, if nobody is done with reading before."""


def together(path: Path, roles: list[str], upto: int, **more: Any) -> list[dict[str, Any]]:
    """Run these roles at once, until the file has so many entries; what each did."""
    with ExitStack() as stack:
        running = [
            stack.enter_context(beside(path, role, f"p{n}", upto, **more))
            for n, role in enumerate(roles)
        ]
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        outputs = [process.communicate(timeout=600) for process in running]
    for process, (_, err) in zip(running, outputs, strict=True):
        assert process.returncode == 0, err or f"killed by signal {-process.returncode}"
    return [json.loads(out) for out, _ in outputs]


def settle(path: Path, reports: list[dict[str, Any]]) -> int:
    """Everything acknowledged is there under its number, once, in one unbroken chain."""
    acked = {name: seq for one in reports for name, seq in one.get("acked", [])}
    with memoriter.open(path, embedder=None, maintenance="manual") as memory:
        dump = whole(log_of(memory), plan.TENANT)
        verify_log(plan.TENANT, dump)
        there = {row.id: row.row for row in dump.records}
        if acked != there or len(dump.records) != len(acked):
            raise images.Wrong(f"lost: {len(set(acked) ^ set(there))} of {len(acked)}")
        if [entry.seq for entry in dump.chain] != list(range(1, dump.head.seq + 1)):
            raise images.Wrong("torn: the numbers have holes")
        times = [commit.time for commit in dump.commits]
        assert times == sorted(times)
        assert memory.browse().total == len(acked)
    return len(acked)


def test_eight_processes_write_one_file(tmp_path: Path, note: Note) -> None:
    reports = together(tmp_path / "m.db", ["write"] * 8, ENTRIES)
    worst, share = taken_in_turn(reports)
    speed = settle(tmp_path / "m.db", reports) / max(one["took"] for one in reports)
    note("8 writers: commits/s / worst wait / errors", f"{speed:.0f} / {worst:.2f} s / 0")
    note("8 writers: fewest and most of one process", f"{min(share)} {max(share)}")


def taken_in_turn(reports: list[dict[str, Any]]) -> tuple[float, list[int]]:
    """Nobody failed or starved; (the longest wait, what each wrote).

    How long a wait is in seconds depends on the machine. What counts is how many entries others
    wrote meanwhile.
    """
    errors = [error for one in reports for error in one["errors"]]
    worst = max(one["worst"] for one in reports)
    share = [len(one["acked"]) for one in reports]
    assert not errors, errors[:3]
    assert min(share) > max(share) / 10, share
    seqs = [[0, *(seq for _, seq in one["acked"])] for one in reports]
    passed = max(after - before for each in seqs for before, after in pairwise(each))
    assert passed < sum(share) / 2, passed
    return worst, share


def test_four_processes_write_one_chain(tmp_path: Path, note: Note) -> None:
    reports = together(tmp_path / "m.db", ["write"] * 4, ENTRIES // 2)
    note("chain over 4 processes: entries / breaks", f"{settle(tmp_path / 'm.db', reports)} / 0")


def test_merges_of_one_process_break_no_reader(tmp_path: Path, note: Note) -> None:
    path = tmp_path / "m.db"
    reports = together(path, ["write", "read", "read", "read"], ENTRIES // 2)
    errors = [error for one in reports for error in one["errors"]]
    assert not errors, errors[:3]
    assert settle(path, reports) >= 60, "too little was written to be merged"
    assert list(path.with_name("m.db.idx").glob("*.seg"))
    asked, worst = (
        sum(one["asked"] for one in reports[1:]),
        max(one["worst"] for one in reports[1:]),
    )
    note("3 readers beside a writer: asked / worst", f"{asked} / {worst:.2f} s")


def held_through_a_merge(path: Path, **more: Any) -> None:
    """One process holds a view while another merges every file of it away."""
    with memoriter.open(path, embedder=None, maintenance="manual", flush_rows=5) as memory:
        for n in range(6):
            memory.remember_many([f"{n} {m} port" for m in range(5)])
            memory.maintain()
    with beside(path, "hold") as reader:
        merged = json.loads(lab.run("many", "merge", path, "w", 0, **more))["merged"]
        out, err = reader.communicate("go\n", timeout=300)
    assert merged
    assert reader.returncode == 0, err or f"killed by signal {-reader.returncode}"
    assert json.loads(out)["bytes"]


@contextmanager
def beside(
    path: Path, role: str, name: str = "h", upto: int = 0, **more: Any
) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds on to a store until it is told to go on."""
    with subprocess.Popen(  # noqa: S603  # our own interpreter
        lab.command("many", role, path, name, upto), cwd=lab.ROOT, text=True,
        env=lab.environment(**more), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "holding\n"
            yield process
        finally:
            process.kill()  # if it has not ended by itself


def test_a_view_outlives_the_files_it_was_mapped_from(tmp_path: Path) -> None:
    held_through_a_merge(tmp_path / "m.db")


def test_threads_share_one_memory(tmp_path: Path) -> None:
    acked: list[tuple[str, int]] = []
    failed: list[BaseException] = []
    with memoriter.open(tmp_path / "m.db", embedder=None, flush_rows=40) as memory:

        def one(who: int) -> None:
            try:
                for n in range(25):
                    name = f"t{who}-{n}"
                    made = memory.remember(f"{name} port", id=name)
                    acked.append((name, made.seq))
                    assert memory.get(name).text == f"{name} port"
                    assert memory.keywords("port", 3)
            except BaseException as error:  # raised below
                failed.append(error)

        running = [threading.Thread(target=one, args=(who,)) for who in range(8)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    assert not failed, failed
    assert settle(tmp_path / "m.db", [{"acked": acked}]) == 200


def commits_are_shared(path: Path) -> None:
    """Those who come while nobody can write share the next transaction."""
    with memoriter.open(path, embedder=None) as memory:
        sizes = counted_groups(memory)
        with ThreadPoolExecutor(8) as threads:
            with no_writer(memory):
                writes = [threads.submit(memory.remember, f"note {n}") for n in range(8)]
                until = time.monotonic() + 60
                while waiting_writers(memory) < 8 and time.monotonic() < until:
                    time.sleep(0.001)
            assert len({each.result().seq for each in writes}) == 8
        assert sizes == [8]


def a_lone_write_does_not_linger(path: Path) -> None:
    """Nobody waits for company: a lone commit neither sleeps nor waits for a sign."""
    here, waits = threading.get_ident(), list[object]()
    sleep, wait = time.sleep, threading.Condition.wait

    def slept(seconds: float) -> None:
        if threading.get_ident() == here:
            waits.append(seconds)
        sleep(seconds)

    def waited(self: threading.Condition, timeout: float | None = None) -> bool:
        if threading.get_ident() == here:
            waits.append(timeout)
        return wait(self, timeout)

    with (
        memoriter.open(path, embedder=None, durability="fast", maintenance="manual") as memory,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(time, "sleep", slept)
        patch.setattr(threading.Condition, "wait", waited)
        for n in range(20):
            memory.remember(f"note {n}")
        assert not waits


def readers_do_not_wait_for_a_writer(path: Path) -> None:
    """While a write transaction stands open, everything can be read, as it was before."""
    with memoriter.open(path, embedder=None) as memory:
        memory.remember("a port", id="a")
        memory.keywords("port")
        held, read, ended = threading.Event(), threading.Event(), list[bool]()

        def hold() -> None:
            with write_transaction(memory) as db:
                db.execute("UPDATE tenants SET published=published")
                held.set()
                ended.append(read.wait(HELD_S))

        writer = threading.Thread(target=hold)
        writer.start()
        assert held.wait(60)
        try:
            assert memory.get("a").text == "a port"
            assert len(memory.keywords("port")) == memory.browse().total == 1
            assert memory.history("a")
            assert not ended  # all was read while the transaction stood open
        finally:
            read.set()
            writer.join()


def a_cancelled_call_still_commits(path: Path) -> None:
    """Cancelling lets go of the caller, never of a commit that is on its way."""
    begun, go_on = threading.Event(), threading.Event()

    async def story() -> None:
        memory = await memoriter.aopen(path, embedder=None)
        log: Any = log_of(memory.memory)
        commit = log.commit

        def slowly(batch: Any) -> Any:
            begun.set()
            go_on.wait(60)
            return commit(batch)

        log.commit = slowly
        task = asyncio.ensure_future(memory.remember("a port", id="a"))
        assert await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        closing = asyncio.ensure_future(memory.close())
        done, _ = await asyncio.wait({closing}, timeout=1.0)  # one that does not wait is done soon
        go_on.set()
        await closing
        assert not done

    asyncio.run(story())
    with memoriter.open(path, embedder=None) as memory:
        assert memory.get("a").text == "a port"
        assert memory.verify_store().sound


@pytest.mark.parametrize(
    "check",
    [
        commits_are_shared,
        a_lone_write_does_not_linger,
        readers_do_not_wait_for_a_writer,
        a_cancelled_call_still_commits,
    ],
)
def test_threads_do_not_get_in_each_others_way(check: Callable[[Path], None], quick: Path) -> None:
    check(quick / "m.db")
