"""The functions of the native kernel on arrays: each checks shapes, and calls the library.

Every one has a twin in numpy where it is used; `tests/property/test_kernel.py` compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import InvariantError
from memoriter.kernel.library import Library, address, native_library

Doubles = NDArray[np.float64]
Bits = NDArray[np.bool_]
FIELD_NUMBERS = 256
"""A field is a number below this."""


class PlacedScores(NamedTuple):
    """Rows of a segment, by place, with their scores."""

    docs: NDArray[np.int32]
    scores: Doubles


class PostingList(Protocol):
    """A posting list of a segment: places of rows ascending, fields, term counts."""

    @property
    def docs(self) -> NDArray[np.integer]: ...  # noqa: D102
    @property
    def fields(self) -> NDArray[np.integer]: ...  # noqa: D102
    @property
    def tfs(self) -> NDArray[np.integer]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class LeafWeights:
    """What all segments share: BM25's parameters, and what each leaf counts in each field."""

    factors: Doubles
    """(leaves, FIELD_NUMBERS): weight · idf; NaN where the leaf does not count."""
    times: Doubles
    """By leaf, how often the query has it."""
    means: Doubles
    """By field, the mean length."""
    k1: float
    b: float


class _Lists:
    """Posting lists as the library takes them: (docs, fields, tfs, sizes)."""

    def __init__(self, postings: Sequence[PostingList]) -> None:
        docs = [np.ascontiguousarray(each.docs, np.int32) for each in postings]
        fields = [np.ascontiguousarray(each.fields, np.uint8) for each in postings]
        tfs = [np.ascontiguousarray(each.tfs, np.int32) for each in postings]
        pointers = np.array([list(map(address, some)) for some in (docs, fields, tfs)], np.uintp)
        sizes = np.array([each.size for each in docs], np.int64)
        self._held = (docs, fields, tfs, pointers, sizes)
        self.given = (*(address(each) for each in pointers), address(sizes))


def term_counts(
    fast: Library, postings: Sequence[PostingList], field: int, docs: NDArray[np.integer]
) -> Doubles:
    """How often the words of some lists occur in a field of some rows, by place ascending."""
    lists, wanted = _Lists(postings), np.ascontiguousarray(docs, np.int32)
    out = np.empty(wanted.size)
    rows = (address(wanted), wanted.size, address(out))
    fast.call("counts", (*lists.given, len(postings), field, *rows))
    return out


class WordLeaves:
    """The leaves of a query in one segment, as the library takes them."""

    def __init__(
        self,
        weights: LeafWeights,
        nth: Sequence[int],
        postings: Sequence[PostingList],
        lengths: dict[int, NDArray[np.int32]],
    ) -> None:
        lists = _Lists(postings)
        self.size = sum(each.docs.size for each in postings)
        """How many postings there are."""
        whole = len(nth) == weights.times.size
        factors = weights.factors if whole else weights.factors[list(nth)]
        times = weights.times if whole else weights.times[list(nth)]
        by_field = np.zeros(FIELD_NUMBERS, np.uintp)
        lengths = {field: np.ascontiguousarray(each) for field, each in lengths.items()}
        for field, each in lengths.items():
            by_field[field] = address(each)
        self._held = (lists, factors, times, by_field, lengths)
        self._given = (
            *lists.given, address(factors), address(times), len(nth), address(by_field),
            address(weights.means), weights.k1, weights.b,
        )  # fmt: skip

    def best(self, fast: Library, mask: Bits, pool: int) -> PlacedScores:
        """The rows inside a mask that may belong to the best `pool`, in no order."""
        docs, scores = np.empty(mask.size, np.int32), np.empty(mask.size)
        inside = None if mask.all() else address(mask)
        out = (address(docs), address(scores))
        count = fast.call("words_best", (*self._given, inside, mask.size, pool, *out))
        return PlacedScores(docs[:count].copy(), scores[:count].copy())

    def of(self, fast: Library, docs: NDArray[np.integer]) -> Doubles:
        """The scores of some rows, by place ascending; NaN where no leaf matches."""
        wanted = np.ascontiguousarray(docs, np.int32)
        out = np.empty(wanted.size)
        fast.call("words_of", (*self._given, address(wanted), wanted.size, address(out)))
        return out


class WindowLists(NamedTuple):
    """The windows of words similar to those of a query, query word by query word, best first."""

    first: NDArray[np.int64]
    """Where each list begins in `holding`."""
    last: NDArray[np.int64]
    word: NDArray[np.int32]
    """The query word that each list belongs to, ascending."""
    share: Doubles
    """What a match adds, on the grid."""


def window_scores(
    fast: Library,
    holding: NDArray[np.int32],
    begins: NDArray[np.int32],
    lists: WindowLists,
) -> Doubles:
    """The score of the best window of each row."""
    out = np.empty(begins.size - 1)
    holding, begins = (np.ascontiguousarray(each, np.int32) for each in (holding, begins))
    rest = (lists.first.size, address(begins), out.size, address(out))
    fast.call("windows", (address(holding), *map(address, lists), *rest))
    return out


def best_scores(fast: Library, scores: Doubles, mask: Bits, pool: int) -> PlacedScores:
    """The rows above 0 inside a mask that may belong to the best `pool`, in no order."""
    docs, values = np.empty(mask.size, np.int32), np.empty(mask.size)
    inside = None if mask.all() else address(mask)
    given = (address(scores), inside, mask.size, pool, address(docs), address(values))
    count = fast.call("best", given)
    return PlacedScores(docs[:count].copy(), values[:count].copy())


def spread_of(fast: Library, scores: Doubles, mask: Bits) -> tuple[int, float, float]:
    """(number, sum, sum of squares on the grid) of the scores inside a mask."""
    sums = np.empty(2)
    inside = None if mask.all() else address(mask)
    count = fast.call("spread", (address(scores), inside, mask.size, address(sums)))
    return count, float(sums[0]), float(sums[1])


def rough_distances(
    fast: Library, signs: NDArray[np.uint64], planes: NDArray[np.uint64]
) -> NDArray[np.uint16]:
    """Hamming distances of codes (words, vectors) to two planes, those to the first twice."""
    signs, planes = np.ascontiguousarray(signs), np.ascontiguousarray(planes)
    words, vectors = signs.shape
    out = np.empty(vectors, np.uint16)
    fast.call("rough", (address(signs), words, vectors, vectors, address(planes), address(out)))
    return out


def exact_dots(
    fast: Library, matrix: NDArray[np.float32], at: NDArray[np.intp], query: NDArray[np.float32]
) -> Doubles:
    """Exact dot products of a query with the vectors at these places, on the grid."""
    matrix = np.ascontiguousarray(matrix, np.float32)
    at, wide = np.ascontiguousarray(at, np.int64), query.astype(np.float64)
    out = np.empty(at.size)
    rows = (address(at), at.size, address(wide), address(out))
    fast.call("dots", (address(matrix), query.size, *rows))
    return out


def token_sums(
    fast: Library,
    rows: NDArray[np.int8],
    scales: NDArray[np.float32],
    tokens: NDArray[np.uint16],
    counts: NDArray[np.int64],
) -> Doubles:
    """The sum of row times scale over the tokens of each text: so many of `tokens` in turn."""
    tokens, counts = np.ascontiguousarray(tokens, np.uint16), np.ascontiguousarray(counts)
    out = np.empty((counts.size, rows.shape[1]))
    table = (address(rows), address(scales), rows.shape[1])
    fast.call("sums", (*table, address(tokens), address(counts), counts.size, address(out)))
    return out


@dataclass(frozen=True, slots=True)
class ByteVectors:
    """Vectors as bytes: a vector is its codes times its scale, up to `rest` in length."""

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    rest: float

    @property
    def nbytes(self) -> int:
        """Their size in memory."""
        return self.codes.nbytes + self.scales.nbytes


def byte_vectors(matrix: NDArray[np.float32]) -> ByteVectors:
    """Vectors rounded to bytes; only where the native kernel works."""
    fast = native_library()
    if fast is None:
        raise InvariantError("only the native kernel reads vectors as bytes")
    matrix = np.ascontiguousarray(matrix, np.float32)
    count, dimension = len(matrix), int(matrix.shape[1])
    codes, scales = np.empty((count, dimension), np.int8), np.empty(count, np.float32)
    rest = np.zeros(1)
    given = (address(matrix), count, dimension, address(codes), address(scales), address(rest))
    fast.call("bytes", given)
    return ByteVectors(codes, scales, float(rest[0]))


_LEVELS = 2047
"""Steps of a query's largest element: sums of products with bytes stay below 2^31."""


def scan_bytes(
    fast: Library, vectors: ByteVectors, query: NDArray[np.float32]
) -> tuple[NDArray[np.float32], float]:
    """(estimates of all dot products with a query, how far one can be off at most).

    With v = codes + e and q = steps + f, as real vectors, the estimate codes · steps differs from
    v · q by e · q + codes · f, at most |e| |q| + (|v| + |e|) |f|.
    """
    wide = query.astype(np.float64)
    step = float(np.abs(wide).max()) / _LEVELS or 1.0
    steps = np.rint(wide / step).astype(np.int16)
    out = np.empty(vectors.scales.size, np.float32)
    held = (address(vectors.codes), address(vectors.scales), out.size, query.size)
    fast.call("scan_bytes", (*held, address(steps), step, address(out)))
    left = float(np.linalg.norm(wide - steps * step))
    # Lengths are 1 up to the grid; estimates are rounded to float32.
    return out, 1.001 * (vectors.rest + (1.0 + vectors.rest) * left) + 1e-6
