"""The functions of the native kernel on arrays: each checks shapes, and calls the library.

Every one has a twin in numpy where it is used; `tests/property/test_kernel.py` compares them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.kernel.found_rows import Wanted
from memoriter.kernel.jobs import Started
from memoriter.kernel.library import Job, Library, Search, address

Doubles = NDArray[np.float64]
Numbers = NDArray[np.int64]
Bits = NDArray[np.bool_]
FIELD_NUMBERS = 256
"""A field is a number below this."""
_WINDOW_WORK: Final = 16
"""Roughly what the windows of a row cost: postings of some hundred similar words."""


class ListAddresses(NamedTuple):
    """Where the arrays of a posting list are in memory, and how many postings it has."""

    docs: int
    fields: int
    tfs: int
    size: int
    held: tuple[NDArray[Any], ...]
    """The arrays, which must outlive the call."""


def list_addresses(
    docs: NDArray[np.integer], fields: NDArray[np.integer], tfs: NDArray[np.integer]
) -> ListAddresses:
    """A posting list for the library: places of rows ascending, fields, term counts."""
    held = (_packed(docs, _INT32), _packed(fields, _UINT8), _packed(tfs, _INT32))
    first, second, third = held
    return ListAddresses(address(first), address(second), address(third), docs.size, held)


def _packed(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array of this type without gaps; where one value is repeated, an array that is kept."""
    if array.size > 1 and array.strides == (0,):
        return _repeated(int(array[0]), dtype, array.size)
    return np.ascontiguousarray(array, dtype)


def _repeated(value: int, dtype: np.dtype[Any], size: int) -> NDArray[Any]:
    known = _REPEATED.get((value, dtype))
    if known is None or known.size < size:
        known = _REPEATED[value, dtype] = np.full(1 << (size - 1).bit_length(), value, dtype)
    return known[:size]


_INT32: Final = np.dtype(np.int32)
_UINT8: Final = np.dtype(np.uint8)
_REPEATED: Final[dict[tuple[int, np.dtype[Any]], NDArray[Any]]] = {}
"""Arrays of one value each, for lists whose postings all have the same field or count."""


class ListArrays:
    """All posting lists of a segment, one behind the other."""

    def __init__(
        self, docs: NDArray[np.integer], fields: NDArray[np.integer], tfs: NDArray[np.integer]
    ) -> None:
        self._held = (docs, fields, tfs)
        types = ((docs, _INT32), (fields, _UINT8), (tfs, _INT32))
        packed = all(each.dtype == of and each.flags.c_contiguous for each, of in types)
        self._at = tuple(map(address, self._held)) if packed else None

    def addresses(self, first: int, last: int) -> ListAddresses:
        """The list of the postings in [first, last)."""
        if self._at is None:
            docs, fields, tfs = (each[first:last] for each in self._held)
            return list_addresses(docs, fields, tfs)
        docs, fields, tfs = self._at
        at = (docs + 4 * first, fields + first, tfs + 4 * first)
        return ListAddresses(*at, last - first, self._held)


class LeafWeights(NamedTuple):
    """What all segments share: BM25's parameters, and what each leaf counts in each field."""

    fields: Doubles
    """By field its weight, NaN where nothing counts; or (leaves, FIELD_NUMBERS), if they differ."""
    leaves: Sequence[tuple[float, float, float]]
    """By leaf: its factor in the query, its idf, and how often the query has it."""
    means: Doubles
    """By field, the mean length."""
    k1: float
    b: float


class RowLengths:
    """The rows of a segment as the library takes them: their numbers and, by field, lengths."""

    def __init__(
        self, numbers: NDArray[np.int64], lengths: Mapping[int, NDArray[np.int32]]
    ) -> None:
        pointers = np.zeros(FIELD_NUMBERS, np.uintp)
        packed = {field: np.ascontiguousarray(each) for field, each in lengths.items()}
        for field, each in packed.items():
            pointers[field] = address(each)
        numbers = np.ascontiguousarray(numbers)
        self._held = (pointers, packed, numbers)
        self.given = (address(pointers), numbers.size, address(numbers))
        self.size = numbers.size


def term_counts(
    segments: Sequence[tuple[Sequence[ListAddresses], Numbers]], field: int, wanted: Wanted
) -> Job:
    """How often the words of some lists occur in a field of the wanted rows.

    `segments` are the lists of each segment, and the numbers of its rows.
    """
    table, parts = array("q"), array("q")
    numbers = [np.ascontiguousarray(rows, np.int64) for _, rows in segments]
    for (lists, _), own in zip(segments, numbers, strict=True):
        parts.extend((len(table) // 5, len(lists), own.size, address(own)))
        for docs, fields, tfs, size, _ in lists:
            table.extend((docs, fields, tfs, size, 0))
    given = (parts.buffer_info()[0], len(segments), table.buffer_info()[0], field)
    held = (segments, numbers, table, parts, wanted)
    return Job("counts", (*given, *wanted.given), 8 * wanted.size * len(table) // 5, held)


class WordLists:
    """The leaves of a query in the segments of a view, as the library takes them."""

    def __init__(
        self,
        weights: LeafWeights,
        segments: Sequence[RowLengths],
        postings: Sequence[Mapping[int, ListAddresses]],
    ) -> None:
        """`postings` has the lists of each leaf, by the number of the segment."""
        by_segment: list[list[int]] = [[] for _ in segments]
        for leaf, lists in enumerate(postings):
            for n, (docs, fields, tfs, size, _) in lists.items():
                by_segment[n] += (docs, fields, tfs, size, leaf)
        table, self._parts, self._rows = array("q"), list[tuple[int, ...]](), 0
        for own, rows in zip(by_segment, segments, strict=True):
            self._parts.append((len(table) // 5, len(own) // 5, *rows.given))
            table.extend(own)
            self._rows += rows.size
        self._size = sum(table[3::5])
        leaves = array("d", chain.from_iterable(weights.leaves))
        self._held = (table, leaves, weights, segments, postings)
        step = FIELD_NUMBERS if weights.fields.ndim > 1 else 0
        fields = (address(weights.fields), step, leaves.buffer_info()[0], address(weights.means))
        self._given = (table.buffer_info()[0], *fields, weights.k1, weights.b)

    def best(self, masks: Sequence[Bits], pool: int) -> Started[tuple[Numbers, Doubles]]:
        """(rows inside the masks that may belong to the best `pool`, scores), in no order."""
        parts = self._with_masks(map(address, masks))
        rows, scores = np.empty(self._rows, np.int64), np.empty(self._rows)
        out = (pool, address(rows), address(scores))
        given = (parts.buffer_info()[0], len(masks), *self._given, *out)
        work, held = 8 * self._size + self._rows, (self, parts, masks)
        job = Search("words_best", given, work, held, rows=rows, scores=scores)
        return Started(lambda: (rows[: job.done].copy(), scores[: job.done].copy()), (job,))

    def of(self, wanted: Wanted) -> Job:
        """The scores of the wanted rows; NaN where no leaf matches."""
        parts = self._with_masks(repeat(0, len(self._parts)))
        given = (parts.buffer_info()[0], len(self._parts), *self._given, *wanted.given)
        return Job("words_of", given, 8 * wanted.size, (self, parts, wanted))

    def _with_masks(self, masks: Iterable[int]) -> array[int]:
        """The segments, each with the address of its mask."""
        pairs = zip(self._parts, masks, strict=True)
        return array("q", [number for part, mask in pairs for number in (*part, mask)])


class WindowIndex:
    """The windows of a segment by the words that they have, as the library takes them."""

    def __init__(
        self,
        tokens: NDArray[np.uint16],
        starts: NDArray[np.int64],
        holding: NDArray[np.int32],
        owners: NDArray[np.int32],
        begins: NDArray[np.int32],
        numbers: NDArray[np.int64],
    ) -> None:
        """`owners` has the place of each window's row, `begins` each row's first window."""
        self.rows = numbers.size
        held = (np.ascontiguousarray(tokens, np.uint16), np.ascontiguousarray(starts, np.int64))
        places = tuple(_packed(each, _INT32) for each in (holding, owners, begins))
        self._held = (*held, *places, np.ascontiguousarray(numbers, np.int64))
        tokens_at, *rest, numbers_at = map(address, self._held)
        self.given = (tokens_at, tokens.size, *rest, owners.size, self.rows, numbers_at)
        self._struct = np.array(self.given, np.int64)

    def row_counts(self, fast: Library, tokens: Sequence[int], mask: Bits | None) -> list[int]:
        """How many rows inside a mask (None: all) have each of some words."""
        wanted, out = np.array(tokens, np.uint16), np.empty(len(tokens), np.int64)
        rows = (None if mask is None else address(mask), address(wanted), wanted.size)
        fast.call("holders", (address(self._struct), *rows, address(out)), self.rows)
        return out.tolist()


class SearchedWindows(NamedTuple):
    """A segment for the search over windows, with masks of what is searched and what is counted."""

    windows: WindowIndex
    mask: Bits
    readable: Bits


class NearWords:
    """The words similar to those of a query, query word by query word, the most similar first."""

    def __init__(self, near: NDArray[np.integer], word: NDArray[np.int32], share: Doubles) -> None:
        self._held = (near.astype(np.uint16), word, share)
        self.given = (*map(address, self._held), near.size)


class WindowSearch(NamedTuple):
    """All scores, segment by segment; the rows that may be best; how all are scored."""

    every: Doubles
    rows: NDArray[np.int64]
    scores: Doubles
    spread: tuple[int, float, float]
    """(number, sum, sum of squares on the grid) of the readable rows."""


def search_windows(
    segments: Sequence[SearchedWindows], words: NearWords, pool: int
) -> Started[WindowSearch]:
    """The score of the best window of each row; the rows above 0 that may belong to the pool."""
    table = np.array(
        [(*each.windows.given, address(each.mask), address(each.readable)) for each in segments],
        np.int64,
    )
    total = sum(each.windows.rows for each in segments)
    every, rows, scores = np.empty(total), np.empty(total, np.int64), np.empty(total)
    spread = np.zeros(3)
    out = (address(every), address(rows), address(scores), address(spread))
    given = (address(table), len(segments), *words.given, pool, *out)
    held = (segments, words, table, every, spread)
    job = Search("windows", given, _WINDOW_WORK * total, held, rows=rows, scores=scores)

    def windows_met() -> WindowSearch:
        number, sums, squares = spread.tolist()
        best = rows[: job.done].copy(), scores[: job.done].copy()
        return WindowSearch(every, *best, (int(number), sums, squares))

    return Started(windows_met, (job,))


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
    given = (*table, address(tokens), address(counts), counts.size, address(out))
    fast.call("sums", given, tokens.size * rows.shape[1])
    return out


def unit_rows(fast: Library, matrix: Doubles) -> tuple[NDArray[np.float32], Bits]:
    """(each row at unit length on the grid, whether it is right: the twin gives the others)."""
    out, done = np.empty(matrix.shape, np.float32), np.empty(len(matrix), np.bool_)
    given = (address(matrix), *matrix.shape, address(out), address(done))
    fast.call("units", given, matrix.size)
    return out, done


def transformed(
    fast: Library,
    weights: tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.float32]],
    tables: tuple[NDArray[np.float32], NDArray[np.float32]],
    texts: Sequence[Sequence[int]],
) -> NDArray[np.int8]:
    """The vectors, in bytes, of texts that are given as tokens: `embed.transformer` in C."""
    words, layers, numbers = weights
    exponentials, shares = tables
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    tokens = np.fromiter(chain.from_iterable(texts), np.int64, int(sizes.sum()))
    out = np.empty((len(texts), words.shape[1]), np.int8)
    model = (address(words), len(words), address(layers), len(layers), address(numbers))
    using = (address(exponentials), exponentials.size, address(shares))
    given = (*model, *using, address(tokens), address(sizes), len(texts), address(out))
    fast.call("transform", given, tokens.size * layers.size)
    return out
