"""kill -9 at any instant: nothing acknowledged is lost, nothing is torn, nothing is done twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.crash.conftest import Note
from tests.crash.kill_loop import killed
from tests.night import NIGHT

CHUNKS, KILLS = (8, 120) if NIGHT else (1, 18)


def tell(note: Note, counts: Counter[str]) -> None:
    silent = counts["there, though nobody was told"]
    note("kills / lost, torn or twice / there untold", f"{counts['kills']} / 0 / {silent}")


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_process_may_be_killed_at_any_instant(chunk: int, tmp_path: Path, note: Note) -> None:
    counts = killed(tmp_path, f"random {chunk}", KILLS, 120, "random")
    tell(note, counts)
    assert counts["kills"] == KILLS


def test_a_process_may_be_killed_at_every_named_step(
    tmp_path: Path, quick: Path, note: Note
) -> None:
    del tmp_path
    counts = killed(quick, "named", 200 if NIGHT else 1, 50 if NIGHT else 22, "named")
    tell(note, counts)
    note("named steps of commit, merge and publish", counts["named steps"])
    assert counts["kills"] >= counts["named steps"] >= 30


def test_a_process_may_be_killed_at_any_system_call(tracer: Path, quick: Path, note: Note) -> None:
    (quick / "store").mkdir()
    kills = 400 if NIGHT else 10
    counts = killed(
        quick,
        "calls",
        kills,
        40 if NIGHT else 26,
        "syscall",
        tracer=tracer,
        MEMORITER_ROOT=quick / "store",
    )
    tell(note, counts)
    assert counts["kills"] >= kills * 0.8
