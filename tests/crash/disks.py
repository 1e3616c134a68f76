"""Disks that are full, and what a memory on one still does."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash import plan
from tests.inside import log_of

import memoriter
from memoriter.core.errors import StorageFull
from memoriter.store.verify import verify_log
from memoriter.testing.whole import whole


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
