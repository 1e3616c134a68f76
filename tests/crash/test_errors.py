"""I/O errors at the n-th system call, and full disks: typed errors, nothing lost, no hang."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.crash import lab, plan, work
from tests.crash.conftest import Note
from tests.inside import log_of
from tests.night import NIGHT

import memoriter
from memoriter.core.errors import StorageFull
from memoriter.store.verify import verify_log
from memoriter.testing.whole import whole

FIRST, STEPS = 24, 36
EVERYTHING = 10**9
FAULTS = {
    "a failing disk (EIO)": ("EIO", 1),
    "a full disk (ENOSPC) for one call": ("ENOSPC", 1),
    "a full disk (ENOSPC) from then on": ("ENOSPC", EVERYTHING),
    "an interrupted call (EINTR)": ("EINTR", 1),
    "a short write": ("SHORT", 1),
}
SHARE = {"W": 12, "S": 4, "O": 3, "TUD": 3}
"""How many calls of each kind go wrong in CI, spread over all there are; at night all of them."""


def bench(tracer: Path, folder: Path, jobs: list[list[Any]], **more: Any) -> list[dict[str, Any]]:
    """What came of these faults, on a store that has lived some steps."""
    base, seed = folder / "base", f"{lab.SEED}/errors"
    if not base.exists():
        base.mkdir()
        work.live(str(base / "m.db"), str(folder / "acks"), seed, str(FIRST))
        (folder / "root").mkdir()
    output = lab.run(
        "faults", folder / "root", base, seed, FIRST, STEPS, tracer=tracer, limit=1800,
        MEMORITER_ROOT=folder / "root", stdin="".join(f"{json.dumps(j)}\n" for j in jobs), **more,
    )  # fmt: skip
    return [json.loads(line) for line in output.splitlines()]


def spread(total: int, count: int) -> list[int]:
    """So many numbers of calls, from the first to the last."""
    if NIGHT or count >= total:
        return list(range(1, total + 1))
    return sorted({1 + at * (total - 1) // (count - 1) for at in range(count)})


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_and_harms_nothing(
    name: str, tracer: Path, quick: Path, note: Note
) -> None:
    action, times = FAULTS[name]
    kinds = ["W"] if action == "SHORT" else list(SHARE)
    totals = bench(tracer, quick, [[kind, "EIO", 0, 0] for kind in kinds])
    jobs = [
        [kind, action, n, times]
        for kind, total in zip(kinds, totals, strict=True)
        for n in spread(total["calls"], SHARE[kind])
    ]
    results = bench(tracer, quick, jobs)
    errors: Counter[str] = Counter()
    wrong = []
    for job, result in zip(jobs, results, strict=True):
        errors.update(error for _, error, *_ in result["errors"])
        untyped = [line for line in result["errors"] if line[2]]
        full = action == "ENOSPC" and job[0] == "W"
        writes = [line for line in result["errors"] if line[0] not in {"open", "close"}]
        wrong_name = [line for line in writes if full and line[1] != "StorageFull"]
        if result["wrong"] or untyped or wrong_name:
            wrong.append((job, result["wrong"], untyped or wrong_name))
    note("faults / harm or untyped errors", f"{len(jobs)} / {len(wrong)} {dict(errors)}")
    assert len(results) == len(jobs)
    assert not wrong, "\n".join(map(str, wrong[:12]))


# -- full disks --------------------------------------------------------------------------------


@contextlib.contextmanager
def small_disk(point: Path, size: str) -> Iterator[None]:
    """A filesystem of this size; skipped, and said so, where nobody may mount one."""
    point.mkdir()
    asked = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(point)]
    try:
        made = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603  # a fixed command
    except FileNotFoundError:
        pytest.skip("NO SMALL DISK: there is no mount command")
    if made.returncode:
        pytest.skip(f"NO SMALL DISK: a tmpfs cannot be mounted here: {made.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(point)], check=True)  # noqa: S603, S607  # as above


def filled(memory: memoriter.Memory) -> list[str]:
    """Write until the disk is full; what was acknowledged."""
    kept: list[str] = []
    try:
        for n in range(100_000):
            memory.remember(f"{n} port " + os.urandom(600).hex(), id=f"r{n}", key=f"k{n}")
            kept.append(f"r{n}")
    except StorageFull:
        return kept
    raise AssertionError("the disk never filled")


def still_reads(memory: memoriter.Memory, kept: list[str]) -> None:
    """Everything acknowledged is there, and found."""
    assert memory.get(kept[0]).id == kept[0]
    assert {r.id for r in memory.browse(limit=10_000).records} == set(kept)
    assert memory.keywords("port", 3)
    for _ in range(3):
        with pytest.raises(StorageFull):
            memory.remember_many([f"more {n} " + os.urandom(4000).hex() for n in range(50)])
    verify_log(plan.TENANT, whole(log_of(memory), plan.TENANT))


def resumes(memory: memoriter.Memory, path: Path, kept: list[str]) -> None:
    """The same memory writes again, and nothing was lost."""
    name = f"r{len(kept)}"
    memory.remember("written when there was room again", id=name, key=f"k{len(kept)}")
    memory.maintain()
    memory.close()
    with memoriter.open(path, embedder=None) as again:
        assert {r.id for r in again.browse(limit=10_000).records} == {*kept, name}
        verify_log(plan.TENANT, whole(log_of(again), plan.TENANT))


def test_a_full_disk_stops_writing_and_nothing_else(tmp_path: Path, note: Note) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, "6m"):
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(2_000_000))
        memory = memoriter.open(disk / "m.db", embedder=None, flush_rows=200)
        kept = filled(memory)
        note("small tmpfs: acknowledged / lost", f"{len(kept)} / 0")
        assert len(kept) > 20
        still_reads(memory, kept)
        ballast.unlink()
        resumes(memory, disk / "m.db", kept)


_LIMITED = """
import pathlib, resource, sys
import memoriter
from tests.crash import test_errors as t
path = pathlib.Path(sys.argv[1])
memory = memoriter.open(path, embedder=None, maintenance="manual")
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, hard))
kept = t.filled(memory)
t.still_reads(memory, kept)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
t.resumes(memory, path, kept)
print(len(kept))
"""


def test_a_limit_on_the_size_of_files_is_a_full_disk(tmp_path: Path, note: Note) -> None:
    assert resource.RLIMIT_FSIZE is not None
    asked = [*lab.command("")[:3], "-c", _LIMITED, str(tmp_path / "m.db")]
    done = subprocess.run(  # noqa: S603  # our own interpreter
        asked, env=lab.environment(), cwd=lab.ROOT, capture_output=True, text=True, check=False,
        timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    note("RLIMIT_FSIZE: acknowledged / lost", f"{done.stdout.strip()} / 0")
