"""The kin lane against the word lane of the same run (row 29): the best 50 of 8 to 12 words.

The same texts and questions as in `words`; each lane counts reading the question, selecting by
tenant, and the exact top 50. No text is read.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

from tests.inside import engine_of, query_of

import memoriter
from bench.tools import Corpus, Options, folder, profiled, table
from bench.words import TOP, _lane, _times
from memoriter.core.ranking import Ranking
from memoriter.lanes.port import Context
from memoriter.memory.facade import Memory
from memoriter.memory.search import bind_query
from memoriter.pipeline.load import overridden, recipe_of

RARE = {"session": "some"}


def run(options: Options) -> None:
    rows: list[tuple[str, ...]] = []
    for count in (10_000,) if options.small else (10_000, 100_000, *options.more):
        rows += _measured(count, options)
    table(["best 50", "records", "CPU ms", "90th %", "against words"], rows)


def _measured(count: int, options: Options) -> list[tuple[str, ...]]:
    corpus = Corpus()
    texts = corpus.records(count, long=0.1)
    questions = corpus.questions(20 if options.small else 100)
    out: dict[str, list[float]] = {}
    with folder() as place, _memory(place, texts) as memory:
        kin = _kin(memory)
        assert len(kin(texts[-1])[1].rows) == TOP
        out["words"] = _times(_lane(memory), questions)
        out["kin"] = _times(kin, questions)
        out["kin, of one percent"] = _times(_kin(memory, RARE), questions)
        out["kin, and ten hits explained"] = _times(_explained(memory), questions)
        with profiled(options, f"{len(questions)} × kin lane, {count:,} records"):
            for question in questions:
                kin(question)
    base = statistics.median(out["words"])
    return [
        (
            name,
            f"{count:,}",
            f"{statistics.median(spent):.2f}",
            f"{sorted(spent)[int(0.9 * (len(spent) - 1))]:.2f}",
            f"{statistics.median(spent) / base:.2f}×",
        )
        for name, spent in out.items()
    ]


def _memory(place: Path, texts: list[str]) -> Memory:
    # Vectors of one's own, of which none is given: a table of kin, and nothing to embed.
    memory = memoriter.open(place / "m.db", embedder="given:1", maintenance="manual")
    memory.remember_many(
        {"text": text, "session": "some" if n % 100 == 0 else "most"}
        for n, text in enumerate(texts)
    )
    memory.maintain()
    return memory


def _kin(
    memory: Memory, where: dict[str, str] | None = None
) -> Callable[[str], tuple[Context, Ranking]]:
    """The kin lane of our default recipe with a pool of 50, and nothing above it."""
    engine = engine_of(memory)  # what recall itself uses
    recipe = overridden(recipe_of("memoriter"), {"lanes.kin.pool": TOP})

    def ask(question: str) -> tuple[Context, Ranking]:
        query, _ = query_of(memory, question, TOP, {"where": where} if where else {})
        ctx = bind_query(engine, query, recipe)
        return ctx, recipe.lanes["kin"].rank(ctx)

    return ask


def _explained(memory: Memory) -> Callable[[str], object]:
    kin, lane = _kin(memory), recipe_of("memoriter").lanes["kin"]

    def ask(question: str) -> object:
        ctx, ranking = kin(question)
        return lane.evidence(ctx, ranking, ranking.rows[:10])

    return ask
