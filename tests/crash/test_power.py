"""Does an acknowledged write survive a power cut? Only images can tell: kill -9 proves nothing."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tests.crash import images, lab, plan
from tests.crash.conftest import Note
from tests.crash.power import retried, survey, traced
from tests.inside import log_of
from tests.night import NIGHT

import memoriter
from memoriter.memory.options import OpenOptions
from memoriter.store.verify import verify_log
from memoriter.testing.whole import whole

CHUNKS, IMAGES, STEPS = (20, 2500, 260) if NIGHT else (1, 120, 110)
HAS_FAST = "durability" in OpenOptions.__annotations__


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_an_acknowledged_write_survives_a_power_cut(
    chunk: int, tracer: Path, tmp_path: Path, quick: Path, note: Note
) -> None:
    seed = f"{lab.SEED}/{chunk}"
    run = traced(tracer, tmp_path, seed, STEPS)
    assert {event.op for event in run.events} >= set("OWSETUDC"), "everything was traced"
    counts, failures = survey(run, IMAGES, seed, quick)
    note("power-cut images / lost or corrupt", f"{IMAGES} / {IMAGES - counts['sound']}")
    assert counts == {"sound": IMAGES}, failures


def test_the_same_images_without_fsync_must_fail(
    tracer: Path, tmp_path: Path, quick: Path, note: Note
) -> None:
    run = traced(tracer, tmp_path, f"{lab.SEED}/0", STEPS)
    count = 200 if NIGHT else 100
    counts, _ = survey(run, count, lab.SEED, quick, deaf=True)
    failed = f"{count - counts['sound']} of {count} {dict(counts)}"
    note("control: images without fsync that fail", failed)
    assert counts["sound"] < count / 10, "a checker that passes this sees nothing"
    assert counts["lost"]
    assert counts["corrupt"]


@pytest.mark.skipif(not HAS_FAST, reason='open() has no durability="fast" yet')
def test_the_fast_mode_loses_at_most_the_last_commits(
    tracer: Path, tmp_path: Path, quick: Path, note: Note
) -> None:
    count = 5000 if NIGHT else 100
    options = json.dumps({"durability": "fast"})
    run = traced(tracer, tmp_path, f"{lab.SEED}/fast", STEPS, MEMORITER_OPTIONS=options)
    counts, wrong = survey(run, count, f"{lab.SEED}/fast", quick, may_lose=True)
    note("fast mode: images / short of a suffix / corrupt", f"{count} / {counts['short']} / "
         f"{count - counts['short'] - counts['sound']}")  # fmt: skip
    assert set(counts) <= {"sound", "short"}, wrong
    assert counts["short"], "the name of the mode would promise too little"


def test_commits_that_threads_share_survive_a_power_cut(
    tracer: Path, tmp_path: Path, quick: Path, note: Note
) -> None:
    root, trace = tmp_path / "root", tmp_path / "trace"
    root.mkdir()
    lab.run(
        "work", "--crowd", root / "m.db", root / images.ACKS, lab.SEED, 25, 8,
        tracer=tracer, MEMORITER_ROOT=root, MEMORITER_TRACE=trace, MEMORITER_CHECKPOINT=60,
    )  # fmt: skip
    count = 4000 if NIGHT else 60
    events = images.read(trace)
    synced = sum(event.op == "E" for event in events)
    for cut in images.cuts(events, root, count, random.Random(f"crowd {lab.SEED}")):
        images.lay(cut.files, quick / "image")
        acked = dict(line.split() for line in cut.acks)
        with memoriter.open(quick / "image" / "m.db", embedder=None) as memory:
            dump = whole(log_of(memory), plan.TENANT)
            verify_log(plan.TENANT, dump)
            there = {row.id: row.row for row in dump.records}
            missing = [name for name, seq in acked.items() if there.get(name) != int(seq)]
            assert not missing, f"event {cut.number}, mode {cut.mode}"
            assert all(memory.get(name).text == f"{lab.SEED} {name} port" for name in acked)
    note("8 threads: commits / syncs / images / lost", f"200 / {synced} / {count} / 0")


@pytest.mark.parametrize("synced", range(14, 110, 3 if NIGHT else 48))
def test_a_failed_sync_is_never_taken_for_a_good_one(
    synced: int, tracer: Path, tmp_path: Path, quick: Path, note: Note
) -> None:
    """What a failed fsync should have kept is gone, whatever later ones say."""
    fault = f"S {lab.ACTIONS['EIO']} {synced} 1"
    run = traced(
        tracer, tmp_path, f"{lab.SEED}/gate", 60, MEMORITER_FAULT=fault, MEMORITER_RETRY="yes"
    )
    assert [event for event in run.events if event.op == "E" and event.error]
    counts, failures = survey(run, 80, f"{lab.SEED}/{synced}", quick)
    note("images after a failed fsync / lost or corrupt", f"80 / {80 - counts['sound']}")
    assert counts == {"sound": 80}, failures


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside a reader"])
@pytest.mark.parametrize("synced", range(16, 60, 4) if NIGHT else (16,))
def test_a_retry_that_finds_its_write_after_a_kill_is_durable_too(
    synced: int, tracer: Path, tmp_path: Path, quick: Path, *, alone: bool
) -> None:
    """Killed before its sync, a write is in the page cache alone; a retry must not rest on that."""
    assert not retried(tmp_path, quick, tracer, synced, alone=alone)
