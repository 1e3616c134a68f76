"""Random histories that forget: afterwards no byte of a forgotten record is in any file.

Every record version has words, a title, tags, entities and a vector that nothing else has. A child
process lives a stretch of the history and is killed at a named step of forgetting, merging or
erasing. Then every byte of every file is searched for what was forgotten: if the status says that
all is erased there must be nothing, and after the next upkeep there must be nothing at all.
"""

from __future__ import annotations

import functools
import hashlib
import json
import random
import shutil
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.crash import plant
from tests.crash.kills import Reach, answer_of, child
from tests.inside import log_of

import memoriter
from memoriter.memory.facade import Memory
from memoriter.rank.grid import unit
from memoriter.testing.fakes import CountedEntropy, HandClock, ToyEmbedder

STRETCHES = 3
STEPS = 14


class NeedleEmbedder(ToyEmbedder):
    """Another vector for every text, so that its bytes can be searched for."""

    fingerprint = "needle/1"
    dimension = 16

    def _one(self, text: str) -> NDArray[np.float32] | None:
        digest = np.frombuffer(hashlib.sha512(text.encode()).digest(), np.int16)
        return unit(digest[: self.dimension].astype(np.float64))


class Wrong(Exception):
    """A byte that should be gone, or a status that lies."""


@dataclass
class Known:
    """What the history wrote: by id, everything that only this record has."""

    needles: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    vectors: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def of(self, gone: list[str]) -> dict[bytes, str]:
        words = {n.encode(): i for i in gone for n in [i, *self.needles.get(i, [])]}
        return words | {bytes.fromhex(v): i for i in gone for v in self.vectors.get(i, [])}


class History:
    """One history: writes, updates, links, merges, forgets, and kills between them."""

    def __init__(self, folder: Path, seed: str) -> None:
        self.folder, self.seed = folder, seed
        self.rng = random.Random(f"forget {seed}")
        self.path = folder / "m.db"
        self.notes = folder.with_name(folder.name + ".known")
        self.counts: Counter[str] = Counter()

    def run(self) -> Counter[str]:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.notes.write_text(json.dumps(Known().__dict__))
        for stretch in range(STRETCHES):
            self._stretch(f"{self.seed}/{stretch}")
        return self.counts

    def _stretch(self, seed: str) -> None:
        copy = self.folder.with_name(self.folder.name + ".dry")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder, copy)
        steps = answer_of(*child(functools.partial(self._dry, copy / "m.db", seed)))
        name = self.rng.choice(sorted(steps))
        reach = Reach(name, self.rng.randint(1, steps[name]))
        lived = answer_of(*child(functools.partial(self._live, self.path, seed, reach)))
        self.counts["kills" if lived is None else "ends"] += 1
        known = Known(**json.loads(self.notes.read_text()))
        before = files(self.folder)
        state = answer_of(*child(functools.partial(self._status, list(known.needles))))
        needles = known.of(state["gone"])
        self.counts["forgotten"] = len(state["gone"])
        left = search(before, needles)
        self.counts["stretches with bytes left to erase"] += bool(left)
        if left and not state["unerased"]:
            raise Wrong(f"status says erased, killed at {name}: {left}")
        answer_of(*child(self._maintain))
        if left := search(files(self.folder), needles):
            raise Wrong(f"after upkeep, killed at {name}: {left}")
        self.counts["needles"] = len(needles)

    def _dry(self, path: Path, seed: str) -> dict[str, int]:
        reach = Reach()
        self._live(path, seed, reach, quiet=True)
        return dict(reach.seen)

    def open(self, path: Path, **more: Any) -> Memory:
        return memoriter.open(
            path, clock=HandClock(), entropy=CountedEntropy(f"{self.seed} {more}"),
            embedder=NeedleEmbedder(), flush_rows=5, maintenance="manual", horizon_days=0,
        )  # fmt: skip

    def _live(self, path: Path, seed: str, reach: Reach, *, quiet: bool = False) -> str:
        rng = random.Random(seed)
        known = Known(**json.loads(self.notes.read_text()))
        with self.open(path, seed=seed) as memory:
            reach.install()
            for step in range(STEPS):
                self._step(memory, rng, f"{seed}/{step}", known, quiet=quiet)
        return "done"

    def _step(self, memory: Memory, rng: random.Random, at: str, known: Known, *, quiet: bool):
        alive = [i for i in known.needles if log_of(memory).versions("default", i, 2**62)]
        verb = rng.choices(
            ["write", "update", "link", "maintain", "forget", "many"], [6, 3, 2, 3, 4, 1]
        )[0]
        if verb == "write" or len(alive) < 3:
            record_id = f"id{needle(rng)}"
            known.needles[record_id] = words = [needle(rng) for _ in range(8)]
            self._note(known, quiet=quiet)
            memory.remember(**fields(words), id=record_id, key=f"key {at}")
            self._vectors(memory, record_id, known, quiet=quiet)
        elif verb == "update":
            record_id = rng.choice(alive)
            words = [needle(rng) for _ in range(8)]
            known.needles[record_id] += words
            self._note(known, quiet=quiet)
            memory.update(record_id, **fields(words))
            self._vectors(memory, record_id, known, quiet=quiet)
        elif verb == "link":
            one, two = rng.sample(alive, 2)
            word = needle(rng)
            known.needles[one].append(word)
            self._note(known, quiet=quiet)
            memory.link(one, two, f"kind_{word}", metadata={"note": word}, key=f"key {at}")
        elif verb == "maintain":
            memory.maintain()
        else:
            chosen = rng.sample(alive, 1 if verb == "forget" else 2)
            memory.forget(chosen, key=f"key {at}", now=rng.random() < 0.4)

    def _note(self, known: Known, *, quiet: bool) -> None:
        """Write down what is about to be written, outside the store."""
        if not quiet:
            self.notes.write_text(json.dumps(known.__dict__))

    def _vectors(self, memory: Memory, record_id: str, known: Known, *, quiet: bool) -> None:
        rows = [
            v for r in memory.history(record_id) for v in log_of(memory).vectors("default", r.row)
        ]
        known.vectors[record_id] = [row.body.hex() for row in rows]
        self._note(known, quiet=quiet)

    def _status(self, ids: list[str]) -> dict[str, Any]:
        """Which records are gone, and whether the store says that they are erased."""
        memory = self.open(self.path)
        log = log_of(memory)
        gone = [i for i in ids if not log.versions("default", i, 2**62)]
        return {"gone": gone, "unerased": memory.status().unerased}  # dies without a close

    def _maintain(self) -> str:
        memory = self.open(self.path)
        if memory.maintain().unerased or memory.status().unerased:
            raise Wrong("upkeep could not erase")
        return "done"  # dies without a close, which would empty the write-ahead log


def needle(rng: random.Random) -> str:
    return f"zq{rng.getrandbits(48):012x}7"


def fields(words: list[str]) -> dict[str, Any]:
    text, title, summary, tag, entity, session, path, note = words
    return {
        "text": f"the port of {text} is open {'and more of it ' * (len(text) % 3 * 40)}",
        "title": f"about {title}",
        "summary": f"in short {summary}",
        "tags": ["ops", tag],
        "entities": [entity],
        "session": session,
        "source": {"path": path},
        "metadata": {"note": note},
    }


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }


def search(contents: dict[str, bytes], needles: dict[bytes, str]) -> list[str]:
    """Where a needle is left: in a file, or in the name of one."""
    return [
        f"{needle[:40]!r} of {owner} in {name}"
        for needle, owner in needles.items()
        for name, content in contents.items()
        if needle and (needle in content or needle in name.encode())
    ]


def main(folder: str, seed: str, histories: str) -> None:
    total: Counter[str] = Counter()
    for n in range(int(histories)):
        try:
            total += History(Path(folder) / "store", f"{seed}/{n}").run()
        except Wrong as wrong:
            raise Wrong(f"history {n} of seed {seed}: {wrong}") from wrong
        total["histories"] += 1
    sys.stdout.write(json.dumps(total))


if __name__ == "__main__":
    plant.prepare()
    main(*sys.argv[1:])
