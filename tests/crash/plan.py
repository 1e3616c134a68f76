"""A life of a memory that can be lived again: the same numbered steps give the same bytes.

Clock and randomness follow from the number of the step, so a step that is repeated after a crash
is the very same call. A run in memory tells what the log must hold after every step.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.inside import log_of

import memoriter
from memoriter.memory.facade import Memory
from memoriter.store.port import Dump
from memoriter.testing.fakes import SECOND, START, CountedEntropy, HandClock, ToyEmbedder
from memoriter.testing.whole import whole

WORDS = [
    "port",
    "ssh",
    "cache",
    "memory",
    "prod",
    "disk",
    "queue",
    "token",
    "lamp",
    "river",
    "stone",
    "paper",
]
LATER = START + 100_000 * SECOND
TENANT = "default"
FLUSH_ROWS = 6
QUESTIONS = ("port of the ssh cache", "stone river", "token memory lamp paper")


@dataclass(frozen=True)
class Step:
    """One call: a verb of the memory and what it is given."""

    number: int
    verb: str
    given: dict[str, Any]
    failing: bool = False
    """Whether the embedder fails meanwhile, so that a vector is owed."""


class Pace:
    """Clock, randomness and embedder, all set by the number of a step."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.embedder = ToyEmbedder()
        self._entropy = CountedEntropy("start")

    def draw(self, count: int) -> bytes:
        return self._entropy.draw(count)

    def turn(self, step: Step) -> None:
        self.clock.time = START + step.number * SECOND
        self._entropy = CountedEntropy(f"step {step.number}")
        self.embedder.failing = step.failing


def opened(place: str | Path, pace: Pace, **more: Any) -> Memory:
    """A memory at this pace; segments are small, so that publishing and merging happen."""
    options: dict[str, Any] = {
        "clock": pace.clock,
        "entropy": pace,
        "embedder": pace.embedder,
        "maintenance": "manual",
        "flush_rows": FLUSH_ROWS,
        "horizon_days": 60 / 86_400,
        **more,
    }
    return memoriter.open(place, **options)


def steps(seed: object, count: int) -> list[Step]:
    """A life of so many steps, with every verb in it."""
    return _Making(seed).run(count)


@dataclass
class _Making:
    seed: object
    alive: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(f"steps {self.seed}")

    def run(self, count: int) -> list[Step]:
        return [self.step(n) for n in range(count)]

    def step(self, n: int) -> Step:
        dice = self.rng.random()
        failing = self.rng.random() < 0.15
        if dice < 0.35 or len(self.alive) < 4:
            return Step(n, "remember", self.draft(f"r{n}"), failing)
        if dice < 0.43:
            drafts = [self.draft(f"r{n}.{at}") for at in range(self.rng.randint(2, 9))]
            return Step(n, "remember_many", {"drafts": drafts}, failing)
        if dice < 0.60:
            given = {"id": self.one(), "text": self.text(), "tags": [self.rng.choice(WORDS)]}
            return Step(n, "update", {**given, "key": f"k{n}"}, failing)
        if dice < 0.72:
            return Step(n, "link", {"source": self.one(), "target": self.one(), "key": f"k{n}"})
        if dice < 0.82:
            gone = self.alive.pop(self.rng.randrange(len(self.alive)))
            return Step(n, "forget", {"id": gone, "key": f"k{n}"})
        if dice < 0.86:
            return Step(n, "expire", {"id": self.one(), "key": f"k{n}"})
        if dice < 0.90:
            return Step(
                n,
                "enrol",
                {"agent": self.rng.choice(WORDS), "description": self.text(), "key": f"k{n}"},
            )
        return Step(n, "maintain", {})

    def one(self) -> str:
        return self.rng.choice(self.alive)

    def text(self) -> str:
        return " ".join(self.rng.choices(WORDS, k=self.rng.randint(3, 30)))

    def draft(self, name: str) -> dict[str, Any]:
        given: dict[str, Any] = {"text": self.text(), "id": name, "key": f"k-{name}"}
        if self.rng.random() < 0.3:
            given["entities"] = self.rng.sample(WORDS, 2)
        if self.rng.random() < 0.2:
            given["vector"] = [self.rng.uniform(-1, 1) for _ in range(3)]
        if self.rng.random() < 0.2 and self.alive:
            given["links"] = [{"target": self.one(), "kind": "related_to"}]
        if self.rng.random() < 0.1 and self.alive:
            given["supersedes"] = [self.one()]
        self.alive.append(name)
        return given


def take(memory: Memory, step: Step, pace: Pace) -> int:
    """Take a step; the sequence number that the memory answered, 0 where it answers none."""
    pace.turn(step)
    given = dict(step.given)
    match step.verb:
        case "remember_many":
            return memory.remember_many(given["drafts"]).seq
        case "enrol":
            return memory.agents.upsert(given.pop("agent"), **given).seq
        case "maintain":
            memory.maintain()
            return 0
        case _:
            return getattr(memory, step.verb)(**given).seq


def spelled(dump: Dump) -> str:
    """One digest of everything a tenant holds; how its segments lie is left out."""
    bare = replace(dump, head=replace(dump.head, published=0))
    return hashlib.sha256(repr(bare).encode()).hexdigest()


def answer(memory: Memory, at: int) -> list[tuple[str, float]]:
    """What the memory recalls, at a moment that does not depend on when it is asked."""
    result = memory.recall(QUESTIONS[at % len(QUESTIONS)], 5, now=LATER)
    return [(hit.id, hit.score) for hit in result]


@dataclass(frozen=True)
class State:
    """What must be true after a step."""

    seq: int
    spelled: str
    answer: list[tuple[str, float]]


class Expected:
    """What the log must hold after each step; before the first it holds nothing."""

    def __init__(self, life: list[Step]) -> None:
        self.states: list[State] = []
        pace = Pace()
        with opened(":memory:", pace) as memory:
            self._note(memory)
            for step in life:
                take(memory, step, pace)
                pace.embedder.failing = False  # a question is embedded, whatever the step owes
                self._note(memory)
        self.at = {state.seq: state for state in self.states}

    def _note(self, memory: Memory) -> None:
        dump = whole(log_of(memory), TENANT)
        seq = dump.head.seq
        self.states.append(State(seq, spelled(dump), answer(memory, seq) if seq else []))

    def after(self, step: int) -> State:
        """The state after this step; -1 for before the first."""
        return self.states[step + 1]
