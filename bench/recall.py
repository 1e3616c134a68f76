"""CPU milliseconds of one recall, questions of 8 to 12 words, explanation of ten hits included."""

from __future__ import annotations

import statistics
from functools import partial

import memoriter
from bench.tools import Corpus, Options, folder, profiled, table, timed

RECIPES = ("memoriter", "lexical", "semantic")


def run(options: Options) -> None:
    rows: list[tuple[str, ...]] = []
    for count in (10_000,) if options.small else (10_000, 100_000):
        rows += _measured(count, options)
    table(["recall", "records", "CPU ms", "90th %", "wall ms"], rows)


def _measured(count: int, options: Options) -> list[tuple[str, ...]]:
    corpus = Corpus()
    texts, questions = corpus.records(count), corpus.questions(20 if options.small else 60)
    rows: list[tuple[str, ...]] = []
    with folder() as place, memoriter.open(place / "m.db", maintenance="manual") as memory:
        memory.remember_many(texts)
        memory.maintain()
        assert memory.recall(texts[0])[0].record.text == texts[0]
        for recipe in RECIPES:
            memory.recall(questions[0], recipe=recipe)
            spent = [timed(partial(memory.recall, q, recipe=recipe))[1] for q in questions]
            cpu = sorted(1000 * each.cpu for each in spent)
            wall = statistics.median(1000 * each.wall for each in spent)
            tail = cpu[int(0.9 * (len(cpu) - 1))]
            middle = statistics.median(cpu)
            rows.append((recipe, f"{count:,}", f"{middle:.1f}", f"{tail:.1f}", f"{wall:.1f}"))
        with profiled(options, f"{len(questions)} × recall, memoriter, {count:,} records"):
            for question in questions:
                memory.recall(question)
    return rows
