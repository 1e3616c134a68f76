"""A process under the tracer whose n-th system call goes wrong: what did it tell its caller?

    python -m tests.crash.faults FOLDER BASE SEED FIRST STEPS

Reads jobs (one JSON list [kinds, action, n, times] a line) and answers each with a line. FOLDER is
what the tracer watches, BASE holds a store that has lived FIRST steps.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.crash import images, lab, plan, plant

from memoriter.core.errors import MemoriterError
from memoriter.memory.facade import Memory

HANG_S = 300
TRIES = 3


class Bench:
    """Lives the same steps again and again, each time with another fault."""

    def __init__(self, folder: Path, base: Path, seed: str, first: int, steps: int) -> None:
        self.folder, self.base, self.first = folder, base, first
        self.life = plan.steps(seed, steps)
        self.expected = plan.Expected(self.life)
        self.faults = lab.Faults()
        self.path = folder / "store" / "m.db"
        self.errors: list[list[str]] = []

    def job(self, kinds: str, action: str, n: int, times: int) -> dict[str, Any]:
        """One life with one fault; what callers were told, and what was wrong in the end."""
        shutil.rmtree(self.path.parent, ignore_errors=True)
        shutil.copytree(self.base, self.path.parent)
        self.errors = []
        self.faults.arm(kinds, action, n, times)
        wrong, calls = "", 0
        try:
            self.live()
            calls = self.faults.disarm()
            images.check(self.path, self.life[-1].number, self.expected, 2)
        except images.Wrong as broken:
            wrong = str(broken)
        return {"errors": self.errors, "wrong": wrong, "calls": calls}

    def live(self) -> None:
        """Open, take the steps, close; what fails is tried again."""
        pace = plan.Pace()
        memory = None
        for _ in range(TRIES):
            with self.telling("open"):
                memory = plan.opened(self.path, pace)
                break
            self.faults.disarm()
        if memory is None:
            raise images.Wrong("stuck: the store does not open any more")
        for step in self.life[self.first :]:
            self.step(memory, step, pace)
        with self.telling("close"):
            memory.close()

    def step(self, memory: Memory, step: plan.Step, pace: plan.Pace) -> None:
        """One step, tried again under its key, without opening the store anew."""
        for _ in range(TRIES):
            with self.telling(step.verb):
                plan.take(memory, step, pace)
                return
            self.faults.disarm()
        raise images.Wrong(f"stuck: {step.verb} fails though the disk is well again")

    @contextlib.contextmanager
    def telling(self, verb: str) -> Iterator[None]:
        try:
            yield
        except MemoriterError as error:
            self.errors.append([verb, type(error).__name__, "", str(error)])
        except Exception as error:  # an error of no type of ours is a finding
            self.errors.append([verb, type(error).__name__, "untyped", str(error)])


def main(folder: str, base: str, seed: str, first: str, steps: str) -> None:
    bench = Bench(Path(folder), Path(base), seed, int(first), int(steps))
    for line in sys.stdin:
        faulthandler.dump_traceback_later(HANG_S, exit=True)
        sys.stdout.write(json.dumps(bench.job(*json.loads(line))) + "\n")
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    plant.prepare()
    main(*sys.argv[1:])
