"""Damage of every kind to a store at rest, and who noticed."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
from tests.crash import flips, plan
from tests.inside import log_of

from memoriter.core.errors import MemoriterError
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import SECOND, START

PAGE = 4096
Answers = dict[str, Any]


class Kept:
    """A store at rest, checkpointed, with everything it answers."""

    def __init__(self, folder: Path, seed: str, steps: int) -> None:
        self.folder = folder
        self.life = plan.steps(seed, steps)
        self.names = sorted(
            {step.given["id"] for step in self.life if step.verb == "remember"}
            | {d["id"] for step in self.life for d in step.given.get("drafts", ())}
        )
        folder.mkdir()
        pace = plan.Pace()
        with plan.opened(folder / "m.db", pace) as memory:
            self._live(memory, pace)
        assert not (folder / "m.db-wal").exists(), "closed and checkpointed"
        self.bytes = (folder / "m.db").read_bytes()
        self.answers = {True: self._answers(derived=True), False: self._answers(derived=False)}
        for way, answers in self.answers.items():
            assert not [key for key, answer in answers.items() if _refused(answer)], way
        self.mended = mended(self.lay(folder.with_name("first"), self.bytes, derived=True))
        """What it answers once upkeep has paid what was owed."""

    def _live(self, memory: Memory, pace: plan.Pace) -> None:
        for step in self.life:
            plan.take(memory, step, pace)
            if step.number % 12 == 9:
                pace.embedder.failing = True  # what is owed stays owed
                memory.maintain()

    def _answers(self, *, derived: bool) -> Answers:
        copy = self.folder.with_name("first")
        self.lay(copy, self.bytes, derived=derived)
        with opened(copy / "m.db") as memory:
            return self.ask(memory)

    def lay(self, folder: Path, content: bytes, *, derived: bool) -> Path:
        """A copy with this content, with or without the derived files."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "m.db").write_bytes(content)
        if derived:
            shutil.copytree(self.folder / "m.db.idx", folder / "m.db.idx")
        return folder / "m.db"

    def ask(self, memory: Memory) -> Answers:
        """Everything a caller can see; an error is an answer too."""
        log, seen = log_of(memory), {}

        def ask(name: str, what: Callable[[], Any]) -> None:
            try:
                seen[name] = what()
            except MemoriterError as error:
                seen[name] = ("refused", type(error).__name__, str(error))
            except Exception as error:  # noticed, but in no form of ours
                seen[name] = ("refused", f"untyped {type(error).__name__}", str(error))

        for one in self.names:
            for what in (memory.get, memory.history, memory.links):
                ask(f"{what.__name__} {one}", lambda what=what, one=one: _or_missing(what, one))
        ask("agents", memory.agents.list)
        for n, question in enumerate(plan.QUESTIONS):
            ask(f"recall {n}", lambda n=n: plan.answer(memory, n))
            ask(f"words {n}", lambda q=question: _hits(memory.keywords(q, 50, now=plan.LATER)))
        ask("browse", lambda: memory.browse("oldest", limit=1000, expired="show"))
        for step in range(5, len(self.life), 9):
            moment = START + step * SECOND
            ask(f"known at {step}", lambda m=moment: [
                (one, _or_missing(lambda i, m=m: memory.get(i, known_at=m), one))
                for one in self.names
            ])  # fmt: skip
        ask("status", lambda: _status(memory))
        ask("debts", lambda: log.debts(plan.TENANT, 1000))
        ask("head", lambda: _head(memory))
        for step in [step for step in self.life if step.verb == "remember"][::3]:
            ask(f"retry {step.number}", lambda step=step: plan.take(memory, step, plan.Pace()))
        return seen


def opened(path: Path) -> Memory:
    pace = plan.Pace()
    pace.clock.time = plan.LATER
    return plan.opened(path, pace, horizon_days=1e5)


def mended(path: Path) -> list[Any]:
    """Let upkeep do what it can; what the store answers then."""
    with opened(path) as memory:
        memory.maintain()
    with opened(path) as memory:
        return [plan.answer(memory, n) for n in range(len(plan.QUESTIONS))]


def _refused(answer: object) -> bool:
    return isinstance(answer, tuple) and answer[:1] == ("refused",)


def _or_missing(what: Callable[[str], Any], one: str) -> Any:
    try:
        return what(one)
    except MemoriterError as error:
        if type(error).__name__ == "NotFound":
            return "missing"
        raise


def _hits(result: Any) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in result]


def _status(memory: Memory) -> dict[str, object]:
    status = memory.status().to_dict()
    return {key: status[key] for key in ("records", "seq", "time", "debt", "tenants")}


def _head(memory: Memory) -> tuple[int, int, int, bytes]:
    head = log_of(memory).head(plan.TENANT)
    return head.seq, head.time, head.positions, head.link


def inspected(path: Path) -> str:
    """What the engine's own verification finds wrong; empty when it finds nothing."""
    try:
        with opened(path) as memory:
            report = memory.verify_store()
    except MemoriterError as error:
        return repr(error)
    except Exception as error:  # noticed, but in no form of ours
        return f"untyped {error!r}"
    return "; ".join((*report.problems, *report.derived))


def where(good: Path, bad: Path) -> list[str]:
    """Which table and column two files differ in."""
    tables = []
    for path in (good, bad):
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            names = [n for (n,) in db.execute("SELECT name FROM sqlite_schema WHERE type='table'")]
            tables.append({name: _content(db, name) for name in names})
        except apsw.Error as error:
            return [repr(error)]
        finally:
            db.close()
    one, two = tables
    places = []
    for name in one:
        columns, left = one[name]
        right = two.get(name, ((), []))[1]
        places += [
            f"{name}.{column}: {a!r} became {b!r}"[:200]
            for x, y in zip(left, right, strict=False)
            for column, a, b in zip(columns, x, y, strict=False)
            if a != b
        ]
        if len(left) != len(right):
            places.append(f"{name}: {len(left)} rows became {len(right)}")
    return places or ["an index or the file's own structure"]


def _content(db: apsw.Connection, name: str) -> tuple[tuple[str, ...], list[Any]]:
    """(columns, rows) as bytes: damaged text need not be text."""
    columns = tuple(row[1] for row in db.execute(f'PRAGMA table_info("{name}")'))
    listed = ", ".join(f"CAST({column} AS BLOB)" for column in columns)
    return columns, db.execute(f'SELECT {listed} FROM "{name}" NOT INDEXED').fetchall()  # noqa: S608  # names from the schema


@dataclass
class Tally:
    """What became of many damages."""

    tried: int = 0
    harmless: int = 0
    on_read: int = 0
    verified: int = 0
    untyped: list[str] = field(default_factory=list)
    served: list[str] = field(default_factory=list)
    """Changed answers that were given without an error; verification may still know."""
    unseen: list[str] = field(default_factory=list)

    def spelled(self) -> str:
        changed = self.tried - self.harmless
        return (
            f"{self.tried} / {changed} / {self.on_read} / {self.verified} / {len(self.unseen)}"
            f" (untyped {len(self.untyped)})"
        )


def suffer(kept: Kept, folder: Path, name: str, content: bytes, tally: Tally) -> None:
    """One damage: it changes no answer, or somebody notices."""
    derived = tally.tried % 2 == 0
    tally.tried += 1
    path = kept.lay(folder, content, derived=derived)
    expected = kept.answers[derived]
    try:
        with opened(path) as memory:
            answers = kept.ask(memory)
    except MemoriterError:
        tally.on_read += 1
        return
    changed = [key for key in expected if answers[key] != expected[key]]
    if not changed:
        tally.harmless += 1
        return
    refused = [key for key in changed if _refused(answers[key])]
    tally.untyped += [
        f"{name}: {key}: {answers[key][1]}"
        for key in refused
        if answers[key][1].startswith("untyped")
    ]
    served = [key for key in changed if not _refused(answers[key])]
    tally.served += [f"{name}: {key}" for key in served]
    if refused:
        tally.on_read += 1
    path = kept.lay(folder, content, derived=derived)
    if problems := inspected(path):
        tally.verified += 1
        tally.untyped += [f"{name}: verify: {problems}"] if problems.startswith("untyped") else []
    elif served or not refused:
        good = kept.lay(folder.with_name("good"), kept.bytes, derived=False)
        problems = "; ".join(where(good, path)[:3])
        tally.unseen.append(
            f"{name} ({'with' if derived else 'without'} index): {served[:3]}: {problems}"
        )


def flip(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    """The content with one bit changed, seldom in the empty part of a page."""
    at, bit = rng.randrange(len(content)), rng.randrange(8)
    while not content[at] and rng.random() < 0.9:
        at = rng.randrange(len(content))
    changed = bytearray(content)
    changed[at] ^= 1 << bit
    return f"bit {bit} of byte {at}", bytes(changed)


def inside(kept: Kept, table: str, column: str) -> list[int]:
    """Where the values of a column lie in the file, byte by byte."""
    db = apsw.Connection(str(kept.folder / "m.db"), flags=apsw.SQLITE_OPEN_READONLY)
    values = [value for (value,) in db.execute(f"SELECT {column} FROM {table}")]  # noqa: S608  # ours
    db.close()
    spans = [(kept.bytes.find(value), len(value)) for value in values]
    return [at for begin, size in spans if begin > 0 for at in range(begin, begin + size)]


def answers_and_mends(kept: flips.Kept, path: Path) -> None:
    """It opens, answers from the record, and upkeep leaves sound segments behind."""
    expected = kept.answers[True]
    with flips.opened(path) as memory:
        answers = kept.ask(memory)
        wrong = [key for key in expected if answers[key] != expected[key]]
        assert not wrong, [(key, answers[key], expected[key]) for key in wrong[:2]]
    assert flips.mended(path) == kept.mended
