"""The vector lane against a bare float32 product of matrix and vector: the best 50.

Random unit vectors of 256 numbers. The peer multiplies all vectors with the query in float32 and
takes the best 50 by `argpartition`. Exact (row 16): vectors given by the caller to a store; ours
also selects by tenant, decides ties and rounding exactly, and equals brute force in float64. By
codes (row 17): the lane over a segment made on the spot, with its recall beside it; `--records`
adds sizes.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np
from tests.inside import engine_of, query_of

import memoriter
from bench.tools import Options, folder, profiled, table, timed
from memoriter.core.query import Query
from memoriter.core.ranking import Ranking
from memoriter.core.scope import Scope
from memoriter.index.segment import LIVE, Segment
from memoriter.index.selection import Selection
from memoriter.index.view import View
from memoriter.lanes.port import Context, InSpace, Wording
from memoriter.memory.facade import Memory
from memoriter.memory.search import bind_query
from memoriter.pipeline.load import overridden, recipe_of
from memoriter.rank.grid import UNIT_STEP, unit
from memoriter.text.default import DefaultAnalyzer

TOP = 50
WIDTH = 256
PEER = "numpy float32, all of them"


def run(options: Options) -> None:
    rows: list[tuple[str, ...]] = []
    for count in (5_000,) if options.small else (100_000,):
        rows += _measured(count, options)
    table(["meaning, best 50", "records", "CPU ms", "90th %", "against gemv"], rows)
    print()
    sizes = (50_000,) if options.small else (1_000_000, *options.more)
    coded = [row for count in sizes for row in _coded(count, options)]
    table(["by codes", "vectors", "CPU ms", "90th %", "against gemv", "recall@50"], coded)


def _measured(count: int, options: Options) -> list[tuple[str, ...]]:
    matrix, questions = _drawn(count, options)
    with (
        folder() as place,
        memoriter.open(place / "m.db", embedder=f"given:{WIDTH}", maintenance="manual") as memory,
    ):
        memory.remember_many(
            {"text": "x", "vector": row.tolist(), "session": "some" if n % 100 == 0 else "most"}
            for n, row in enumerate(matrix)
        )
        memory.maintain()
        lane = _lane(memory)
        _check(lane, matrix, questions[0])
        out = {
            PEER: _times(lambda q: _gemv(matrix, q), questions),
            "memoriter, exact": _times(lane, questions),
            "… of one percent": _times(_lane(memory, {"session": "some"}), questions),
        }
        with profiled(options, f"{len(questions)} × vector lane, {count:,} records"):
            for question in questions:
                lane(question)
    return _rows(out, count)


def _drawn(count: int, options: Options) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    matrix = random.standard_normal((count, WIDTH), dtype=np.float32)
    for start in range(0, count, 10_000):
        some = matrix[start : start + 10_000]
        some /= np.linalg.norm(some, axis=1, keepdims=True)
        some[:] = np.rint(some / UNIT_STEP) * UNIT_STEP
    return matrix, random.standard_normal((10 if options.small else 60, WIDTH))


def _rows(out: dict[str, list[float]], count: int) -> list[tuple[str, ...]]:
    base = statistics.median(out[PEER])
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


def _coded(count: int, options: Options) -> list[tuple[str, ...]]:
    matrix, questions = _drawn(count, options)
    view = _view(matrix)
    _, spent = timed(lambda: view.segments[0].codes)
    print(f"codes of {count:,} vectors, made once: {spent.cpu:.1f} s CPU", flush=True)
    few = (np.arange(count) % 100 == 0,)
    named = {"by codes": (0, view.visible), "exactly": (count, view.visible)}
    named["exactly, of one percent"] = (count, few)
    asks = {name: _ranked(view, *how) for name, how in named.items()}
    out = {PEER: _times(lambda q: _gemv(matrix, q), questions)}
    out |= {name: _times(ask, questions) for name, ask in asks.items()}
    coded = [asks["by codes"](q).rows for q in questions]
    true = [asks["exactly"](q).rows for q in questions]
    shares = [np.isin(t, f).mean() for t, f in zip(true, coded, strict=True)]
    with profiled(options, f"{len(questions)} × by codes, {count:,} vectors"):
        for question in questions:
            asks["by codes"](question)
    recall = {"by codes": f"{np.mean(shares):.4f}"}
    return [(*row, recall.get(row[0], "")) for row in _rows(out, count)]


def _view(matrix: np.ndarray) -> View:
    """A view over one segment of vectors and nothing else."""
    rows = np.arange(1, len(matrix) + 1)
    arrays = {"rows": rows, "ends": np.full(rows.size, LIVE), "vectors.matrix": matrix}
    arrays |= {"vectors.rows": rows, "vectors.seqs": rows}
    arrays |= {"vectors.none.rows": rows[:0], "vectors.none.seqs": rows[:0]}
    arrays["lengths"] = np.zeros((1, rows.size), np.int32)
    return View(int(rows[-1]), [Segment(0, int(rows[-1]), arrays)], ("text",))


def _ranked(
    view: View, exact_up_to: int, masks: tuple[np.ndarray, ...]
) -> Callable[[np.ndarray], Ranking]:
    """The lane of the recipe `semantic` on a view."""
    changed = {"lanes.meaning.pool": TOP, "lanes.meaning.exact_up_to": exact_up_to}
    lane = overridden(recipe_of("semantic"), changed).lanes["meaning"]
    query = Query(text="x", scope=Scope.of("default"), now=0, limit=TOP)

    def ask(question: np.ndarray) -> Ranking:
        selection = Selection(masks, (), masks)
        space = InSpace("bench", view, unit(question))
        ctx = Context(query, view, selection, Wording(DefaultAnalyzer()), (space,))
        lane.ready(ctx)
        return lane.rank(ctx)

    return ask


def _times(ask: Callable[[np.ndarray], object], questions: np.ndarray) -> list[float]:
    ask(questions[0])
    return [1000 * timed(lambda q=question: ask(q))[1].cpu for question in questions]


def _gemv(matrix: np.ndarray, question: np.ndarray) -> np.ndarray:
    scores = matrix @ question.astype(np.float32)
    best = np.argpartition(scores, -TOP)[-TOP:]
    return best[np.argsort(-scores[best])]


def _lane(memory: Memory, where: dict[str, str] | None = None) -> Callable[[np.ndarray], Ranking]:
    engine = engine_of(memory)  # what recall itself uses
    recipe = overridden(recipe_of("semantic"), {"lanes.meaning.pool": TOP})

    def ask(question: np.ndarray) -> Ranking:
        more = {"where": where} if where else {}
        query, _ = query_of(memory, "x", TOP, {"vector": question.tolist(), **more})
        ctx = engine.with_spaces(bind_query(engine, query, recipe), embed=True)
        return recipe.lanes["meaning"].rank(ctx)

    return ask


def _check(lane: Callable[[np.ndarray], Ranking], matrix: np.ndarray, question: np.ndarray) -> None:
    """The same records as brute force in float64."""
    unit = question / np.linalg.norm(question)
    exact = np.argsort(-(matrix.astype(np.float64) @ unit), kind="stable")[:TOP]
    ranked = lane(question).rows
    assert np.array_equal(np.argsort(ranked), np.argsort(exact)), "another order than brute force"
