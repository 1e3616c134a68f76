"""The vector lane against a bare float32 product of matrix and vector: the best 50, exact.

Random unit vectors of 256 numbers, given by the caller. The peer multiplies all vectors with the
query in float32 and takes the best 50 by `argpartition`; ours also selects by tenant, decides ties
and rounding exactly, and equals brute force in float64.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np

import recollect
from bench.tools import Options, folder, profiled, table, timed
from recollect.core.ranking import Ranking
from recollect.memory.facade import Memory
from recollect.pipeline.bind import bind
from recollect.pipeline.load import overridden, recipe_of

TOP = 50
WIDTH = 256


def run(options: Options) -> None:
    rows: list[tuple[str, ...]] = []
    for count in (5_000,) if options.small else (100_000, *options.more):
        rows += _measured(count, options)
    table(["meaning, best 50", "records", "CPU ms", "90th %", "against gemv"], rows)


def _measured(count: int, options: Options) -> list[tuple[str, ...]]:
    random = np.random.default_rng(1)
    matrix = random.standard_normal((count, WIDTH)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    questions = random.standard_normal((10 if options.small else 60, WIDTH))
    with (
        folder() as place,
        recollect.open(place / "m.db", embedder=f"given:{WIDTH}", maintenance="manual") as memory,
    ):
        memory.remember_many(
            {"text": "x", "vector": row.tolist(), "session": "some" if n % 100 == 0 else "most"}
            for n, row in enumerate(matrix)
        )
        memory.maintain()
        lane = _lane(memory)
        _check(lane, matrix, questions[0])
        out = {
            "numpy float32, all of them": _times(lambda q: _gemv(matrix, q), questions),
            "recollect, exact": _times(lane, questions),
            "… of one percent": _times(_lane(memory, {"session": "some"}), questions),
        }
        with profiled(options, f"{len(questions)} × vector lane, {count:,} records"):
            for question in questions:
                lane(question)
    base = statistics.median(out["numpy float32, all of them"])
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


def _times(ask: Callable[[np.ndarray], object], questions: np.ndarray) -> list[float]:
    ask(questions[0])
    return [1000 * timed(lambda q=question: ask(q))[1].cpu for question in questions]


def _gemv(matrix: np.ndarray, question: np.ndarray) -> np.ndarray:
    scores = matrix @ question.astype(np.float32)
    best = np.argpartition(scores, -TOP)[-TOP:]
    return best[np.argsort(-scores[best])]


def _lane(memory: Memory, where: dict[str, str] | None = None) -> Callable[[np.ndarray], Ranking]:
    parts = memory._parts  # what recall itself uses
    recipe = overridden(recipe_of("semantic"), {"lanes.meaning.pool": TOP})

    def ask(question: np.ndarray) -> Ranking:
        more = {"where": where} if where else {}
        query, _ = memory._query("x", TOP, {"vector": question.tolist(), **more})
        reading = parts.reading(query.scope.tenant, None)
        vector = parts.vector(query)
        fetch = parts.fetch(query.scope.tenant)
        ctx = bind(query, recipe, reading, fetch, (parts.shop.analyzer, vector, None, parts.kin))
        return recipe.lanes["meaning"].rank(ctx)

    return ask


def _check(lane: Callable[[np.ndarray], Ranking], matrix: np.ndarray, question: np.ndarray) -> None:
    """The same records as brute force in float64."""
    unit = question / np.linalg.norm(question)
    exact = np.argsort(-(matrix.astype(np.float64) @ unit), kind="stable")[:TOP]
    found = lane(question).rows
    assert np.array_equal(np.argsort(found), np.argsort(exact)), "another order than brute force"
