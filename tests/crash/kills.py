"""A process that lets children live on one file and kills them: then looks, and lets them go on.

    python -m tests.crash.kills FOLDER SEED KILLS STEPS random|named|syscall

It has loaded everything and opened nothing, so a child costs one fork. Prints what came of it.
"""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
from tests.crash import images, lab, plan, plant, work
from tests.night import NIGHT

import memoriter.index.erase
import memoriter.index.upkeep
import memoriter.memory.search
import memoriter.pipeline.load
import memoriter.store.segments
import memoriter.store.sqlite.store
import memoriter.store.sqlite.transactions

PER_STORE = 12
LONGEST_S = 0.15


def child(what: Callable[[], Any]) -> tuple[int, int]:
    """(pid, handle that reads its answer) of a child that does this and nothing else."""
    out, into = os.pipe()
    pid = os.fork()
    if pid:
        os.close(into)
        return pid, out
    code = 1
    try:
        answer = json.dumps(what()).encode()
        os.write(into, answer)
        code = 0
    except BaseException:  # a child must never come back into our loop
        os.write(into, json.dumps(traceback.format_exc()).encode())
    finally:
        os._exit(code)


def answer_of(pid: int, out: int) -> Any:
    """What a child answered; None when it was killed."""
    with os.fdopen(out, "rb") as file:
        text = file.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return None
    answer = json.loads(text)
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(answer)
    return answer


class Reach:
    """Counts the named steps of a commit, a merge and a publish, and dies at one of them."""

    def __init__(self, name: str = "", at: int = 0) -> None:
        self.seen: Counter[str] = Counter()
        self._mark = (name, at)

    def __call__(self, name: str) -> None:
        self.seen[name] += 1
        if (name, self.seen[name]) == self._mark:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def watched(*given: Any, **more: Any) -> Any:
            self(f"before {name}")
            result = call(*given, **more)
            self(f"after {name}")
            return result

        return watched

    def install(self) -> None:
        """Watch every statement, and every step of the index."""
        reach, plain = self, apsw.Connection

        class Watched(plain):  # type: ignore[misc,valid-type]  # whatever stands there now
            def execute(self, statements: str, *given: Any, **more: Any) -> Any:
                return reach.around(label(statements), super().execute)(statements, *given, **more)

            def executemany(self, statements: str, *given: Any, **more: Any) -> Any:
                run = super().executemany
                return reach.around(label(statements), run)(statements, *given, **more)

        apsw.Connection = Watched  # type: ignore[misc]  # in this child alone
        for room, name in (
            (memoriter.index.upkeep, "merge"),
            (memoriter.index.upkeep, "save_segment"),
            (memoriter.index.erase, "merge"),
            (memoriter.index.erase, "save_segment"),
            (memoriter.store.sqlite.store, "zero_free_space"),
            (memoriter.store.sqlite.store.Sqlite, "scrub"),
            (memoriter.store.sqlite.transactions, "truncate_wal"),
            (memoriter.store.segments, "fsync_folder"),
            (memoriter.store.sqlite.store.Sqlite, "publish"),
            (memoriter.store.sqlite.store.Sqlite, "commit"),
            (Path, "unlink"),
        ):
            setattr(room, name, self.around(name, getattr(room, name)))


def label(sql: str) -> str:
    words = sql.split()
    at = {"INSERT": 2, "DELETE": 2, "UPDATE": 1, "BEGIN": 0, "COMMIT": 0}.get(words[0])
    if at is None:
        return "read"
    if words[:2] == ["INSERT", "OR"]:
        at = 4
    return f"{words[0].lower()} {words[at]}" if at else words[0].lower()


class Loop:
    """Kill after kill on the same stores."""

    def __init__(self, folder: Path, seed: str, steps: int) -> None:
        self.folder, self.seed, self.steps = folder, seed, steps
        self.rng = random.Random(f"kills {seed}")
        self.life = plan.steps(seed, steps)
        self.expected = plan.Expected(self.life)
        self.path, self.acks = folder / "m.db", folder.with_name(folder.name + ".acks")
        self.counts: Counter[str] = Counter()

    def fresh(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.acks.unlink(missing_ok=True)

    def acked(self) -> int:
        lines = self.acks.read_text().split() if self.acks.exists() else []
        return int(lines[-1]) if lines else -1

    def start(self, before: Callable[[], None] = lambda: None) -> tuple[int, int]:
        """A child that goes on where the acknowledgements end."""
        first = self.first

        def live() -> str:
            before()
            work.live(str(self.path), str(self.acks), self.seed, str(self.steps), str(first))
            return "done"

        return child(live)

    @property
    def first(self) -> int:
        """The step after the last acknowledged one; if it was done already, its key tells."""
        return self.acked() + 1

    held = -1
    """The last step that the log held when we looked."""

    def look(self) -> bool:
        """Everything acknowledged is there, nothing twice; whether there is one step more."""
        acked = self.acked()
        self.held = answer_of(*child(functools.partial(self._check, acked)))
        self.counts["acknowledged"] = max(self.counts["acknowledged"], acked + 1)
        state, now = self.expected.after(acked), self.expected.after(self.held)
        if now.seq > state.seq:
            self.counts["there, though nobody was told"] += 1
            following = self.expected.after(min(acked + 1, self.steps - 1))
            if now.seq > following.seq:
                raise images.Wrong(f"torn: acknowledged {acked}, holds {self.held}")
        return now.seq > state.seq

    def _check(self, acked: int) -> int:
        return images.check(self.path, acked, self.expected)

    def finish(self) -> None:
        """Live to the end; every step was applied once."""
        if answer_of(*self.start()) != "done":
            raise images.Wrong("corrupt: the rest of the life could not be lived")
        self.look()
        if self.acked() != self.steps - 1:
            raise images.Wrong("lost: an acknowledgement")
        self.counts["lives finished"] += 1
        self.held = -1

    def at_random(self, kills: int) -> None:
        for n in range(8 * kills):
            if self.counts["kills"] >= kills:
                break
            if n % PER_STORE == 0 or self.acked() >= self.steps - 5:
                if n:
                    self.finish()
                self.fresh()
            pid, out = self.start()
            time.sleep(self.rng.uniform(0, LONGEST_S))
            os.kill(pid, signal.SIGKILL)
            if answer_of(pid, out) is None:
                self.counts["kills"] += 1
            self.look()
        self.finish()

    def at_names(self, kills: int) -> None:
        self.fresh()
        counts = answer_of(*child(self._all_names))
        names = sorted(counts)
        self.counts["named steps"] = len(names)
        for n in range(max(kills, len(names))):
            name = names[n % len(names)]
            at = self.rng.randint(1, counts[name])
            self._once(Reach(name, at).install, name, to_end=NIGHT or n % 3 == 0)

    def _all_names(self) -> dict[str, int]:
        reach = Reach()
        reach.install()
        work.live(str(self.path), str(self.acks), self.seed, str(self.steps))
        return dict(reach.seen)

    def at_syscalls(self, kills: int) -> None:
        self.fresh()
        kinds = "OWSTUD"
        total = answer_of(*child(functools.partial(self._all_calls, kinds)))
        self.counts["system calls"] = total
        for n in range(kills):
            at = 1 + (n * total // kills if kills < total else n % total)
            action = "KILL_BEFORE" if n % 2 else "KILL_AFTER"
            self._once(lambda at=at, how=action: lab.Faults().arm(kinds, how, at), f"call {at}")

    def _all_calls(self, kinds: str) -> int:
        faults = lab.Faults()
        faults.arm(kinds, "EIO", 0, 0)
        work.live(str(self.path), str(self.acks), self.seed, str(self.steps))
        return faults.disarm()

    def _once(self, before: Callable[[], None], name: str, *, to_end: bool = True) -> None:
        """One life, killed where `before` says, then looked at, then lived to the end."""
        self.fresh()
        self.held = -1
        try:
            answer = answer_of(*self.start(before))
            self.counts["kills" if answer is None else "not reached"] += 1
            if self.look() or to_end:  # a step that nobody was told of is retried
                self.finish()
        except images.Wrong as wrong:
            raise images.Wrong(f"{wrong} (killed at {name})") from wrong


def main(folder: str, seed: str, kills: str, steps: str, how: str) -> None:
    loop = Loop(Path(folder), seed, int(steps))
    {"random": loop.at_random, "named": loop.at_names, "syscall": loop.at_syscalls}[how](int(kills))
    sys.stdout.write(json.dumps(loop.counts))


if __name__ == "__main__":
    plant.prepare()
    main(*sys.argv[1:])
