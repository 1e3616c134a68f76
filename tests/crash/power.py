"""Lives under the tracer, and every disk that a power cut may leave of them."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.crash import images, lab, plan
from tests.crash.crowd import beside


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
