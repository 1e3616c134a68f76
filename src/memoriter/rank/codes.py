"""Two-bit quantization of vectors, to estimate cosines quickly (used by `lanes/nearest.py`).

A vector is rotated by a fixed matrix, so that its length spreads evenly over all elements, and each
element is stored as one of four steps: two bit planes (sign, and upper or lower step). A query is
encoded in the same way. A step is a weighted sum of its bits, so a dot product is a weighted sum of
Hamming distances between planes. The *rough* estimate uses only the sign plane of the records; the
*fine* estimate uses both planes. Both are unbiased estimates of the cosine with a known standard
error (Gao & Long, RaBitQ, SIGMOD 2024).

Everything here is exact or correctly rounded, so codes are the same on every machine and depend on
nothing but the vector.
"""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache
from typing import Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import VectorMatrix
from memoriter.kernel.library import native_library
from memoriter.kernel.vectors import rough_distances
from memoriter.rank.units import widened

NARROWEST: Final = 64
WIDEST: Final = 4096
"""The dimensions with codes: fewer give poor estimates, more need too large a rotation."""

FARTHEST: Final = 9 * WIDEST
"""No distance is larger."""


class Codes(NamedTuple):
    """The bit planes of some vectors, packed into 64-bit words."""

    signs: NDArray[np.uint64]
    """Sign bits as (words, vectors): this layout suits a scan over all vectors."""
    steps: NDArray[np.uint64]
    """Step bits as (vectors, words): this layout suits reading single vectors."""

    @property
    def nbytes(self) -> int:
        """Their size in memory."""
        return self.signs.nbytes + self.steps.nbytes


_TURN_STEP: Final = 2.0**-10
_VECTOR_STEP: Final = 2.0**-12
_FOUR: Final = 0.9957
"""The step width of the best 4-level quantizer of a normal variable (Max 1960)."""
_SIGN_KEEPS: Final = math.sqrt(2.0 / math.pi)
_FOUR_KEEPS: Final = 0.8812
"""The dot product of a vector with its own signs, or steps, relative to its length."""
_ROUGH_TRUE: Final = 0.749
_FINE_TRUE: Final = 0.87
"""The correlation of the rough and fine estimates with the cosine, for random directions."""
_BLOCK: Final = 16_384
"""Vectors encoded at a time, so that intermediate arrays fit the cache."""
_BLOCK_WORDS: Final = 65_536
"""Words compared at a time, for the same reason."""


def _signs(dimension: int, salt: str) -> NDArray[np.float64]:
    drawn = hashlib.shake_256(f"memoriter/turn/{salt}/{dimension}".encode()).digest(dimension)
    return np.where(np.frombuffer(drawn, np.uint8) & 1, 1.0, -1.0)


def _hadamard(size: int) -> NDArray[np.float64]:
    out = np.ones((1, 1))
    while out.shape[0] < size:
        out = np.block([[out, out], [out, -out]])
    return out


@lru_cache(maxsize=4)
def rotation(dimension: int) -> NDArray[np.float32]:
    """A fixed rotation, on a grid so coarse that products with it are exact in float32.

    A Hadamard matrix over the first 2^k elements and, if the dimension is larger, another one over
    the last 2^k, each after fixed pseudo-random signs. Before scaling these are whole numbers.

    >>> bool((abs(rotation(96).T @ rotation(96) - np.eye(96)) < 0.02).all())
    True
    """
    size = 1 << (dimension.bit_length() - 1)
    first, last = np.eye(dimension), np.eye(dimension)
    first[:size, :size] = last[dimension - size :, dimension - size :] = _hadamard(size)
    before = np.where(np.arange(dimension) < size, 1.0, math.sqrt(size))
    whole = _signs(dimension, "first")[:, None] * first
    scale = before[:, None] / math.sqrt(size)
    if size < dimension:
        whole = (whole * _signs(dimension, "last")) @ last
        scale = scale * (before[::-1] / math.sqrt(size))
    return (np.rint(whole * scale / _TURN_STEP) * _TURN_STEP).astype(np.float32)


def _turned(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors after the rotation: sums of multiples of 2^-22 below 2, exact in any order."""
    return (np.rint(matrix / _VECTOR_STEP) * _VECTOR_STEP).astype(np.float32) @ rotation(
        matrix.shape[1]
    )


def _packed(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Bits (vectors, elements) packed into 64-bit words (vectors, words)."""
    octets = np.packbits(bits, axis=1)
    # Padding bits are 0 in records and queries alike, so they never differ.
    wide = np.zeros((bits.shape[0], -(-bits.shape[1] // 64) * 8), np.uint8)
    wide[:, : octets.shape[1]] = octets
    return wide.view(np.uint64)


def codes_of(matrix: VectorMatrix) -> Codes:
    """The codes of unit vectors on the grid, or in bytes.

    >>> codes_of(np.zeros((3, 256), np.float32)).signs.shape
    (4, 3)
    """
    count, dimension = matrix.shape
    words = -(-dimension // 64)
    out = Codes(np.empty((words, count), np.uint64), np.empty((count, words), np.uint64))
    for start in range(0, count, _BLOCK):
        upper, lower = _planes(_turned(widened(matrix[start : start + _BLOCK])))
        out.signs[:, start : start + _BLOCK] = _packed(upper).T
        out.steps[start : start + _BLOCK] = _packed(lower)
    return out


def _planes(turned: NDArray[np.float32]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(whether an element is positive, whether it is in the upper of the two steps of its sign)."""
    step, above = np.float32(_FOUR / math.sqrt(turned.shape[1])), turned > 0.0
    return above, np.where(above, turned > step, turned > -step)


@dataclass(frozen=True, slots=True)
class Probe:
    """A query encoded for comparison with codes."""

    planes: NDArray[np.uint64]
    """Bit planes (2, words): signs, then steps."""
    dimension: int
    kept: float
    """The dot product of the query with its own quantized form, as a weighted sum of planes."""

    @classmethod
    def of(cls, query: NDArray[np.float32]) -> Probe:
        """The planes of a unit vector on the grid."""
        turned = _turned(query[np.newaxis])
        planes = _planes(turned)
        upper, lower = (
            math.fsum(cast("list[float]", np.where(plane, turned, -turned)[0].tolist()))
            for plane in planes
        )
        packed = np.concatenate([_packed(plane) for plane in planes])
        return cls(packed, query.size, 2.0 * upper + lower)

    @property
    def rough_error(self) -> float:
        """One standard error of a rough estimate."""
        return _error(_ROUGH_TRUE, self.dimension)

    @property
    def fine_error(self) -> float:
        """One standard error of a fine estimate."""
        return _error(_FINE_TRUE, self.dimension)

    def rough(self, signs: NDArray[np.uint64], out: NDArray[np.uint16]) -> None:
        """Write rough distances: Hamming distances of signs to both planes, the first twice."""
        fast = native_library()
        if fast is not None:
            rough_distances(fast, signs, self.planes, out)
            return
        _compare(signs, self.planes, out)

    def distances(self, steps: NDArray[np.uint64], at: NDArray[np.intp]) -> NDArray[np.uint16]:
        """Hamming distances of the steps of some vectors to both planes, the first twice.

        The fine distance of a vector is this one and twice the rough one.
        """
        out = np.empty(at.size, np.uint16)
        _compare(np.ascontiguousarray(np.take(steps, at, axis=0).T), self.planes, out)
        return out

    def rough_within(self, cosine: float) -> int:
        """The largest rough distance whose estimated cosine reaches a value."""
        unit = 1.0 / (math.sqrt(self.dimension) * _SIGN_KEEPS * self.kept)
        return _distance(3.0 * self.dimension - cosine / unit)

    def fine_within(self, cosine: float) -> int:
        """The largest fine distance whose estimated cosine reaches a value."""
        unit = _FOUR / (2.0 * math.sqrt(self.dimension) * _FOUR_KEEPS * self.kept)
        return _distance(9.0 * self.dimension - cosine / unit)


def _distance(twice: float) -> int:
    return int(min(max(twice / 2.0, 0.0), FARTHEST))


def _error(true: float, dimension: int) -> float:
    return math.sqrt(1.0 - true * true) / (true * math.sqrt(dimension))


def _compare(
    codes: NDArray[np.uint64], planes: NDArray[np.uint64], out: NDArray[np.uint16]
) -> None:
    """Write the Hamming distances of codes (words, vectors) to two planes, the first twice."""
    words = len(codes)
    block = max(1, min(out.size, _BLOCK_WORDS // words))
    differ = np.empty((words, block), np.uint64)
    bits = np.empty((words, block), np.uint8)
    second = np.empty(block, np.uint16)
    for start in range(0, out.size, block):
        part, own = codes[:, start : start + block], out[start : start + block]
        for plane, sums in zip(planes, (own, second[: own.size]), strict=True):
            some, counts = differ[:, : own.size], bits[:, : own.size]
            np.bitwise_xor(part, plane[:, np.newaxis], out=some)
            np.bitwise_count(some, out=counts)
            np.add.reduce(counts, axis=0, dtype=np.uint16, out=sums)
        own += own
        own += second[: own.size]
