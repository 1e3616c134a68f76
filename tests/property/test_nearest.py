"""The order of the vector lane is that of brute force in float64, whatever is filtered out."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import memoriter
from memoriter.index.segment import LIVE, Segment
from memoriter.index.view import View
from memoriter.lanes.nearest import Nearest
from memoriter.rank.grid import snap, unit
from memoriter.rank.top import top
from memoriter.rank.units import units

POOL = 100


def brute(
    matrix: NDArray[np.float32], query: NDArray[np.float32], rows: NDArray[np.int64], pool: int
) -> list[tuple[int, float]]:
    """Every cosine in float64, on the grid; equals by row."""
    scores = snap(matrix.astype(np.float64) @ query.astype(np.float64))
    order = np.lexsort((rows, -scores))[:pool]
    return list(zip(rows[order].tolist(), scores[order].tolist(), strict=True))


def viewed(matrix: NDArray[np.float32], cuts: list[int]) -> View:
    segments: list[Segment] = []
    for first, last in zip([0, *cuts], [*cuts, len(matrix)], strict=True):
        rows = np.arange(first + 1, last + 1)
        arrays: Any = {
            "rows": rows,
            "ends": np.full(rows.size, LIVE),
            "lengths": np.zeros((1, rows.size), np.int32),
            "vectors.rows": rows,
            "vectors.seqs": rows,
            "vectors.matrix": matrix[first:last],
            "vectors.none.rows": np.zeros(0, np.int64),
            "vectors.none.seqs": np.zeros(0, np.int64),
        }
        segments.append(Segment(first, last, arrays))
    return View(len(matrix), segments, ("text",))


@pytest.mark.parametrize("share", [1, 3, 50])
def test_100_000_vectors_stand_as_brute_force_has_them(share: int) -> None:
    random = np.random.default_rng(share)
    matrix = units(np.rint(random.standard_normal((100_000, 64)) * 2.0**20) * 2.0**-20)
    matrix[5_000:5_400] = matrix[4_600:5_000]  # ties, across a border of segments
    view = viewed(matrix, [5_100, 60_000, 99_990])
    wanted = np.arange(100_000) % share == 0
    starts = [0, 5_100, 60_000, 99_990, 100_000]
    masks = [wanted[a:b] for a, b in pairwise(starts)]
    rows = np.arange(1, 100_001)
    for query in [*units(random.standard_normal((3, 64))), matrix[4_800]]:
        picked, scores, scan = Nearest(view, masks, query).best(POOL, -1.0, 300_000).now()
        order = top(scores, picked, POOL)
        values = list(zip(picked[order].tolist(), scores[order].tolist(), strict=True))
        assert scan == "exact"
        assert values == brute(matrix[wanted], query, rows[wanted], POOL)


numbers = st.integers(-8, 8).map(float)
vectors = st.lists(numbers, min_size=3, max_size=3).filter(any)


@given(
    st.lists(st.tuples(vectors, st.booleans()), min_size=1, max_size=25),
    vectors,
    st.integers(1, 30),
    st.sampled_from([None, {"session": "in"}]),
)
def test_a_lane_over_a_store_stands_as_brute_force_has_it(
    stored: list[tuple[list[float], bool]], asked: list[float], pool: int, where: Any
) -> None:
    with memoriter.open(":memory:", embedder="given:3", maintenance="manual") as memory:
        for n, (vector, kept) in enumerate(stored):
            memory.remember("x", id=f"r{n}", vector=vector, session="in" if kept else "out")
        lane = {"lanes.meaning.pool": pool, "lanes.meaning.min_cosine": -1.0}
        result = memory.recall(
            "", 100, recipe="semantic", overrides=lane, vector=asked, where=where
        )
    chosen = [n for n, (_, kept) in enumerate(stored) if kept or where is None]
    rows = sorted((hit.lanes["meaning"].rank, hit.id, hit.lanes["meaning"].score) for hit in result)
    made = [unit(np.array(stored[n][0])) for n in chosen]
    query = unit(np.array(asked))
    assert query is not None
    matrix = np.array([one for one in made if one is not None], np.float32).reshape(-1, 3)
    expected = brute(matrix, query, np.array(chosen, np.int64), pool)
    assert [(id_, score) for _, id_, score in rows] == [(f"r{n}", s) for n, s in expected]
