"""Many processes and threads on one file: no errors, nothing lost, nothing twice, no long wait."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.crash import images, lab, plan
from tests.crash.conftest import Note

import memoriter
from memoriter.store.verify import verify

SECONDS = 10 if lab.NIGHT else 3
LONGEST_S = 5


def together(path: Path, roles: list[str], seconds: float, **more: Any) -> list[dict[str, Any]]:
    """Run these roles at once; what each did."""
    running = [
        subprocess.Popen(  # noqa: S603  # our own interpreter
            lab.command("many", role, path, f"p{n}", seconds), cwd=lab.ROOT, text=True,
            env=lab.environment(**more), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for n, role in enumerate(roles)
    ]  # fmt: skip
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate(timeout=120) for process in running]
    for process, (_, err) in zip(running, told, strict=True):
        assert process.returncode == 0, err or f"killed by signal {-process.returncode}"
    return [json.loads(out) for out, _ in told]


def settle(path: Path, told: list[dict[str, Any]]) -> int:
    """Everything acknowledged is there under its number, once, in one unbroken chain."""
    acked = {name: seq for one in told for name, seq in one.get("acked", [])}
    with memoriter.open(path, embedder=None, maintenance="manual") as memory:
        dump = plan.log_of(memory).dump(plan.TENANT)
        verify(plan.TENANT, dump)
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
    told = together(tmp_path / "m.db", ["write"] * 8, SECONDS)
    worst, share = taken_in_turn(told)
    count = settle(tmp_path / "m.db", told)
    note("8 writers: commits/s / worst wait / errors", f"{count / SECONDS:.0f} / {worst:.2f} s / 0")
    note("8 writers: fewest and most of one process", f"{min(share)} {max(share)}")


def taken_in_turn(told: list[dict[str, Any]]) -> tuple[float, list[int]]:
    """Nobody failed, starved or waited long; (the longest wait, what each wrote)."""
    errors = [error for one in told for error in one["errors"]]
    worst = max(one["worst"] for one in told)
    share = [len(one["acked"]) for one in told]
    assert not errors, errors[:3]
    assert worst < LONGEST_S
    assert min(share) > max(share) / 10, share
    return worst, share


def test_four_processes_write_one_chain(tmp_path: Path, note: Note) -> None:
    told = together(tmp_path / "m.db", ["write"] * 4, SECONDS / 2)
    note("chain over 4 processes: entries / breaks", f"{settle(tmp_path / 'm.db', told)} / 0")


def test_merges_of_one_process_break_no_reader(tmp_path: Path, note: Note) -> None:
    path = tmp_path / "m.db"
    told = together(path, ["write", "read", "read", "read"], SECONDS)
    errors = [error for one in told for error in one["errors"]]
    assert not errors, errors[:3]
    assert settle(path, told) >= 60, "too little was written to be merged"
    assert list(path.with_name("m.db.idx").glob("*.seg"))
    asked, worst = sum(one["asked"] for one in told[1:]), max(one["worst"] for one in told[1:])
    note("3 readers beside a writer: asked / worst", f"{asked} / {worst:.2f} s")


def held_through_a_merge(path: Path, **more: Any) -> None:
    """One process holds a view while another merges every file of it away."""
    with memoriter.open(path, embedder=None, maintenance="manual", flush_rows=5) as memory:
        for n in range(6):
            memory.remember_many([f"{n} {m} port" for m in range(5)])
            memory.maintain()
    with beside(path, "hold") as reader:
        merged = json.loads(lab.run("many", "merge", path, "w", 0, **more))["merged"]
        out, err = reader.communicate("go\n", timeout=60)
    assert merged
    assert reader.returncode == 0, err or f"killed by signal {-reader.returncode}"
    assert json.loads(out)["bytes"]


@contextmanager
def beside(path: Path, role: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds on to a store until it is told to go on."""
    with subprocess.Popen(  # noqa: S603  # our own interpreter
        lab.command("many", role, path, "h", 0), cwd=lab.ROOT, text=True, env=lab.environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "holding\n"
        yield process


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
        queue, sizes = log_queue(memory), []
        plain = queue._write

        def counted(jobs: Any) -> None:
            sizes.append(len(jobs))
            plain(jobs)

        queue._write = counted
        with ThreadPoolExecutor(8) as threads:
            with queue.alone():
                told = [threads.submit(memory.remember, f"note {n}") for n in range(8)]
                until = time.monotonic() + 10
                while len(queue._waiting) < 8 and time.monotonic() < until:
                    time.sleep(0.001)
            assert len({each.result().seq for each in told}) == 8
        assert sizes == [8]


def log_queue(memory: memoriter.Memory) -> Any:
    log: Any = plan.log_of(memory)
    return log._queue


def a_lone_write_does_not_linger(path: Path) -> None:
    """Nobody waits for company: the quickest of some lone commits takes no time at all."""
    with memoriter.open(path, embedder=None, durability="fast") as memory:
        took = []
        for n in range(20):
            began = time.monotonic()
            memory.remember(f"note {n}")
            took.append(time.monotonic() - began)
        assert min(took) < 0.01, took


def readers_do_not_wait_for_a_writer(path: Path) -> None:
    """While a write transaction stands open, everything can be read, as it was before."""
    with memoriter.open(path, embedder=None) as memory:
        memory.remember("a port", id="a")
        memory.keywords("port")
        log: Any = plan.log_of(memory)
        held, read = threading.Event(), threading.Event()

        def hold() -> None:
            with log._queue.alone(), log._writing() as db:
                db.execute("UPDATE tenants SET published=published")
                held.set()
                read.wait(3)

        writer = threading.Thread(target=hold)
        writer.start()
        assert held.wait(10)
        began = time.monotonic()
        try:
            assert memory.get("a").text == "a port"
            assert len(memory.keywords("port")) == memory.browse().total == 1
            assert memory.history("a")
            assert time.monotonic() - began < 2
        finally:
            read.set()
            writer.join()


def a_cancelled_call_still_commits(path: Path) -> None:
    """Cancelling lets go of the caller, never of a commit that is on its way."""
    begun = threading.Event()

    async def story() -> None:
        memory = await memoriter.aopen(path, embedder=None)
        log: Any = plan.log_of(memory.memory)
        commit = log.commit

        def slowly(batch: Any) -> Any:
            begun.set()
            time.sleep(0.2)
            return commit(batch)

        log.commit = slowly
        task = asyncio.ensure_future(memory.remember("a port", id="a"))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await memory.close()

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
