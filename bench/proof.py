"""Proof: the pipeline above the lanes (row 20), receipts and their verifier (row 22).

300 candidates through our default recipe and a recipe with ranks, boosts, a second pass and
diversity. Above the lanes: passes, orderings, evidence and explanation of ten hits; the lanes have
run, and records are read from memory. A receipt is made only when it is asked for.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.inside import engine_of, query_of

import memoriter
from bench.tools import Corpus, Options, profiled, table
from memoriter.lanes.port import Context
from memoriter.memory.facade import Memory
from memoriter.memory.search import bind_query
from memoriter.pipeline import run as running
from memoriter.pipeline.plan import plan
from memoriter.why.answer import answer
from memoriter.why.result import Result
from memoriter.why.verify import verify

POOLS = {f"lanes.{lane}.pool": 120 for lane in ("words", "kin", "meaning")}
RICH: dict[str, Any] = {
    "name": "rich",
    "version": 1,
    "analyzer": "memoriter",
    "lanes": {
        "words": {"kind": "bm25", "pool": 160, "k1": 1.2, "b": 0.75, "fields": {"text": 1.0}},
        "meaning": {"kind": "vector", "pool": 160, "min_cosine": -1.0},
    },
    "boosts": {
        "recency": {"kind": "recency", "alpha": 0.2},
        "importance": {"kind": "importance"},
        "session": {"kind": "session"},
    },
    "pass": [
        {"fuse": {"kind": "rrf"}, "boosts": ["recency", "importance", "session"]},
        {
            "head": {"count": 100, "by": ["words.score", "meaning.score"]},
            "fuse": {"kind": "rrf"},
        },
    ],
    "order": [{"kind": "collapse", "by": "near"}, {"kind": "mmr", "trade": 0.7, "head": 50}],
}


def run(options: Options) -> None:
    memory = _memory(1_000 if options.small else 10_000)
    questions = Corpus(seed=2).questions(10 if options.small else 50)
    asks: dict[str, dict[str, Any]] = {
        "memoriter": {"overrides": POOLS},
        "rich": {"recipe": RICH},
    }
    rows = [_measured(memory, name, ask, (questions, options)) for name, ask in asks.items()]
    heads = ["recipe", "candidates", "above lanes CPU ms", "receipt kB", "made ms", "verified ms"]
    table(heads, rows)
    print("\nBars: above the lanes ≤ 3 ms (goal 1.5), a receipt ≤ 300 kB (goal 100).")


def _memory(count: int) -> Memory:
    memory = memoriter.open(":memory:", maintenance="manual")
    memory.remember_many(
        {"text": text, "session": f"s{n // 20}", "importance": n % 5 / 4}
        for n, text in enumerate(Corpus().records(count))
    )
    return memory


def _measured(
    memory: Memory, name: str, ask: dict[str, Any], how: tuple[list[str], Options]
) -> tuple[object, ...]:
    questions, options = how
    above: list[float] = []
    made: list[float] = []
    checked: list[float] = []
    sizes: list[int] = []
    counts: list[int] = []
    asked = [_asked(memory, question, ask) for question in questions]
    for finish in asked:
        finish()
        result, spent = _cpu(finish)
        above.append(spent)
        receipt, spent = _cpu(lambda result=result: result.receipt)
        made.append(spent)
        body = receipt.to_bytes()
        report, spent = _cpu(lambda body=body: verify(body))
        assert report.ok, report.problems[:3]
        checked.append(spent)
        sizes.append(len(body))
        counts.append(result.total)
    with profiled(options, f"{len(asked)} × above the lanes, {name}"):
        for finish in asked:
            finish()
    middle = statistics.median
    return (
        name,
        f"{middle(counts):.0f}",
        f"{middle(above):.2f}",
        f"{middle(sizes) / 1000:.0f}",
        f"{middle(made):.1f}",
        f"{middle(checked):.1f}",
    )


def _asked(memory: Memory, question: str, ask: dict[str, Any]) -> Callable[[], Result]:
    """A question whose lanes have run: what is left to do for the answer."""
    engine = engine_of(memory)  # what recall itself uses
    query, recipe = query_of(memory, question, 10, ask)
    ctx: Context = engine.with_spaces(bind_query(engine, query, recipe), embed=True)
    made = plan(recipe, ctx)
    lanes = running.run_lanes(made, ctx)
    records = dict(_fetched(engine, query, lanes))

    def fetch(rows: Any) -> list[Any]:
        return [records[row] for row in rows]

    ctx = replace(ctx, effects=replace(ctx.effects, fetch=fetch))

    def finish() -> Result:
        kept, running.run_lanes = running.run_lanes, lambda plan, ctx, *more: lanes
        try:
            return answer(running.run_plan(made, ctx), ctx)
        finally:
            running.run_lanes = kept

    return finish


def _fetched(engine: Any, query: Any, lanes: Any) -> list[tuple[int, Any]]:
    rows = sorted({row for ranking in lanes[0].values() for row in ranking.rows.tolist()})
    return list(zip(rows, engine.fetch(query.scope.tenant)(rows), strict=True))


def _cpu(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    out = work()
    return out, 1000.0 * (time.process_time() - start)
