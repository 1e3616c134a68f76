"""Does the native kernel give the bits of its twins in numpy, and is it chosen as documented?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import memoriter
from memoriter.core.errors import InputError, InvariantError, Unsupported
from memoriter.embed.static import static_words, table
from memoriter.index import dictionary
from memoriter.index.dictionary import Dictionary, union
from memoriter.index.term_lists import Postings
from memoriter.kernel import calls, terms
from memoriter.kernel import library as kernel
from memoriter.kernel import vectors as of_vectors
from memoriter.kernel.found_rows import FoundRows, Wanted
from memoriter.kernel.jobs import all_started
from memoriter.kernel.library import VARIABLE, Library, address, kernel_choice, native_library
from memoriter.kernel.split import numbered_words
from memoriter.memory.facade import Memory
from memoriter.rank.bm25 import Bm25Params, bm25_contribution
from memoriter.rank.codes import FARTHEST, Probe, codes_of
from memoriter.rank.grid import exact_cosines, snap, unit
from memoriter.rank.units import units
from memoriter.testing.fakes import HandClock, ToyEmbedder
from memoriter.text.chunk import chunks
from memoriter.text.copies import end_marks, end_marks_of
from memoriter.text.time_words import has_time_words, texts_with_times

Random = np.random.Generator
SEEDS = st.integers(0, 2**32 - 1)
SIZES = (0, 1, 7, 300, 33_000, 70_000)
"""Rows of a segment: none, few, and more than one or two blocks of the kernel."""


@pytest.fixture(scope="module")
def fast() -> Library:
    made = native_library()
    if made is None:
        # Where `make test` can build it, a missing kernel is a failure, not a skip.
        if shutil.which("cc") and os.environ.get(VARIABLE) != "numpy":
            pytest.fail(f"{kernel_choice().why}; pip install --no-build-isolation ./native")
        pytest.skip(kernel_choice().why)
    return made


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    kernel_choice.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    kernel_choice.cache_clear()


def lists(random: Random, rows: int, leaves: int) -> list[Postings]:
    """Posting lists over some rows: one field mostly, several fields of a row at times."""
    out: list[Postings] = []
    for _ in range(leaves):
        share = random.choice([0.0, 0.001, 0.1, 0.9])
        pairs = np.flatnonzero(random.random(rows * 3) < share / 2)
        if random.random() < 0.5:
            pairs = pairs[pairs % 3 == 0]
        docs, fields = pairs // 3, pairs % 3
        tfs = random.integers(1, random.choice([2, 300]), pairs.size)
        out.append(Postings(docs.astype(np.int32), fields.astype(np.uint8), tfs.astype(np.int32)))
    return out


class Words:
    """A random query over a random segment, and its scores by numpy."""

    def __init__(self, seed: int, rows: int) -> None:
        self.random = random = np.random.default_rng(seed)
        self.rows = rows
        self.postings = lists(random, rows, int(random.integers(1, 9)))
        count = len(self.postings)
        self.lengths = {n: random.integers(0, 400, rows).astype(np.int32) for n in range(3)}
        fields = np.full((count, calls.FIELD_NUMBERS), np.nan)
        fields[:, :3] = random.random((count, 3)) * 9.0
        fields[random.random(fields.shape) < 0.2] = np.nan
        fields[0, 0] = 0.0  # a word that is weaker than the grid is still a match
        fields = fields if random.random() < 0.5 else fields[0]  # the same for every leaf
        means = np.ones(calls.FIELD_NUMBERS)
        means[:3] = random.random(3) * 30.0 + 0.1
        leaves = [(*random.random(2).tolist(), int(random.integers(1, 3))) for _ in range(count)]
        self.params = Bm25Params(float(random.choice([0.0, 1.2, 2.0])), float(random.random()))
        self.weights = calls.LeafWeights(fields, leaves, means, *self.params)

    @property
    def numbers(self) -> np.ndarray:
        """Of the rows of two segments, which together have all postings."""
        return 5 * np.arange(self.rows, dtype=np.int64)

    @property
    def lists(self) -> calls.WordLists:
        """The postings in two segments."""
        cut = int(self.random.integers(0, self.rows + 1))
        segments = list[calls.RowLengths]()
        postings: list[dict[int, calls.ListAddresses]] = [{} for _ in self.postings]
        for n, (a, b) in enumerate(((0, cut), (cut, self.rows))):
            lengths = {field: each[a:b] for field, each in self.lengths.items()}
            segments.append(calls.RowLengths(self.numbers[a:b], lengths))
            taken = [each.take((each.docs >= a) & (each.docs < b)) for each in self.postings]
            moved = [Postings(each.docs - np.int32(a), each.fields, each.tfs) for each in taken]
            for leaf, each in enumerate(moved):
                if each.docs.size:
                    postings[leaf][n] = each.addresses
        self.cut = cut
        return calls.WordLists(self.weights, segments, postings)

    def scores(self) -> np.ndarray:
        """The score of each row; NaN if nothing matches it."""
        out, hit = np.zeros(self.rows), np.zeros(self.rows, np.bool_)
        weights = np.broadcast_to(self.weights.fields, (len(self.postings), calls.FIELD_NUMBERS))
        for each, own, leaf in zip(self.postings, weights, self.weights.leaves, strict=True):
            boost, idf, times = leaf
            for field in range(3):
                factor = own[field] * boost * idf
                some = each.take(each.fields == field)
                if np.isnan(factor) or not some.docs.size:
                    continue
                tfs, lengths = some.tfs.astype(np.float64), self.lengths[field][some.docs]
                values = bm25_contribution(
                    tfs, lengths.astype(np.float64), float(self.weights.means[field]),
                    float(factor), self.params,
                )  # fmt: skip
                out[some.docs] += times * values
                hit[some.docs] = True
        return np.where(hit, out, np.nan)


def best_by_numpy(scores: np.ndarray, mask: np.ndarray, pool: int) -> dict[int, float]:
    """Every row that is as good as the last of the pool."""
    at = np.flatnonzero(mask & ~np.isnan(scores))
    if at.size > pool:
        at = at[scores[at] >= np.partition(scores[at], -pool)[-pool]]
    return dict(zip(at.tolist(), scores[at].tolist(), strict=True))


def masks(random: Random, rows: int) -> list[np.ndarray]:
    return [np.ones(rows, np.bool_), *(random.random(rows) < share for share in (0.3, 0.001, 0.0))]


@given(SEEDS, st.sampled_from(SIZES), st.sampled_from((1, 10, 200, 10_000_000)))
def test_words_are_added_as_numpy_adds_them(fast: Library, seed: int, rows: int, pool: int) -> None:
    words = Words(seed, rows)
    scores = words.scores()
    for mask in masks(words.random, rows):
        lists = words.lists
        rows_met, values = lists.best((mask[: words.cut], mask[words.cut :]), pool).now()
        assert np.unique(rows_met).size == rows_met.size
        kept = dict(zip((rows_met // 5).tolist(), values.tolist(), strict=True))
        assert kept == best_by_numpy(scores, mask, pool)


@given(SEEDS, st.sampled_from(SIZES[1:]))
def test_single_rows_score_as_in_the_race(fast: Library, seed: int, rows: int) -> None:
    words = Words(seed, rows)
    some = np.flatnonzero(words.random.random(rows) < words.random.choice([0.01, 0.5, 1.0]))
    wanted = Wanted(np.sort(np.concatenate([words.numbers[some], [-1, 7, 5 * rows]])))
    fast.run([words.lists.of(wanted)])
    made, expected = wanted.values, words.scores()[some]
    assert np.array_equal(made[~np.isnan(made)], expected[~np.isnan(expected)])


@given(SEEDS, st.sampled_from(SIZES[1:]))
def test_words_in_one_field_are_counted_as_numpy_counts_them(
    fast: Library, seed: int, rows: int
) -> None:
    words = Words(seed, rows)
    expected = np.zeros(rows)
    for each in words.postings:
        own = each.fields == 1
        np.add.at(expected, each.docs[own], each.tfs[own])
    both = [([each.addresses for each in words.postings], words.numbers), ([], np.zeros(0, int))]
    some = np.flatnonzero(words.random.random(rows) < words.random.choice([0.01, 0.5, 1.0]))
    wanted = Wanted(np.sort(np.concatenate([words.numbers[some], [-1, 7, 5 * rows]])))
    fast.run([calls.term_counts(both, 1, wanted)])
    known = wanted.of(words.numbers[some], lambda others: np.full(others.size, np.nan))
    assert np.array_equal(known, expected[some])
    assert wanted.values.sum() == expected[some].sum()  # nothing for numbers that are no rows


@given(st.sets(st.text(max_size=4), max_size=40), SEEDS)
def test_terms_are_found_as_the_dictionary_finds_them(
    fast: Library, strings: set[str], seed: int
) -> None:
    random, known = np.random.default_rng(seed), Dictionary.of(sorted(strings))
    docs = [np.sort(random.integers(0, 5, random.integers(0, 6))) for _ in known]
    starts = np.cumsum([0, *(each.size for each in docs)])
    index = terms.TermIndex(known.blob, known.at, starts, np.concatenate([np.zeros(0), *docs]))
    wanted = sorted({*strings, *(f"{each}a" for each in strings), "", "\u20ac"})
    once, again = terms.find_terms(fast, [index, index], wanted)
    assert once == again
    for term, span in zip(wanted, once, strict=True):
        at = known.find(term)
        own = docs[at] if at >= 0 else np.zeros(0)
        first = int(starts[at]) if at >= 0 else 0
        assert span == (first, first + own.size, np.unique(own).size)


def window_sums(
    parts: list[np.ndarray], words: np.ndarray, shares: np.ndarray, windows: int
) -> np.ndarray:
    """Over the query words, the largest share of a part that has the window."""
    sums = np.zeros(windows)
    for word in range(8):
        most = np.zeros(windows)
        for n in np.flatnonzero(words == word):
            most[parts[n]] = np.maximum(most[parts[n]], shares[n])
        sums += most
    return sums


@given(SEEDS, st.sampled_from(SIZES))
def test_windows_count_each_query_word_once_by_its_nearest(
    fast: Library, seed: int, rows: int
) -> None:
    random = np.random.default_rng(seed)
    counts = random.choice([0, 1, 1, 1, 5], rows)
    begins = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    windows, parts = int(begins[-1]), list[np.ndarray]()
    words = np.sort(random.integers(0, 8, 40)).astype(np.int32)
    shares = snap(random.random(words.size) * 0.2)
    # Within a query word the most similar comes first.
    shares = shares[np.lexsort((-shares, words))]
    for _ in words:
        own = np.flatnonzero(random.random(windows) < random.choice([0.0, 0.02, 0.5]))
        parts.append(own.astype(np.int32))
    starts = np.cumsum([0, *(each.size for each in parts)]).astype(np.int64)
    # Even numbers are words of the segment; it has no windows for the odd ones.
    tokens = 2 * np.arange(words.size, dtype=np.uint16)
    owners = np.repeat(np.arange(rows, dtype=np.int32), counts)
    numbers = 3 * np.arange(rows, dtype=np.int64)
    lists = (tokens, starts, np.concatenate(parts))
    index = calls.WindowIndex(*lists, owners, begins, numbers)
    near = calls.NearWords(
        np.concatenate([tokens + 1, tokens]), np.tile(words, 2), np.tile(shares, 2)
    )
    sums = window_sums(parts, words, shares, windows)
    expected = np.array([sums[a:b].max(initial=0.0) for a, b in pairwise(begins)])
    every, positive = np.tile(expected, 2), np.where(expected > 0.0, expected, np.nan)
    for mask in masks(random, rows):
        # The same segment twice, of which other rows are searched and counted.
        both = [calls.SearchedWindows(index, *two) for two in ((mask, ~mask), (~mask, mask))]
        made = calls.search_windows(both, near, 10).now()
        assert np.array_equal(made.every, every)
        counted = np.concatenate([expected[~mask], expected[mask]])
        squares = float(snap(counted * counted).sum())
        assert made.spread == (rows, float(counted.sum()), squares)
        kept = dict(zip((made.rows // 3).tolist(), made.scores.tolist(), strict=True))
        assert kept == best_by_numpy(positive, np.ones(rows, np.bool_), 10)
        holders = index.row_counts(fast, tokens.tolist(), mask)
        assert holders == [int(mask[np.unique(owners[part])].sum()) for part in parts]


def vectors(random: Random, count: int, dimension: int) -> np.ndarray:
    """Unit vectors on the grid; some have a single large element, which bytes round worst."""
    rough = random.normal(size=(count, dimension))
    rough[: count // 3, 0] *= 100.0
    made = [unit(each) for each in rough]
    return np.array([each for each in made if each is not None], np.float32)


def parts(random: Random, count: int) -> list[slice]:
    """Some vectors as segments one behind the other; some of them are empty."""
    ends = np.sort(random.integers(0, count + 1, 3)).tolist()
    return [slice(*pair) for pair in pairwise((0, *ends, count))]


@given(SEEDS, st.sampled_from((64, 96, 256, 1000)))
def test_a_cosine_is_within_its_bounds_from_bytes(fast: Library, seed: int, dimension: int) -> None:
    random = np.random.default_rng(seed)
    matrix = vectors(random, 60, dimension)
    segments = [of_vectors.byte_vectors(matrix[part]) for part in parts(random, 60)]
    for query in (matrix[0], matrix[-1], unit(np.ones(dimension))):
        assert query is not None
        low, high = of_vectors.scan_bytes(fast, segments, query)
        exact = exact_cosines(matrix, query)
        assert (low <= exact).all()
        assert (exact <= high).all()
        assert (high - low).max() < 0.2


@given(SEEDS, st.sampled_from((64, 100)), st.sampled_from((1, 7, 400, 4000)))
def test_the_nearest_vectors_are_those_of_all_dot_products(
    fast: Library, seed: int, dimension: int, pool: int
) -> None:
    random = np.random.default_rng(seed)
    matrix = vectors(random, 3000, dimension)
    matrix[100:140] = matrix[60:100]  # ties
    rows = np.sort(random.choice(10_000, 3000, replace=False))
    mask = random.random(3000) < random.choice([0.05, 0.9, 1.0])
    segments = [
        of_vectors.NearestPart(
            of_vectors.byte_vectors(matrix[part]), matrix[part], rows[part], mask[part]
        )
        for part in parts(random, 3000)
    ]
    exact = snap(exact_cosines(matrix, matrix[70]))
    for floor in (-2.0, float(np.sort(exact)[-30])):
        near, cosines = of_vectors.NearestVectors(segments, matrix[70]).best(pool, floor).now()
        may = np.isin(rows, near)
        assert np.array_equal(np.sort(near), rows[may])  # each once
        assert np.array_equal(cosines[np.argsort(near)], exact[may])
        assert mask[may].all()
        # None is missing: every other selected row is below the floor or below the whole pool.
        left = exact[mask & ~may]
        best = np.sort(exact[may])[::-1]
        least = max(floor, best[pool - 1]) if best.size >= pool else floor
        assert not left.size or left.max() < least


def test_jobs_run_in_one_call_and_each_has_its_own_result(fast: Library) -> None:
    random = np.random.default_rng(1)
    matrix = vectors(random, 500, 64)
    segment = of_vectors.NearestPart(
        of_vectors.byte_vectors(matrix), matrix, np.arange(500), np.ones(500, np.bool_)
    )
    every = [of_vectors.NearestVectors([segment], query) for query in matrix[:3]]
    alone = [each.best(5, -2.0).now() for each in every]
    started = [each.best(5, -2.0) for each in every]
    fast.run([job for each in started for job in each.jobs])
    for (rows, cosines), each in zip(alone, started, strict=True):
        assert np.array_equal(rows, each.finish()[0])
        assert np.array_equal(cosines, each.finish()[1])
    assert all(job.ms > 0.0 for each in started for job in each.jobs)


@pytest.mark.parametrize("pool", [3, 200, 3000])
def test_what_searches_find_together_is_scored_in_the_same_call(fast: Library, pool: int) -> None:
    random = np.random.default_rng(pool)
    matrix, rows = vectors(random, 6000, 64), 2 * np.arange(6000)
    cuts = (slice(0, 2500), slice(2500, 6000))
    masks_ = (random.random(2500) < 0.9, random.random(3500) < 0.9)
    segments = [
        of_vectors.NearestPart(of_vectors.byte_vectors(matrix[cut]), matrix[cut], rows[cut], mask)
        for cut, mask in zip(cuts, masks_, strict=True)
    ]
    one, other = (of_vectors.NearestVectors(segments, query) for query in matrix[:2])
    about: list[Wanted] = []

    def ask(search: of_vectors.NearestVectors, found_rows: FoundRows) -> list[kernel.Job]:
        about.append(found_rows.wanted())
        return [search.of(about[-1])]

    searches = [each.best(pool, -2.0).asking(partial(ask, each)) for each in (one, other)]
    (first, _), (second, _) = all_started(searches).now()
    union_of_both = np.union1d(first, second)
    unknown = np.union1d(union_of_both, [1, 2, 4, 6, 20_000])
    for query, wanted in zip(matrix[:2], about, strict=True):
        exact = snap(exact_cosines(matrix[union_of_both // 2], query))
        if first.size + second.size > 4096:  # too many: each is asked afterwards
            assert (
                wanted.of(unknown, lambda others: others.astype(np.float64)).tolist()
                == unknown.tolist()
            )
            continue
        assert np.array_equal(wanted.of(union_of_both, _fails), exact)
        both = wanted.of(unknown, lambda others: np.full(others.size, 7.0))
        known = np.isin(unknown, union_of_both)
        assert np.array_equal(both[known], exact)
        assert set(both[~known]) <= {7.0}


def _fails(others: np.ndarray) -> np.ndarray:
    raise AssertionError(others)


def test_a_row_without_a_vector_has_no_cosine(fast: Library) -> None:
    matrix = vectors(np.random.default_rng(3), 40, 64)
    rows = np.arange(0, 400, 10)
    part = of_vectors.NearestPart(
        of_vectors.byte_vectors(matrix), matrix, rows, np.zeros(40, np.bool_)
    )
    wanted = Wanted(np.array([-5, 0, 1, 200, 390, 391]))
    fast.run([of_vectors.NearestVectors([part], matrix[0]).of(wanted)])
    exact = snap(exact_cosines(matrix, matrix[0]))
    expected = np.array([np.nan, exact[0], np.nan, exact[20], exact[39], np.nan])
    assert np.array_equal(wanted.values, expected, equal_nan=True)


@given(SEEDS, st.sampled_from((64, 100, 256, 1024)), st.sampled_from((1, 5, 2048, 3000)))
def test_codes_are_compared_bit_by_bit(
    fast: Library, seed: int, dimension: int, count: int
) -> None:
    random = np.random.default_rng(seed)
    signs = random.integers(0, 2**63, (-(-dimension // 64), count)).astype(np.uint64)
    probe = Probe.of(vectors(random, 1, dimension)[0])
    made = np.empty(count, np.uint16)
    of_vectors.rough_distances(fast, signs, probe.planes, made)
    differs = np.bitwise_count(signs[None] ^ probe.planes[:, :, None]).sum(axis=1, dtype=np.int64)
    assert np.array_equal(made, 2 * differs[0] + differs[1])
    assert codes_of(vectors(random, 3, dimension)).signs.shape[0] == probe.planes.shape[1]


@given(SEEDS, st.sampled_from((64, 100, 4096)), st.sampled_from((0, 1, 31, 64, 3000)))
def test_the_vectors_within_a_distance_are_found_alike(
    fast: Library, seed: int, dimension: int, count: int
) -> None:
    random = np.random.default_rng(seed)
    steps = random.integers(0, 2**63, (count, -(-dimension // 64))).astype(np.uint64)
    probe = Probe.of(vectors(random, 1, dimension)[0])
    rough = random.integers(0, 3 * dimension, count).astype(np.uint16)
    rough[random.random(count) < 0.1] = 2**16 - 1
    segments = [steps[part] for part in parts(random, count)]
    for most in (0, 3 * dimension // 50, 3 * dimension, FARTHEST):
        at, fine = of_vectors.within_distance(fast, segments, probe.planes, rough, most)
        assert np.array_equal(at, np.flatnonzero(rough <= most))
        assert np.array_equal(fine, 2 * rough[at] + probe.distances(steps, at))


@given(SEEDS, st.sampled_from((3, 64, 100, 256)))
def test_dot_products_are_equal(fast: Library, seed: int, dimension: int) -> None:
    random = np.random.default_rng(seed)
    matrix = vectors(random, 60, dimension)
    some = [
        (matrix[part], np.flatnonzero(random.random(part.stop - part.start) < 0.6))
        for part in parts(random, 60)
    ]
    twin = [snap(exact_cosines(own[at], matrix[7])) for own, at in some]
    assert np.array_equal(of_vectors.exact_dots(fast, some, matrix[7]), np.concatenate(twin))


_STRINGS = st.lists(st.text(st.sampled_from("ab\x00é東"), max_size=4), max_size=9)


@given(st.lists(_STRINGS, min_size=1, max_size=5))
def test_dictionaries_are_joined_alike(fast: Library, lists: list[list[str]]) -> None:
    del fast
    given_ = [Dictionary.of(sorted(set(strings))) for strings in lists]
    made, maps = union(given_)
    distinct = sorted({string for strings in lists for string in strings})
    assert list(made) == distinct
    for each, new in zip(given_, maps, strict=True):
        assert [distinct[n] for n in new.tolist()] == list(each)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dictionary, "native_library", lambda: None)
        twin, twins = union(given_)
    assert made.equals(twin)
    assert list(map(list, maps)) == list(map(list, twins))


_LETTERS = st.sampled_from("abzAZ019 __..::'',;-/\\@+#&=%?~\"()!\n\x00é東’")
_TEXTS = st.lists(st.text(_LETTERS, max_size=40) | st.text(max_size=8), max_size=12)


@given(_TEXTS, st.booleans())
def test_words_are_split_and_numbered_alike(fast: Library, texts: list[str], linked: bool) -> None:  # noqa: FBT001  # drawn
    del fast
    apart = chunks if linked else static_words
    made = numbered_words(texts, apart, linked=linked)
    assert len(set(made.words)) == len(made.words)
    ends = np.cumsum(made.counts)
    for text, end, count in zip(texts, ends.tolist(), made.counts.tolist(), strict=True):
        numbers = made.numbers[end - count : end].tolist()
        assert [made.words[n] for n in numbers] == apart(text)


_TIMELY = """
    monday Sundays sept MAY mar march in of since 12 7 30 1999 2024 2124 123 9th 1st 3pm 12AM am o
    clock noon ago tonights last this week nights couple few an minutes days year the is are Isn
    aren't don't cannot CAN'T also really SSH aB3x, (hello) 'tis it's `x` e.g. -5 up? ... _x_ "is
    "this park. café ’ please Please, Is Are, isn aren. so; yes! x:
""".split()  # noqa: SIM905  # shorter than a list
_GAPS = st.sampled_from([" "] * 6 + ["  ", "-", ":", "'", "\t", "\x1c", ", ", "_", "\n", ". "])
_PROSE = st.lists(st.sampled_from(_TIMELY) | _GAPS, max_size=24).map("".join)


@given(
    st.lists(_PROSE | st.lists(st.sampled_from(_TIMELY), max_size=12).map(" ".join), max_size=12)
)
def test_times_and_ends_are_read_off_texts_alike(fast: Library, texts: list[str]) -> None:
    del fast
    assert texts_with_times(texts).tolist() == list(map(has_time_words, texts))
    assert list(map(tuple, end_marks_of(texts).tolist())) == list(map(end_marks, texts))


def test_long_texts_are_read_like_short_ones(fast: Library) -> None:
    del fast
    texts = ["word " * 3_990 + at for at in ("on monday", "and " * 20 + "monday", "x" * 80, "")]
    assert texts_with_times(texts).tolist() == list(map(has_time_words, texts))
    assert list(map(tuple, end_marks_of(texts).tolist())) == list(map(end_marks, texts))


@given(SEEDS, st.sampled_from((8, 256)), st.sampled_from((2.0**-24, 2.0**-80, 1e-300, 1e300, 0.1)))
def test_rows_are_brought_to_unit_length_alike(
    fast: Library, seed: int, dimension: int, step: float
) -> None:
    random = np.random.default_rng(seed)
    matrix = np.rint(random.standard_normal((9, dimension)) * 2.0 ** random.integers(0, 30)) * step
    matrix[3], matrix[4, 1:], matrix[5] = 0.0, 0.0, -0.0
    made, done = calls.unit_rows(fast, matrix)
    assert np.array_equal(made[done].view(np.uint32), units(matrix)[done].view(np.uint32))
    assert done.all() or step not in (2.0**-24, 2.0**-80)


def test_many_distinct_words_are_numbered(fast: Library) -> None:
    del fast
    texts = [" ".join(f"w{n}x{n % 7}" for n in range(at, at + 900)) for at in range(0, 90_000, 450)]
    made = numbered_words(texts, chunks, linked=True)
    assert len(made.words) == 900 + 199 * 450
    assert [made.words[n] for n in made.numbers.tolist()] == " ".join(texts).split()


@given(SEEDS, st.lists(st.integers(0, 40), max_size=30))
def test_sums_of_tokens_are_equal(fast: Library, seed: int, sizes: list[int]) -> None:
    random, counts = np.random.default_rng(seed), np.array(sizes, np.int64)
    rows, scales, _ = table()
    tokens = random.integers(0, len(rows), int(counts.sum())).astype(np.uint16)
    made = calls.token_sums(fast, rows, scales, tokens, counts)
    wide = rows[tokens].astype(np.float64) * scales[tokens].astype(np.float64)[:, None]
    owners = np.repeat(np.arange(counts.size), counts)
    for nth, total in enumerate(made):
        assert np.array_equal(total, wide[owners == nth].sum(axis=0))


# -- the choice ------------------------------------------------------------------------------------


def test_native_fails_where_the_kernel_is_missing(chosen: pytest.MonkeyPatch) -> None:
    chosen.setenv(VARIABLE, "native")
    chosen.setitem(sys.modules, "memoriter_fast", None)
    with pytest.raises(Unsupported, match="memoriter-fast is not installed") as refused:
        memoriter.open()
    assert "pip install ./native" in refused.value.hint


def test_auto_does_without(chosen: pytest.MonkeyPatch) -> None:
    chosen.setenv(VARIABLE, "auto")
    chosen.setitem(sys.modules, "memoriter_fast", None)
    with memoriter.open() as memory:
        memory.remember("The kettle is in the left cupboard.")
        assert memory.recall("kettle")[0].score > 0.0
        assert memory.status().kernel == "numpy"


def test_another_word_is_refused(chosen: pytest.MonkeyPatch) -> None:
    chosen.setenv(VARIABLE, "cuda")
    with pytest.raises(InputError, match="'cuda', which is not a kernel") as refused:
        memoriter.open()
    assert "auto, numpy, native" in refused.value.hint


def test_a_kernel_of_another_abi_is_left_alone(fast: Library, chosen: pytest.MonkeyPatch) -> None:
    del fast
    chosen.setattr(kernel, "ABI", kernel.ABI + 1)
    chosen.setenv(VARIABLE, "auto")
    assert kernel_choice().name == "numpy"
    assert "ABI" in kernel_choice().why
    kernel_choice.cache_clear()
    chosen.setenv(VARIABLE, "native")
    with pytest.raises(Unsupported, match="ABI"):
        memoriter.open()


@pytest.mark.parametrize("name", ["numpy", "native"])
def test_status_and_plan_say_which_kernel_works_and_the_receipt_does_not(
    name: str, fast: Library, chosen: pytest.MonkeyPatch
) -> None:
    del fast
    chosen.setenv(VARIABLE, name)
    with memoriter.open() as memory:
        memory.remember("The kettle is in the left cupboard.")
        result = memory.recall("kettle")
        assert memory.status().kernel == result.plan.to_dict()["kernel"] == name
        assert "kernel" not in str(result.receipt.to_dict())


WORDS = tuple(
    "the kettle left cupboard tea green dog Ann port 22 open closed isn't summer".split()  # noqa: SIM905
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
RECIPES = ("memoriter", "lexical", "semantic", "linked", "engrava", "mnestic", "jeffs-brain")


SPOKEN: tuple[dict[str, Any], ...] = ({}, {"session": "s", "source": {"who": "Ann"}})


def answered(memory: Memory, question: str, recipe: str) -> list[object]:
    """Everything that a search says, under each kernel."""
    out: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("numpy", "native"):
            patch.setenv(VARIABLE, name)
            kernel_choice.cache_clear()
            made = memory.recall(question, recipe=recipe, now="2026-01-01")
            hits = [(hit.id, hit.score, hit.relevance, hit.explanation.to_dict()) for hit in made]
            out.append((hits, made.receipt.digest))
    kernel_choice.cache_clear()
    return out


@given(
    st.lists(TEXTS, min_size=1, max_size=30), TEXTS, st.sampled_from(RECIPES),
    st.sampled_from(SPOKEN),
)  # fmt: skip
def test_a_whole_search_is_the_same_under_both_kernels(
    fast: Library, texts: list[str], question: str, recipe: str, spoken: dict[str, Any]
) -> None:
    del fast
    with memoriter.open() as memory:
        drafts: Any = [{"text": text, "tags": [text[:3]], **spoken} for text in texts]
        memory.remember_many(drafts)
        memory.forget(next(iter(memory.browse())).id)
        numpy, native = answered(memory, question, recipe)
        assert numpy == native


@pytest.mark.parametrize("recipe", ["memoriter", "semantic"])
def test_a_search_over_vectors_as_bytes_is_the_same(fast: Library, recipe: str) -> None:
    del fast
    random = np.random.default_rng(5)
    texts = [" ".join(random.choice(WORDS, 9)) for _ in range(2_000)]
    with memoriter.open() as memory:
        memory.remember_many([{"text": text} for text in texts])
        for question in texts[:5]:
            numpy, native = answered(memory, f"{question}?", recipe)
            assert numpy == native


ORACLES = ("test_words_oracle.py", "test_kin_oracle.py", "test_nearest.py")
"""What compares the lanes that the kernel computes with plain Python."""


def test_an_array_that_repeats_one_value_is_never_given_to_the_kernel() -> None:
    with pytest.raises(InvariantError, match="contiguous"):
        address(np.broadcast_to(np.int32(5), (3,)))


def test_a_published_segment_whose_texts_are_equally_long_scores_as_it_is_explained(
    tmp_path: Path,
) -> None:
    with memoriter.open(tmp_path / "m.db", flush_rows=4, embedder=None) as memory:
        for n in range(12):
            memory.remember(f"port {n} of thread one")
        memory.maintain()
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        for hit in memory.recall("port of thread"):
            assert hit.lanes["words"].score == hit.lanes["words"].why.value


@pytest.mark.skipif(os.environ.get(VARIABLE) == "numpy", reason="the suite runs under numpy")
def test_the_lanes_agree_with_plain_python_without_the_kernel_too() -> None:
    """A slice of it; `make night` runs the whole suite once more without the kernel."""
    here = Path(__file__).parent
    ran = subprocess.run(  # noqa: S603  # our own tests
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
         "--hypothesis-profile=slice", "-k", "not 100_000",
         *(str(here / name) for name in ORACLES)],
        env={**os.environ, VARIABLE: "numpy", "MEMORITER_NIGHT": "0"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-2000:]


def test_several_embedders_behind_a_filter_have_the_same_receipt(
    chosen: pytest.MonkeyPatch, fast: Library
) -> None:
    del fast
    memory = memoriter.open(embedder=["table", ToyEmbedder()], clock=HandClock())
    texts = (
        "red tea in berlin", "the dog moved to paris", "my sister likes bread", "prod server port",
        "a meeting about the budget", "garden wedding in may", "coffee oven recipe", "cat vet",
    )  # fmt: skip
    for at, text in enumerate(texts):
        memory.remember(text, id=f"r{at}", session="s1")
    memory.remember_many([{"text": f"filler number {n}", "id": f"f{n}"} for n in range(40)])
    memory.maintain()
    pools = {"lanes.meaning.pool": 2}
    options: dict[str, Any] = {"session": "s1", "now": "2030-01-01", "overrides": pools}
    digests: list[str] = []
    for name in ("numpy", "native"):
        chosen.setenv(VARIABLE, name)
        kernel_choice.cache_clear()
        digests.append(memory.recall("garden wedding", 8, **options).receipt.digest)
    assert digests[0] == digests[1]
