"""The native kernel on vectors: scans of codes and bytes, and exact dot products.

The twins in numpy are in `rank/codes.py`, `rank/grid.py` and `lanes/nearest.py`.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import InvariantError
from memoriter.core.ranking import VectorMatrix
from memoriter.kernel.found_rows import Wanted
from memoriter.kernel.jobs import Started
from memoriter.kernel.library import Job, Library, Search, address, native_library


def rough_distances(
    fast: Library,
    signs: NDArray[np.uint64],
    planes: NDArray[np.uint64],
    out: NDArray[np.uint16],
) -> None:
    """Write Hamming distances of codes (words, vectors) to two planes, those to the first twice."""
    signs, planes = np.ascontiguousarray(signs), np.ascontiguousarray(planes)
    words, vectors = signs.shape
    given = (address(signs), words, vectors, vectors, address(planes), address(out))
    fast.call("rough", given, signs.size)


def within_distance(
    fast: Library,
    steps: Sequence[NDArray[np.uint64]],
    planes: NDArray[np.uint64],
    distances: NDArray[np.uint16],
    most: int,
) -> tuple[NDArray[np.intp], NDArray[np.uint16]]:
    """(the vectors within a rough distance, their fine distances), over all segments.

    `steps` are the codes (vectors, words) of each segment.
    """
    held = [np.ascontiguousarray(each) for each in steps]
    table = np.array([(address(each), len(each)) for each in held], np.int64)
    at, fine = np.empty(distances.size, np.int64), np.empty(distances.size, np.uint16)
    given = (address(table), len(held), planes.shape[1], address(planes), address(distances))
    count = fast.call("within", (*given, most, address(at), address(fine)), distances.size)
    return at[:count].copy(), fine[:count].copy()


def exact_dots(
    fast: Library,
    some: Sequence[tuple[VectorMatrix, NDArray[np.intp]]],
    query: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Exact dot products of a query, on the grid, with some vectors of one or more matrices."""
    held = [(np.ascontiguousarray(matrix), np.ascontiguousarray(at)) for matrix, at in some]
    each_given = [(address(own), own.dtype == np.int8, address(at), at.size) for own, at in held]
    table = array("q", chain.from_iterable(each_given))
    out, wide = np.empty(sum(at.size for _, at in held)), query.astype(np.float64)
    given = (table.buffer_info()[0], len(held), query.size, address(wide), address(out))
    fast.call("dots", given, out.size * query.size)
    return out


class ByteVectors:
    """Vectors as bytes: a vector is its codes times its scale, up to its `rest` in length."""

    def __init__(
        self,
        codes: NDArray[np.int8],
        scales: NDArray[np.float32],
        rests: NDArray[np.float32],
        *,
        shared: bool = False,
    ) -> None:
        """`shared` if somebody else has the codes anyway."""
        self.size = len(codes)
        self._held = (codes, scales, rests)
        self.nbytes = scales.nbytes + rests.nbytes + (0 if shared else codes.nbytes)
        """Their size in memory."""
        self.given = (*map(address, self._held), self.size)


def byte_vectors(matrix: NDArray[np.float32]) -> ByteVectors:
    """Vectors rounded to bytes; only where the native kernel works."""
    fast = native_library()
    if fast is None:
        raise InvariantError(
            "internal error: vectors as bytes were asked for without the native kernel"
        )
    matrix = np.ascontiguousarray(matrix, np.float32)
    count, dimension = len(matrix), int(matrix.shape[1])
    codes = np.empty((count, dimension), np.int8)
    scales, rests = np.empty(count, np.float32), np.empty(count, np.float32)
    given = (address(matrix), count, dimension, address(codes), address(scales), address(rests))
    fast.call("bytes", given, 8 * matrix.size)
    return ByteVectors(codes, scales, rests)


def scan_bytes(
    fast: Library, segments: Sequence[ByteVectors], query: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What the dot product of each vector with a query is at least, and at most."""
    table = array("q", chain.from_iterable(each.given for each in segments))
    total, dimension = sum(each.size for each in segments), query.size
    query, steps = np.ascontiguousarray(query), np.empty(dimension, np.int16)
    low, high = np.empty(total, np.float32), np.empty(total, np.float32)
    out = (address(steps), address(low), address(high))
    given = (table.buffer_info()[0], len(segments), dimension, address(query), *out)
    fast.call("scan_bytes", given, total * dimension // 8)
    return low, high


class NearestPart(NamedTuple):
    """A segment of which each row has one vector."""

    bytes: ByteVectors
    matrix: VectorMatrix
    rows: NDArray[np.int64]
    mask: NDArray[np.bool_]
    """The rows that may be found."""


class NearestVectors:
    """A query against the vectors of some segments."""

    def __init__(self, parts: Sequence[NearestPart], query: NDArray[np.float32]) -> None:
        held = [
            (each.bytes, *map(np.ascontiguousarray, (each.matrix, each.rows, each.mask)))
            for each in parts
        ]
        each_given = [
            (*own.given, address(matrix), matrix.dtype == np.int8, *map(address, rest))
            for own, matrix, *rest in held
        ]
        table = array("q", chain.from_iterable(each_given))
        self._query = query = np.ascontiguousarray(query, np.float32)
        self._total, self._held = sum(each.bytes.size for each in parts), (held, table)
        self._given = (table.buffer_info()[0], len(held), query.size, address(query))

    def best(
        self, pool: int, floor: float
    ) -> Started[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """(the `pool` nearest rows inside the masks, and ties; their cosines), in no order.

        None of them belongs whose cosine is below the floor; some below it may be there.
        """
        rows, cosines = np.empty(self._total, np.int64), np.empty(self._total)
        given = (*self._given, pool, floor, address(rows), address(cosines))
        work = self._total * self._query.size // 8
        job = Search("nearest", given, work, self, rows=rows, scores=cosines)
        return Started(lambda: (rows[: job.done].copy(), cosines[: job.done].copy()), (job,))

    def of(self, wanted: Wanted) -> Job:
        """The exact cosines of the wanted rows, inside the masks or not; NaN without a vector."""
        work = wanted.size * self._query.size
        return Job("cosines", (*self._given, *wanted.given), work, (self, wanted))
