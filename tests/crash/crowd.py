"""Many processes on one file at once, and what must hold of what they did."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.crash import images, lab, plan
from tests.inside import log_of

import memoriter
from memoriter.store.verify import verify_log
from memoriter.testing.whole import whole


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
