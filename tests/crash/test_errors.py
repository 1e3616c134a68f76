"""I/O errors at the n-th system call, and full disks: typed errors, nothing lost, no hang."""

from __future__ import annotations

import resource
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash import lab
from tests.crash.conftest import Note
from tests.crash.disks import filled, resumes, small_disk, still_reads
from tests.crash.fault_bench import bench
from tests.night import NIGHT

import memoriter

EVERYTHING = 10**9
FAULTS = {
    "a failing disk (EIO)": ("EIO", 1),
    "a full disk (ENOSPC) for one call": ("ENOSPC", 1),
    "a full disk (ENOSPC) from then on": ("ENOSPC", EVERYTHING),
    "an interrupted call (EINTR)": ("EINTR", 1),
    "a short write": ("SHORT", 1),
}
SHARE = {"W": 5, "S": 2, "O": 2, "TUD": 2}
"""How many calls of each kind go wrong in CI, spread over all there are; at night all of them."""


def spread(total: int, count: int) -> list[int]:
    """So many numbers of calls, from the first to the last."""
    if NIGHT or count >= total:
        return list(range(1, total + 1))
    return sorted({1 + at * (total - 1) // (count - 1) for at in range(count)})


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder with a store that has lived some steps, for all faults."""
    with lab.quick_folder() as made:
        yield made


@pytest.fixture(scope="module")
def calls(tracer: Path, folder: Path) -> dict[str, int]:
    """How many system calls of each kind a life makes."""
    counted = bench(tracer, folder, [[kind, "EIO", 0, 0] for kind in SHARE])
    return {kind: each["calls"] for kind, each in zip(SHARE, counted, strict=True)}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_and_harms_nothing(
    name: str, tracer: Path, folder: Path, calls: dict[str, int], note: Note
) -> None:
    action, times = FAULTS[name]
    kinds = ["W"] if action == "SHORT" else list(SHARE)
    jobs = [[kind, action, n, times] for kind in kinds for n in spread(calls[kind], SHARE[kind])]
    results = bench(tracer, folder, jobs)
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
from tests.crash import disks
path = pathlib.Path(sys.argv[1])
memory = memoriter.open(path, embedder=None, maintenance="manual")
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, hard))
kept = disks.filled(memory)
disks.still_reads(memory, kept)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
disks.resumes(memory, path, kept)
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
