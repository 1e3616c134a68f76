"""Does an acknowledged write survive a power cut? Only images can tell: kill -9 proves nothing."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.crash import images, lab, plan
from tests.crash.conftest import Note
from tests.crash.test_many import beside
from tests.inside import log_of
from tests.night import NIGHT

import memoriter
from memoriter.memory.options import OpenOptions
from memoriter.store.verify import verify_log
from memoriter.testing.whole import whole

CHUNKS, IMAGES, STEPS = (20, 2500, 260) if NIGHT else (1, 400, 160)
HAS_FAST = "durability" in OpenOptions.__annotations__


@dataclass
class Run:
    """A life that was lived under the tracer."""

    root: Path
    events: list[images.Event]
    expected: plan.Expected


def traced(tracer: Path, folder: Path, seed: str, steps: int, **more: Any) -> Run:
    """Live a life under the tracer."""
    root, trace = folder / "root", folder / "trace"
    root.mkdir()
    lab.run(
        "work", root / "m.db", root / images.ACKS, seed, steps,
        tracer=tracer, MEMORITER_ROOT=root, MEMORITER_TRACE=trace, MEMORITER_CHECKPOINT=40, **more,
    )  # fmt: skip
    return Run(root, images.read(trace), plan.Expected(plan.steps(seed, steps)))


def survey(
    run: Run, count: int, seed: str, quick: Path, *, deaf: bool = False, may_lose: bool = False
) -> tuple[Counter[str], list[str]]:
    """(how many images came to what, the first few failures)."""
    counts: Counter[str] = Counter()
    failures: list[str] = []
    rng = random.Random(f"cuts {seed}")
    for n, cut in enumerate(images.cuts(run.events, run.root, count, rng, deaf=deaf)):
        images.lay(cut.files, quick / "image")
        acked = int(cut.acks[-1]) if cut.acks else -1
        try:
            depth = 2 if n % 25 == 0 else n % 4 == 0
            at = images.check(
                quick / "image" / "m.db", -1 if may_lose else acked, run.expected, depth
            )
            kept = run.expected.after(at).seq >= run.expected.after(acked).seq
            counts["sound" if kept else "short"] += 1
        except images.Wrong as wrong:
            counts[str(wrong).partition(":")[0]] += 1
            if len(failures) < 5:
                failures.append(f"seed {seed}, event {cut.number}, mode {cut.mode}: {wrong}")
    return counts, failures


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
    counts, _ = survey(run, 200, lab.SEED, quick, deaf=True)
    note(
        "control: images without fsync that fail", f"{200 - counts['sound']} of 200 {dict(counts)}"
    )
    assert counts["sound"] < 20, "a checker that passes this sees nothing"
    assert counts["lost"]
    assert counts["corrupt"]


@pytest.mark.skipif(not HAS_FAST, reason='open() has no durability="fast" yet')
def test_the_fast_mode_loses_at_most_the_last_commits(
    tracer: Path, tmp_path: Path, quick: Path, note: Note
) -> None:
    count = 5000 if NIGHT else 150
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
    count = 4000 if NIGHT else 120
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


@dataclass
class Relived:
    """A life in pieces, on one folder and in one trace, each piece ended by a kill."""

    root: Path
    trace: Path
    tracer: Path
    seed: str

    def live(self, steps: int, first: int, **more: object) -> int:
        """The last step that was acknowledged before the kill."""
        acks = self.root / images.ACKS
        done = subprocess.run(  # noqa: S603  # our own interpreter
            lab.command("work", self.root / "m.db", acks, self.seed, steps, first),
            cwd=lab.ROOT, check=False, timeout=300,
            env=lab.environment(
                self.tracer, MEMORITER_ROOT=self.root, MEMORITER_TRACE=self.trace,
                MEMORITER_CHECKPOINT=40, **more,
            ),
        )  # fmt: skip
        assert done.returncode == -signal.SIGKILL
        acked = acks.read_text().split() if acks.exists() else []
        return int(acked[-1]) if acked else -1


def replayed(life: Relived) -> images.Disk:
    """The disk as the trace left it."""
    disk = images.Disk(str(life.root))
    for event in images.read(life.trace):
        disk.play(event)
    return disk


def unsynced_write(folder: Path, tracer: Path, synced: int, seed: str) -> tuple[Relived, int]:
    """(a life killed before the sync of a commit, its last acknowledged step)."""
    for n in range(synced, synced + 30):
        life = Relived(folder / f"root{n}", folder / f"trace{n}", tracer, seed)
        life.root.mkdir()
        acked = life.live(60, 0, MEMORITER_FAULT=f"S {lab.ACTIONS['KILL_BEFORE']} {n} 1")
        expected = plan.Expected(plan.steps(seed, acked + 2))
        shutil.copytree(life.root, folder / f"copy{n}")
        held = images.check(folder / f"copy{n}" / "m.db", acked, expected, 0)
        untold = expected.after(held).seq > expected.after(acked).seq
        if untold and replayed(life).live[f"{life.root}/m.db-wal"].loose:
            return life, acked
    raise AssertionError("no kill left a write behind")


def retried(
    folder: Path, quick: Path, tracer: Path, synced: int, *, alone: bool, **more: object
) -> list[str]:
    """What is wrong after a kill before a sync, a retry under the same key, and a power cut."""
    life, acked = unsynced_write(folder, tracer, synced, f"{lab.SEED}/retry")
    steps = plan.steps(life.seed, acked + 2)
    with nullcontext() if alone else beside(life.root / "m.db", "look"):
        assert life.live(acked + 2, acked + 1, MEMORITER_CLOSE="no", **more) == acked + 1
    disk, expected, wrong = replayed(life), plan.Expected(steps), []
    for n in range(40):
        mode, files = disk.image(random.Random(f"{lab.SEED} {synced} {n}"))
        images.lay(files, quick / "image")
        try:
            images.check(quick / "image" / "m.db", acked + 1, expected, 0)
        except images.Wrong as broken:
            wrong.append(f"step {acked + 1} ({steps[-1].verb}), mode {mode}: {broken}")
    return wrong


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside a reader"])
@pytest.mark.parametrize("synced", range(16, 60, 4) if NIGHT else (16,))
def test_a_retry_that_finds_its_write_after_a_kill_is_durable_too(
    synced: int, tracer: Path, tmp_path: Path, quick: Path, *, alone: bool
) -> None:
    """Killed before its sync, a write is in the page cache alone; a retry must not rest on that."""
    assert not retried(tmp_path, quick, tracer, synced, alone=alone)
