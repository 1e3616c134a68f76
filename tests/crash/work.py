"""A process that lives a life on a file and says after each step that it was acknowledged.

python -m tests.crash.work FILE ACKS SEED COUNT [FIRST]
python -m tests.crash.work --crowd FILE ACKS SEED COUNT THREADS
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from tests.crash import plan, plant

import memoriter


def options() -> dict[str, Any]:
    return json.loads(os.environ.get("MEMORITER_OPTIONS", "{}"))


class Acks:
    """The side file: one write for each acknowledgement, after the verb returned."""

    def __init__(self, path: str) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def tell(self, *words: object) -> None:
        os.write(self._handle, (" ".join(map(str, words)) + "\n").encode())


def live(path: str, acks: str, seed: str, count: str, first: str = "0") -> None:
    """Take the steps from `first` on."""
    life, acked, pace = plan.steps(seed, int(count)), Acks(acks), plan.Pace()
    with plan.opened(path, pace, **options()) as memory:
        for step in life[int(first) :]:
            persist(memory, step, pace)
            acked.tell(step.number)
        if os.environ.get("MEMORITER_CLOSE") == "no":
            os.kill(os.getpid(), signal.SIGKILL)


def persist(memory: memoriter.Memory, step: plan.Step, pace: plan.Pace) -> None:
    """Take a step; where the environment allows it, try once more after an error."""
    try:
        plan.take(memory, step, pace)
    except memoriter.MemoriterError:
        if os.environ.get("MEMORITER_RETRY") != "yes":
            raise
        plan.take(memory, step, pace)


def crowd(path: str, acks: str, seed: str, count: str, threads: str) -> None:
    """Several threads write at once, so that commits are shared."""
    acked = Acks(acks)
    memory = memoriter.open(path, embedder=None, maintenance="manual", **options())
    failed: list[BaseException] = []

    def one(who: int) -> None:
        try:
            for n in range(int(count)):
                name = f"{who}-{n}"
                made = memory.remember(f"{seed} {name} port", id=name, key=name)
                acked.tell(name, made.seq)
        except BaseException as error:  # told by the process
            failed.append(error)

    running = [threading.Thread(target=one, args=(who,)) for who in range(int(threads))]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    memory.close()
    if failed:
        raise failed[0]


if __name__ == "__main__":
    plant.prepare()
    given = sys.argv[1:]
    if given[0] == "--crowd":
        crowd(*given[1:])
    else:
        live(*given)
    Path(given[1 if given[0] != "--crowd" else 2]).stat()
