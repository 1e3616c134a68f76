"""Vectors that are kept in one byte a number answer as those in float32 do, bit for bit."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from tests.in_bytes import ByteEmbedder
from tests.inside import log_of, view_of

import memoriter
from memoriter.core.batch import IN_BYTES
from memoriter.embed.vector_space import VectorSpace
from memoriter.index.merge import merge
from memoriter.index.segment import LIVE, Segment
from memoriter.index.view import View
from memoriter.kernel.library import VARIABLE, kernel_choice, native_library
from memoriter.kernel.vectors import exact_dots
from memoriter.lanes.nearest import Nearest, cosines_of
from memoriter.memory.facade import Memory
from memoriter.rank.grid import exact_cosines, snap
from memoriter.rank.units import byte_lengths, byte_rest, nearest_bytes, units, widened
from memoriter.testing.fakes import CountedEntropy, HandClock

KERNELS = ("numpy", "native")
codes = st.sampled_from([1, 4, 64, 384, 1000]).flatmap(
    lambda width: arrays(np.int8, (3, width), elements=st.integers(-127, 127))
)


def floats(matrix: NDArray[np.int8]) -> NDArray[np.float32]:
    return units(matrix.astype(np.float32))


# -- the numbers -----------------------------------------------------------------------------------


@given(codes)
def test_widened_bytes_are_what_units_makes_of_them(matrix: NDArray[np.int8]) -> None:
    assert widened(matrix).tobytes() == floats(matrix).tobytes()


@given(codes)
def test_a_vector_whose_largest_byte_is_127_comes_back_byte_for_byte(
    matrix: NDArray[np.int8],
) -> None:
    matrix[:, 0] = 127
    for row, vector in zip(matrix, floats(matrix), strict=True):
        assert nearest_bytes(vector).tolist() == row.tolist()


@given(codes)
def test_bytes_times_one_number_are_as_near_as_their_rest_says(matrix: NDArray[np.int8]) -> None:
    scales = (1.0 / byte_lengths(matrix)).astype(np.float32).astype(np.float64)
    off = floats(matrix).astype(np.float64) - matrix * scales[:, np.newaxis]
    assert (np.linalg.norm(off, axis=1) <= byte_rest(matrix.shape[1])).all()


@given(codes)
def test_a_vector_is_in_bytes_in_the_log_only_if_nothing_is_lost(matrix: NDArray[np.int8]) -> None:
    width = matrix.shape[1]
    space = VectorSpace(ByteEmbedder(dimension=width))
    matrix[0, 0] = 127
    for vector in floats(matrix):
        body = space.body_of(vector.tobytes())
        if body == vector.tobytes():
            assert len(body) % 4 == 0
        else:
            assert (body[:1], len(body)) == (IN_BYTES, 1 + width)
            kept = np.frombuffer(body, np.int8, offset=1)
            assert widened(kept[np.newaxis])[0].tobytes() == vector.tobytes()
    (first,) = floats(matrix[:1])
    assert (len(space.body_of(first.tobytes())) == 1 + width) == (width % 4 == 0)
    plain = VectorSpace(ByteEmbedder(in_bytes=False, dimension=width))
    assert plain.body_of(first.tobytes()) == first.tobytes()


def test_a_vector_that_bytes_do_not_give_exactly_stays_in_float32() -> None:
    space = VectorSpace(ByteEmbedder(dimension=4))
    exact = floats(np.array([[127, -3, 0, 9]], np.int8))[0]
    assert len(space.body_of(exact.tobytes())) == 5
    for other in (np.nextafter(exact, np.float32(2.0)), exact * [1, 1, -1, 1], exact * 0):
        body = other.astype("<f4").tobytes()
        assert space.body_of(body) == body


@given(codes)
def test_the_kernel_multiplies_bytes_as_numpy_multiplies_what_they_stand_for(
    matrix: NDArray[np.int8],
) -> None:
    fast = native_library()
    if fast is None:
        pytest.skip(kernel_choice().why)
    at, wide = np.array([2, 0]), floats(matrix)
    for query in (wide[0], units(np.arange(1.0, wide.shape[1] + 1.0)[np.newaxis])[0]):
        made = exact_dots(fast, [(matrix, at), (wide, at)], query)
        exact = snap(exact_cosines(wide[at], query))
        assert made.tobytes() == np.concatenate([exact, exact]).tobytes()


# -- the search ------------------------------------------------------------------------------------


def viewed(matrix: NDArray[np.int8], cuts: list[int], in_bytes: list[bool]) -> View:
    segments: list[Segment] = []
    for (first, last), narrow in zip(pairwise([0, *cuts, len(matrix)]), in_bytes, strict=True):
        rows = np.arange(first + 1, last + 1)
        none = np.zeros(0, np.int64)
        made: Any = {
            "rows": rows, "ends": np.full(rows.size, LIVE), "vectors.rows": rows,
            "lengths": np.zeros((1, rows.size), np.int32), "vectors.seqs": rows,
            "vectors.matrix": matrix[first:last] if narrow else floats(matrix[first:last]),
            "vectors.none.rows": none, "vectors.none.seqs": none,
        }  # fmt: skip
        segments.append(Segment(first, last, made))
    return View(len(matrix), segments, ("text",))


@pytest.mark.parametrize("exact_up_to", [100_000, 0], ids=["exact", "approximate"])
@pytest.mark.parametrize("share", [1, 3, 50])
def test_a_search_answers_alike_whatever_segments_are_in_bytes(
    share: int, exact_up_to: int
) -> None:
    random = np.random.default_rng(share)
    matrix = random.integers(-127, 128, (20_000, 64)).astype(np.int8)
    matrix[5_000:5_400] = matrix[4_600:5_000]  # ties, across a border of segments
    cuts = [5_100, 12_000, 12_900]
    wanted = np.arange(20_000) % share == 0
    masks = [wanted[a:b] for a, b in pairwise([0, *cuts, 20_000])]
    query = floats(matrix[4_700:4_701] // 2 + random.integers(-9, 9, 64).astype(np.int8))[0]
    some, out = np.arange(1, 20_000, 37), list[Any]()
    with pytest.MonkeyPatch.context() as patch:
        for kernel in KERNELS:
            patch.setenv(VARIABLE, kernel)
            kernel_choice.cache_clear()
            for narrow in ([False] * 4, [True] * 4, [True, False, True, False]):
                view = viewed(matrix, cuts, narrow)
                rows, cosines, scan = Nearest(view, masks, query).best(50, -1.0, exact_up_to).now()
                best = np.lexsort((rows, -cosines))[:50]
                codes_of = [s.codes for s in view.segments]
                out.append((
                    rows[best].tobytes(), cosines[best].tobytes(), scan,
                    cosines_of(view, query, some).tobytes(),
                    [each.tobytes() for pair in codes_of for each in pair],
                ))  # fmt: skip
    kernel_choice.cache_clear()
    assert all(each == out[0] for each in out)
    # Of a few that are selected, the estimates leave too many to save anything.
    assert out[0][2] == ("approximate" if (share, exact_up_to) == (1, 0) else "exact")


def test_a_merge_of_segments_in_bytes_is_in_bytes_and_any_other_in_float32(
    tmp_path: Path,
) -> None:
    made = list[NDArray[Any]]()
    for narrow in (True, False):
        embedder = ByteEmbedder()
        with memoriter.open(
            tmp_path / f"{narrow}.db", embedder=embedder, maintenance="manual", flush_rows=2**20
        ) as memory:
            memory.remember("?")  # nothing to embed
            segments = view_of(memory).segments
            for n in range(80):
                embedder.in_bytes = narrow or n < 70
                memory.remember(f"note {n}")
                segments = view_of(memory).segments
            assert len(segments) > 1
            made.append(merge(segments, 0).arrays["vectors.matrix"])
    assert [each.dtype for each in made] == [np.int8, np.float32]
    assert widened(made[0]).tobytes() == made[1].tobytes()


# -- the store -------------------------------------------------------------------------------------

WORDS = (
    "the",
    "kettle",
    "left",
    "cupboard",
    "tea",
    "green",
    "dog",
    "Ann",
    "port",
    "22",
    "open",
    "summer",
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
QUESTIONS = ("where is the green kettle", "port", "Ann dog summer tea")


def answers(memory: Memory) -> list[Any]:
    """Everything that searches say, under each kernel."""
    out = list[Any]()
    with pytest.MonkeyPatch.context() as patch:
        for kernel in KERNELS:
            patch.setenv(VARIABLE, kernel)
            kernel_choice.cache_clear()
            for question in QUESTIONS:
                for recipe in ("memoriter", "semantic", "mnestic"):
                    made = memory.recall(question, 30, recipe=recipe, now="2026-10-01")
                    hits = [(hit.id, hit.score, hit.explanation.to_dict()) for hit in made]
                    out.append((hits, made.receipt.to_dict()))
    kernel_choice.cache_clear()
    return out


@given(st.lists(TEXTS, min_size=1, max_size=30), st.integers(0, 5))
def test_the_same_memories_answer_alike_in_bytes_and_in_float32(
    texts: list[str], late: int
) -> None:
    both = list[Any]()
    for in_bytes in (True, False):
        embedder = ByteEmbedder(in_bytes=in_bytes)
        with memoriter.open(
            ":memory:", embedder=embedder, clock=HandClock(), entropy=CountedEntropy(),
            maintenance="manual",
        ) as memory:  # fmt: skip
            for n, text in enumerate(texts):
                embedder.failing = n < min(late, len(texts) - 1)
                memory.remember(text, id=f"r{n}")
            embedder.failing = False
            before = answers(memory)
            memory.maintain()
            memory.update("r0", tags=["x"])
            both.append((before, answers(memory), memory.reflect(dry_run=True).to_dict()))
    assert both[0] == both[1]


def filled(path: Path, *, in_bytes: bool) -> Memory:
    """A store with several published segments, some of whose vectors came late."""
    embedder = ByteEmbedder(in_bytes=in_bytes)
    memory = memoriter.open(
        path, embedder=embedder, clock=HandClock(), entropy=CountedEntropy(), flush_rows=8,
        maintenance="manual",
    )  # fmt: skip
    for n in range(60):
        embedder.failing = n in range(20, 25)
        memory.remember(f"note {n} on the {WORDS[n % 7]} {WORDS[n % 12]}", id=f"r{n}")
        if n % 16 == 15:
            embedder.failing = False
            memory.maintain()
    memory.forget("r7")
    memory.maintain()
    return memory


def test_stores_on_disk_answer_alike_open_again_and_move(tmp_path: Path) -> None:
    said_by = list[Any]()
    for in_bytes in (True, False):
        path = tmp_path / f"{in_bytes}.db"
        with filled(path, in_bytes=in_bytes) as memory:
            said_by.append(answers(memory))
            memory.export(tmp_path / f"{in_bytes}.jsonl")
            assert memory.verify_store().sound
        kinds = {np.dtype(np.int8 if in_bytes else np.float32)}
        again: Any = {"embedder": ByteEmbedder(in_bytes=in_bytes), "clock": HandClock()}
        with memoriter.open(path, read_only=True, **again) as memory:
            assert memory.status().segments
            assert {s.arrays["vectors.matrix"].dtype for s in view_of(memory).segments} == kinds
            said_by.append(answers(memory))
            bodies = {len(v.body) for r in range(200) for v in log_of(memory).vectors("default", r)}
            assert bodies == {65 if in_bytes else 256}
        with memoriter.open(tmp_path / f"{in_bytes} copy.db", **again) as memory:
            memory.load(tmp_path / f"{in_bytes}.jsonl")
            said_by.append(answers(memory))
    assert all(each == said_by[0] for each in said_by)


def test_a_store_in_bytes_is_written_on_as_float32_and_back(tmp_path: Path) -> None:
    with filled(tmp_path / "m.db", in_bytes=True) as memory:
        expected = answers(memory)
    for in_bytes in (False, True):
        embedder = ByteEmbedder(in_bytes=in_bytes)
        with memoriter.open(
            tmp_path / "m.db", embedder=embedder, clock=HandClock(), maintenance="manual"
        ) as memory:
            memory.remember("a passing note", id="passing")
            memory.forget("passing")
            memory.maintain()
            assert [each[0] for each in answers(memory)] == [each[0] for each in expected]
            assert memory.verify_store().sound


def test_an_export_of_vectors_in_bytes_says_a_format_that_earlier_versions_refuse(
    tmp_path: Path,
) -> None:
    with filled(tmp_path / "m.db", in_bytes=True) as memory:
        memory.export(tmp_path / "m.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert lines[0]["memoriter"] == 2
    bodies = [line["vectors"]["body"] for line in lines if "vectors" in line]
    assert {base64.b64decode(each.removeprefix("b64:"))[:1] for each in bodies} == {IN_BYTES}
