"""CPU milliseconds of one recall, questions of 8 to 12 words, ten hits.

The default recipe, what it was before (`former.toml`, version 6) and the two simplest ones, asked
in turn, question by question. Explanations are made when somebody reads them: the last column has
the CPU with those of all ten hits read. With the benchmark data, the same on real conversations
(LoCoMo, LongMemEval) with the questions of these sets.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tools.bench_data import bench_data

import memoriter
from bench.tools import Corpus, Options, folder, profiled, table, timed
from memoriter.evaluate.find import find_datasets
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.pipeline.recipe import Recipe

FORMER = Path(__file__).with_name("former.toml")
CONVERSATIONS = ("locomo", "longmemeval")


def run(options: Options) -> None:
    rows: list[tuple[str, ...]] = []
    asked = 20 if options.small else 60
    for count in (10_000,) if options.small else (10_000, 100_000):
        corpus = Corpus()
        texts, questions = corpus.records(count), corpus.questions(asked)
        rows += _measured("synthetic", [{"text": text} for text in texts], questions, options)
    if place := bench_data():
        drafts, questions = _conversations(place)
        rows += _measured("conversations", drafts, questions[:: len(questions) // asked], options)
    heads = ["recall", "texts", "records", "CPU ms", "90th %", "wall ms", "all read, CPU ms"]
    table(heads, rows)


def recipes() -> dict[str, Recipe]:
    """The recipes by the name that the table has for them."""
    before = recipe_of(str(FORMER))
    named = {name: recipe_of(name) for name in ("lexical", "semantic")}
    return {"memoriter": recipe_of("memoriter"), "memoriter before (6)": before, **named}


def _conversations(place: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """(every turn of the sets once, the questions about them)."""
    drafts: list[dict[str, Any]] = []
    questions: list[str] = []
    for name in CONVERSATIONS:
        # The last data set of a file has the most records in a store.
        for at, case in enumerate(find_datasets(place / name)[-1].cases):
            for record in case.records:
                draft = record.to_draft()
                own = {"id": f"{name}-{at}-{record.id}", "session": f"{name}-{at}-{record.session}"}
                drafts.append({**draft, **own})
            questions += [question.text for question in case.questions]
    return drafts, questions


def _measured(
    what: str, drafts: Sequence[dict[str, Any]], questions: Sequence[str], options: Options
) -> list[tuple[str, ...]]:
    with folder() as place, memoriter.open(place / "m.db", maintenance="manual") as memory:
        memory.remember_many(drafts)  # pyright: ignore[reportArgumentType]  # made above
        memory.maintain()
        assert memory.recall(drafts[0]["text"])[0].record.text == drafts[0]["text"]
        rows = _rows(memory, questions)
        with profiled(options, f"{len(questions)} × recall, memoriter, {len(drafts):,} records"):
            for question in questions:
                memory.recall(question)
    return [(name, what, f"{len(drafts):,}", *figures) for name, *figures in rows]


def _rows(memory: Memory, questions: Sequence[str]) -> list[tuple[str, ...]]:
    compared = recipes()
    for recipe in compared.values():
        _read(memory, questions[0], recipe)
    bare: dict[str, list[tuple[float, float]]] = {name: [] for name in compared}
    read: dict[str, list[float]] = {name: [] for name in compared}
    for question in questions:
        for name, recipe in compared.items():
            _, spent = timed(partial(memory.recall, question, recipe=recipe))
            bare[name].append((1000 * spent.cpu, 1000 * spent.wall))
            read[name].append(1000 * timed(partial(_read, memory, question, recipe))[1].cpu)
    out: list[tuple[str, ...]] = []
    for name, spent in bare.items():
        cpu, wall = sorted(each for each, _ in spent), [each for _, each in spent]
        middles = (statistics.median(each) for each in (cpu, wall, read[name]))
        middle, clock, looked = (f"{each:.1f}" for each in middles)
        out.append((name, middle, f"{cpu[int(0.9 * (len(cpu) - 1))]:.1f}", clock, looked))
    return out


def _read(memory: Memory, question: str, recipe: Recipe) -> None:
    """Recall, and read why each hit scores what it does."""
    for hit in memory.recall(question, recipe=recipe):
        assert hit.explanation.value == hit.score
        assert all(lane.why.label for lane in hit.lanes.values())
