"""Which marked changes `Memory.similar` names when a store is written in order, and what else.

A memory marked as superseding another is a change. Everything else that is named as replaced is
counted as another pair; some of these are changes too, which nobody marked: `--profile` lists them.
Copies do not count. The rule was tuned on two stores, the notebook of a workshop and four of the
eight in `small/changes`. The pairs of the other four, of a choir and of two stores were not looked
at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.bench_data import MISSING, bench_data

import memoriter
from bench.tools import Options
from memoriter.core.similar import SimilarRecord

_NOTEBOOKS = Path(__file__).parent / "small"
TUNED = ("coding", "company")
SEEN = ("assistant", "chat")
TUNED_CHANGES = ("household", "ledgerapp", "office", "trainer")
HELD_CHANGES = ("garden", "mobileapp", "runbook", "student")


class Note(NamedTuple):
    """A memory of a store, and the ids of those that it replaces."""

    id: str
    text: str
    replaces: frozenset[str]


class Named(NamedTuple):
    """A memory that was named as replaced by a new one, and whether it is marked so."""

    new: Note
    near: SimilarRecord
    marked: bool


def notebook(name: str) -> list[Note]:
    """The notes of a notebook."""
    text = (_NOTEBOOKS / f"{name}.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    rows = [[part.strip() for part in line.split("|", 2)] for line in lines]
    return [Note(id, text, frozenset(filter(None, [old]))) for id, old, text in rows]


def everyday(folder: Path) -> list[Note]:
    """The memories of a store of the everyday set."""
    rows = [
        json.loads(line) for line in (folder / "memories.jsonl").read_text("utf-8").splitlines()
    ]
    return [Note(row["id"], row["text"], frozenset(filter(None, [row.get("supersedes")])))
            for row in rows]  # fmt: skip


def named(notes: list[Note]) -> Iterator[Named]:
    """Write the notes in order, and give what each of them is said to replace."""
    with memoriter.open(":memory:") as memory:
        for note in notes:
            for near in memory.similar(note.text):
                if near.relation != "copy":
                    yield Named(note, near, near.id in note.replaces)
            memory.remember(note.text, id=note.id)


def _report(name: str, notes: list[Note], *, every: bool) -> None:
    pairs = list(named(notes))
    right, marked = sum(each.marked for each in pairs), sum(len(note.replaces) for note in notes)
    others = len(pairs) - right
    print(f"{name:28}{len(notes):6}{marked:9}{right:8}{others:8}")
    for each in pairs if every else ():
        print(f"    {'marked' if each.marked else 'other'}: {each.new.text[:80]}")
        print(f"        {each.near.record.text[:80]} ({each.near.relation}: {each.near.why})")


def run(options: Options) -> None:
    print(f"{'store':28}{'notes':>6}{'marked':>9}{'named':>8}{'others':>8}")
    _report("workshop (tuned on)", notebook("workshop"), every=options.profile)
    _report("choir (totals seen)", notebook("choir"), every=options.profile)
    for names, how in ((TUNED_CHANGES, "tuned on"), (HELD_CHANGES, "held out")):
        for name in names:
            notes = notebook(f"changes/{name}")
            _report(f"{name} ({how})", notes, every=options.profile and how == "tuned on")
    folder = bench_data("everyday")
    if folder is None:
        print(MISSING)
        return
    for names, how in ((TUNED, "tuned on"), (SEEN, "totals seen")):
        for name in names:
            _report(f"everyday/{name} ({how})", everyday(folder / name), every=options.profile)
