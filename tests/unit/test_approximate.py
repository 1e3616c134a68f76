"""Above a size that the recipe names, vectors are read by codes first: nearly all of the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.night import NIGHT

import memoriter
from memoriter.core.ranking import Mask
from memoriter.index.segment import LIVE, Segment
from memoriter.index.view import View
from memoriter.lanes.nearest import Nearest, Scan
from memoriter.rank.codes import Probe, codes_of, rotation
from memoriter.rank.grid import unit
from memoriter.rank.units import units

POOL = 50
MANY, QUERIES = (30_000, 40) if NIGHT else (12_000, 20)
Vectors = NDArray[np.float32]


def drawn(count: int, width: int = 128, seed: int = 1, spread: float = 1.0) -> Vectors:
    """Unit vectors; the smaller the spread, the nearer they lie to one direction."""
    random = np.random.default_rng(seed)
    rows = spread * random.standard_normal((count, width)) + (1.0 - spread)
    return units(np.rint(rows * 2.0**20) * 2.0**-20)


def reading_of(matrix: Vectors, cuts: Sequence[int] = (), owners: Any = None) -> View:
    """A view over segments that hold nothing but vectors."""
    owners = np.arange(len(matrix)) if owners is None else owners
    segments: list[Segment] = []
    for first, last in zip((0, *cuts), (*cuts, len(matrix)), strict=True):
        owned = 10 + 3 * owners[first:last]
        rows = np.unique(owned)
        arrays: Any = {
            "rows": rows,
            "ends": np.full(rows.size, LIVE),
            "lengths": np.zeros((1, rows.size), np.int32),
            "vectors.rows": owned,
            "vectors.seqs": owned,
            "vectors.matrix": matrix[first:last],
            "vectors.none.rows": np.zeros(0, np.int64),
            "vectors.none.seqs": np.zeros(0, np.int64),
        }
        segments.append(Segment(int(rows[0]) - 1, int(rows[-1]), arrays))
    return View(2**40, segments, ("text",))


def best(
    view: View, query: Vectors, exact_up_to: int = 0, masks: Sequence[Mask] | None = None
) -> tuple[list[int], list[float], Scan]:
    near = Nearest(view, view.visible if masks is None else masks, query)
    rows, scores, scan = near.best(POOL, -1.0, exact_up_to).now()
    order = np.lexsort((rows, -scores))[:POOL]
    return rows[order].tolist(), scores[order].tolist(), scan


@pytest.mark.parametrize("count", [1, 2, 100, 900, 5000])
@pytest.mark.parametrize("pool", [1, 50, 1000])
def test_of_few_vectors_all_of_the_best_are_found(count: int, pool: int) -> None:
    view, (query,) = reading_of(drawn(count)), drawn(1, seed=3)
    for floor in (-np.inf, -1.0, 0.9):
        rows, scores, _ = Nearest(view, view.visible, query).best(pool, floor, 0).now()
        near = Nearest(view, view.visible, query).best(pool, floor, 2**31).now()
        kept = sorted(scores[scores >= floor].tolist())[-pool:]
        exact = sorted(near[1][near[1] >= floor].tolist())[-pool:]
        assert len(set(kept) & set(exact)) >= 0.9 * len(exact)
        assert rows.size == np.unique(rows).size


def recall(view: View, queries: Vectors, masks: Sequence[Mask] | None = None) -> float:
    shares: list[float] = []
    for query in queries:
        rows, _, scan = best(view, query, masks=masks)
        exact, _, _ = best(view, query, 2**31, masks)
        assert scan == "approximate"
        shares.append(len(set(rows) & set(exact)) / len(exact))
    return float(np.mean(shares))


@pytest.mark.parametrize("width", [64, 100, 256, 384])
def test_nearly_all_of_the_best_are_found(width: int) -> None:
    view = reading_of(drawn(MANY, width))
    assert recall(view, drawn(QUERIES, width, seed=2)) >= 0.99


def test_vectors_of_a_narrow_cone_are_found_too() -> None:
    matrix = drawn(MANY, 256, spread=0.8)
    assert recall(reading_of(matrix), drawn(QUERIES, 256, seed=2, spread=0.8)) >= 0.99


def test_scores_are_those_of_the_exact_scan() -> None:
    view = reading_of(drawn(MANY))
    for query in drawn(5, seed=3):
        near, scores, _ = best(view, query)
        rows, exact, _ = best(view, query, 2**31)
        known = dict(zip(rows, exact, strict=True))
        assert all(known.get(r, s) == s for r, s in zip(near, scores, strict=True))


def test_the_answer_does_not_depend_on_segments() -> None:
    matrix = drawn(MANY)
    whole, cut = reading_of(matrix), reading_of(matrix, (1, 20, MANY // 4, MANY - 1_000))
    for query in drawn(10, seed=4):
        assert best(whole, query) == best(cut, query)


def test_a_filter_is_applied_before_anything_is_cut() -> None:
    view = reading_of(drawn(80_000))
    for share in (2, 5):
        masks = [np.arange(len(s)) % share == 0 for s in view.segments]
        assert recall(view, drawn(QUERIES, seed=5), masks) >= 0.99
        rows, _, _ = best(view, drawn(1, seed=6)[0], masks=masks)
        assert all((row - 10) // 3 % share == 0 for row in rows)


def test_a_record_of_many_parts_counts_once() -> None:
    view = reading_of(drawn(MANY), owners=np.repeat(np.arange(MANY // 3), 3))
    for query in drawn(5, seed=7):
        rows, _, scan = best(view, query)
        assert (len(rows), len(set(rows)), scan) == (POOL, POOL, "approximate")
    assert recall(view, drawn(QUERIES, seed=8)) >= 0.99


def test_where_codes_cannot_tell_vectors_apart_the_scan_is_exact() -> None:
    matrix = drawn(20_000, 64, spread=0.001)
    view = reading_of(matrix)
    query = matrix[7]
    assert best(view, query) == best(view, query, 2**31)
    assert best(view, query)[2] == "exact"


@pytest.mark.parametrize("width", [8, 63])
def test_short_vectors_are_always_compared_exactly(width: int) -> None:
    view = reading_of(drawn(5_000, width))
    assert best(view, drawn(1, width, seed=9)[0])[2] == "exact"


@pytest.mark.parametrize("width", [64, 100, 256, 384, 1000])
def test_the_rotation_keeps_lengths_and_angles(width: int) -> None:
    turned = rotation(width).astype(np.float64)
    assert np.abs(turned @ turned.T - np.eye(width)).max() < 0.02
    assert (turned * 1024 == np.rint(turned * 1024)).all()


def test_turning_is_exact_in_any_order() -> None:
    matrix = drawn(200, 384)
    codes = codes_of(matrix)
    backwards = codes_of(matrix[::-1].copy())
    assert (backwards.signs[:, ::-1] == codes.signs).all()
    alone = [codes_of(matrix[n : n + 1]) for n in range(200)]
    assert all((one.steps[0] == codes.steps[n]).all() for n, one in enumerate(alone))
    assert all((one.signs[:, 0] == codes.signs[:, n]).all() for n, one in enumerate(alone))


def test_estimates_stray_as_far_as_they_say() -> None:
    matrix, queries = drawn(20_000, 256), drawn(10, 256, seed=2)
    codes, everything = codes_of(matrix), np.arange(20_000)
    for query in queries:
        probe = Probe.of(query)
        rough = np.empty(everything.size, np.uint16)
        probe.rough(codes.signs, rough)
        true = matrix @ query
        fine = 2.0 * rough + probe.distances(codes.steps, everything)
        none, whole = probe.fine_within(0.0), probe.fine_within(1.0)
        strayed = (none - fine) / (none - whole) - true
        assert abs(strayed.mean()) < 0.05 * probe.fine_error
        assert strayed.std() == pytest.approx(probe.fine_error, rel=0.15)
        kept = rough <= probe.rough_within(0.1 - 2.0 * probe.rough_error)
        assert kept[true >= 0.1].mean() > 0.97


def test_plan_and_result_say_when_they_are_approximate() -> None:
    matrix = drawn(9_000, 64)
    with memoriter.open(":memory:", embedder="given:64") as memory:
        memory.remember_many(
            {"text": "x", "vector": row.tolist(), "session": "few" if n < 100 else None}
            for n, row in enumerate(matrix)
        )
        ask: dict[str, Any] = {
            "recipe": "semantic",
            "vector": unit(np.arange(1.0, 65.0)).tolist(),  # pyright: ignore[reportOptionalMemberAccess]  # not zero
            "overrides": {"lanes.meaning.exact_up_to": 5_000, "lanes.meaning.pool": 20},
        }
        result = memory.recall("x", **ask)
        assert (result.approximate, result.status) == (True, "complete")
        assert "scan approximate" in str(result.plan)
        assert result.to_dict()["approximate"] is True
        assert memory.plan("x", **ask).approximate
        few = memory.recall("x", **ask, where={"session": "few"})
        assert (few.approximate, len(few)) == (False, 10)
        del ask["overrides"]
        plain = memory.recall("x", **ask)
        assert "scan exact" in str(plain.plan)
        assert "approximate" not in plain.to_dict()
