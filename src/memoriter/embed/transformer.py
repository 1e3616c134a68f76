"""The arithmetic of the packaged transformer, with the same bits on every machine.

Every product of matrices is one of whole numbers: weights have 8 bits, and what they are multiplied
with is rounded to whole steps of its largest number. Their sums stay below 2^24, where a float32
is exact, so neither the order of the additions nor the library that does them matters. What is left
is addition, multiplication, division, square root and rounding of single numbers, which IEEE 754
fixes, and two tables. The native kernel gives the same bits (`native/c/transformer.c`); the test
`test_transformer` compares both, and several libraries of linear algebra. ADR 0112 has the reasons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]
WIDTH: Final = 384
HEADS: Final = 12
INNER: Final = 1536
LONGEST: Final = 256
"""Tokens of the longest text, both ends included."""

_EACH: Final = WIDTH // HEADS
_FINE: Final = 2.0**14
"""Numbers that are summed are multiples of its inverse, and below `_TOP`: sums are exact."""
_TOP: Final = 2.0**21
_TINY: Final = 1e-12 * _FINE * _FINE
_HEAD_LEVELS: Final = np.float32(511.0)
"""Whole steps of queries, keys and values: 32 products of two stay below 2^24."""
_SHARES: Final = np.float32(2.0**14)
"""What the shares of attention sum to: times 511 below 2^24."""
_EXP_STEPS: Final = np.float32(512.0)
_PHI_STEPS: Final = np.float32(256.0)
_PHI_END: Final = np.float32(6.0)
_TOKENS: Final = 512
"""Tokens that are computed together at most, but for one long text."""
_LANES: Final = 16
"""Rows of a matrix that stand side by side where it is interleaved."""
_ROWS: Final = 42
"""Rows of a product at a time: with a block of 384 x 16 so little that BLAS uses one thread.

Several would wait for each other, and for a core that is busy."""


class MatrixShape(NamedTuple):
    """Where a matrix begins in a layer's weights, and its shape (outputs, inputs)."""

    begin: int
    outputs: int
    inputs: int

    @property
    def size(self) -> int:
        """How many weights it has."""
        return self.outputs * self.inputs


QKV: Final = MatrixShape(0, 3 * WIDTH, WIDTH)
OUT: Final = MatrixShape(QKV.begin + QKV.size, WIDTH, WIDTH)
UP: Final = MatrixShape(OUT.begin + OUT.size, INNER, WIDTH)
DOWN: Final = MatrixShape(UP.begin + UP.size, WIDTH, INNER)
LAYER: Final = DOWN.begin + DOWN.size
"""Weights of a layer."""
_MATRICES: Final = (QKV, OUT, UP, DOWN)
NUMBERS: Final = sum(1 + 2 * each.outputs for each in _MATRICES) + 4 * WIDTH
"""Other numbers of a layer: of each matrix its levels, scales and bias; two norms."""


@lru_cache(maxsize=1)
def exponentials() -> Singles:
    """exp(−n/512) as whole numbers of 2^-15, until it is less than half of one."""
    count = math.ceil(math.log(2.0**16) * float(_EXP_STEPS)) + 1
    return np.array([round(2.0**15 * math.exp(-n / 512.0)) for n in range(count)], np.float32)


@lru_cache(maxsize=1)
def normal_shares() -> Singles:
    """The share of a normal distribution below n/256, from −6 to 6, as multiples of 2^-20."""
    half = range(-6 * 256, 6 * 256 + 1)
    shares = (math.erfc(-n / 256.0 / math.sqrt(2.0)) / 2.0 for n in half)
    return np.array([round(2.0**20 * share) / 2.0**20 for share in shares], np.float32)


def interleaved(matrix: NDArray[np.int8]) -> NDArray[np.int8]:
    """A matrix (outputs, inputs) as files have it: 16 outputs side by side, by two inputs."""
    outputs, inputs = matrix.shape
    blocks = matrix.reshape(outputs // _LANES, _LANES, inputs // 2, 2)
    return np.ascontiguousarray(blocks.transpose(0, 2, 1, 3)).reshape(-1)


def separated(flat: NDArray[np.int8], shape: MatrixShape) -> NDArray[np.int8]:
    """The matrix (outputs, inputs) of its interleaved form."""
    blocks = flat.reshape(shape.outputs // _LANES, shape.inputs // 2, _LANES, 2)
    return blocks.transpose(0, 2, 1, 3).reshape(shape.outputs, shape.inputs)


class Weights(NamedTuple):
    """What the files have."""

    words: NDArray[np.int8]
    """A row a token."""
    layers: NDArray[np.int8]
    """A row a layer: its matrices, interleaved."""
    numbers: Singles
    """Scales of words, places, the first norm; then of each layer `NUMBERS`."""

    def fit(self, tokens: int) -> bool:
        """Whether the arrays belong together; a kernel that reads others would crash."""
        size = tokens + (LONGEST + 2) * WIDTH + len(self.layers) * NUMBERS
        shapes = ((tokens, WIDTH), (len(self.layers), LAYER), (size,))
        types = (np.int8, np.int8, np.float32)
        pairs = zip(self, shapes, types, strict=True)
        return all(each.shape == shape and each.dtype == type_ for each, shape, type_ in pairs)


class Linear(NamedTuple):
    """A matrix in float32, transposed, with what scales its products."""

    levels: np.float32
    blocks: Singles
    """(parts of the input, parts of the output, numbers of each); see `blocks_of`."""
    scales: Singles
    bias: Singles


class _Norm(NamedTuple):
    weight: Singles
    bias: Singles


class _Layer(NamedTuple):
    qkv: Linear
    out: Linear
    norm1: _Norm
    up: Linear
    down: Linear
    norm2: _Norm


class _Parts(NamedTuple):
    words: NDArray[np.int8]
    scales: Singles
    positions: Singles
    norm: _Norm
    layers: list[_Layer]


class Transformer:
    """Computes vectors of token sequences with numpy. Thread-safe.

    Weights are kept in float32, four times as large as in the files.
    """

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def vectors(self, texts: Sequence[Sequence[int]]) -> NDArray[np.int8]:
        """A row a text, in bytes: what belongs to unit length is one number for all of a row.

        No text may be empty or longer than `LONGEST`.
        """
        out = np.zeros((len(texts), WIDTH), np.int8)
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        begin = 0
        while begin < len(order):
            size = len(texts[order[begin]])
            end = begin + 1
            while end < len(order) and size + len(texts[order[end]]) <= _TOKENS:
                size += len(texts[order[end]])
                end += 1
            some = order[begin:end]
            out[some] = self._block([texts[at] for at in some])
            begin = end
        return out

    def _block(self, texts: list[Sequence[int]]) -> NDArray[np.int8]:
        """The vectors of texts of ascending lengths."""
        sizes = [len(each) for each in texts]
        ids = np.fromiter((token for each in texts for token in each), np.intp, sum(sizes))
        places = np.concatenate([np.arange(size) for size in sizes])
        parts, begin = list[tuple[int, int]](), 0  # stretches of texts of one length
        for size in sorted(set(sizes)):
            parts.append((begin, size))
            begin += sizes.count(size) * size
        ends = [each for each, _ in parts[1:]] + [begin]
        own = self._read
        rows = own.words[ids].astype(np.float32) * own.scales[ids, None]
        x = normed(rows + own.positions[places], own.norm)
        for layer in own.layers:
            qkv = linear(x, layer.qkv)
            seen = np.empty_like(x)
            for (start, size), end in zip(parts, ends, strict=True):
                seen[start:end] = attended(qkv[start:end].reshape(-1, size, 3, HEADS, _EACH))
            x = normed(x + linear(seen, layer.out), layer.norm1)
            inner = linear(x, layer.up)
            inner *= _normal_share(inner)
            x = normed(x + linear(inner, layer.down), layer.norm2)
        begins = np.cumsum([0, *sizes[:-1]])
        return pooled(np.add.reduceat(_fine(x), begins, axis=0))

    @cached_property
    def _read(self) -> _Parts:
        words, layers, numbers = self._weights
        at = 0

        def taken(count: int) -> Singles:
            nonlocal at
            at += count
            return numbers[at - count : at]

        def matrix(own: NDArray[np.int8], shape: MatrixShape) -> Linear:
            levels, scales, bias = taken(1)[0], taken(shape.outputs), taken(shape.outputs)
            whole = separated(own[shape.begin : shape.begin + shape.size], shape)
            return Linear(levels, blocks_of(whole.T, WIDTH, _LANES), scales, bias)

        def norm() -> _Norm:
            return _Norm(taken(WIDTH), taken(WIDTH))

        scales, positions = taken(len(words)), taken(LONGEST * WIDTH).reshape(LONGEST, WIDTH)
        first = norm()
        made = [
            _Layer(
                qkv=matrix(own, QKV),
                out=matrix(own, OUT),
                norm1=norm(),
                up=matrix(own, UP),
                down=matrix(own, DOWN),
                norm2=norm(),
            )
            for own in layers
        ]
        return _Parts(words, scales, positions, first, made)


def _fine(x: Singles) -> NDArray[np.float64]:
    """Numbers as whole multiples of 2^-14, so that any sum of them is exact."""
    wide = x.astype(np.float64)
    wide *= _FINE
    np.rint(wide, out=wide)
    return np.clip(wide, -_TOP, _TOP, out=wide)


def normed(x: Singles, norm: _Norm) -> Singles:
    """Each row with mean 0 and variance 1, then scaled and moved."""
    wide = _fine(x)
    mean = wide.sum(axis=1) / WIDTH
    variance = np.vecdot(wide, wide) / WIDTH - mean * mean
    wide -= mean[:, None]
    wide *= (1.0 / np.sqrt(variance + _TINY))[:, None]
    out: Singles = wide.astype(np.float32)
    out *= norm.weight
    out += norm.bias
    return out


def _steps(largest: Singles, levels: np.float32) -> Singles:
    """The step of which the largest number has `levels`; 1 where all are zero."""
    return np.where(largest > 0.0, largest / levels, np.float32(1.0)).astype(np.float32)


def linear(x: Singles, use: Linear) -> Singles:
    """Rows times a matrix, plus its bias; a row is rounded to whole steps of its largest number."""
    step = _steps(np.maximum(x.max(axis=1), -x.min(axis=1)), use.levels)[:, None]
    whole: Singles = x / step
    np.rint(whole, out=whole)
    out = _product(whole, use.blocks)
    out *= step
    out *= use.scales
    out += use.bias
    return out


def blocks_of(matrix: NDArray[np.int8], inputs: int, outputs: int) -> Singles:
    """A matrix (inputs, outputs) in blocks of this size."""
    parts, columns = matrix.shape[0] // inputs, matrix.shape[1] // outputs
    blocks = matrix.reshape(parts, inputs, columns, outputs).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(blocks, np.float32)


def _product(x: Singles, blocks: Singles) -> Singles:
    """Rows times a matrix; whole numbers, so sums over parts of the input are exact, too."""
    parts, columns, inputs, outputs = blocks.shape
    out = np.empty((len(x), columns, outputs), np.float32)
    split = x.reshape(len(x), parts, 1, inputs).transpose(1, 2, 0, 3)
    for begin in range(0, len(x), _ROWS):
        some = slice(begin, begin + _ROWS)
        made = np.matmul(split[:, :, some], blocks)
        out[some] = (made[0] if parts == 1 else made.sum(axis=0)).transpose(1, 0, 2)
    return out.reshape(len(x), -1)


def attended(qkv: Singles) -> Singles:
    """What each token takes of the others of its text; (texts, tokens, 3, heads, 32) → rows."""
    texts, tokens = qkv.shape[:2]
    parts = qkv.transpose(2, 0, 3, 1, 4)  # query, key, value; text; head; token
    both = parts[:2]
    step = _steps(np.abs(both).max(axis=4), _HEAD_LEVELS)[..., None]
    query, key = np.rint(both / step)
    scores = query @ key.swapaxes(2, 3)
    scores *= step[0]
    scores *= (step[1] * np.float32(_EACH**-0.5)).swapaxes(2, 3)
    below = scores.max(axis=3, keepdims=True) - scores
    below *= _EXP_STEPS
    np.rint(below, out=below)
    table = exponentials()
    shares = table[np.minimum(below, table.size - 1).astype(np.intp)]
    shares *= _SHARES / shares.sum(axis=3, keepdims=True)
    np.rint(shares, out=shares)
    value = parts[2]
    step = _steps(np.abs(value).max(axis=2, keepdims=True), _HEAD_LEVELS)
    out = shares @ np.rint(value / step)
    out *= step / _SHARES
    return out.transpose(0, 2, 1, 3).reshape(texts * tokens, WIDTH)


def _normal_share(x: Singles) -> Singles:
    """The share of a normal distribution below each number (GELU is the number times it)."""
    at = np.clip(x, -_PHI_END, _PHI_END)
    at *= _PHI_STEPS
    np.rint(at, out=at)
    return normal_shares()[at.astype(np.intp) + int(_PHI_END * _PHI_STEPS)]


def pooled(sums: NDArray[np.float64]) -> NDArray[np.int8]:
    """Sums over the tokens of each text in bytes: the largest number of a row is 127."""
    largest = np.abs(sums).max(axis=1, keepdims=True)
    return np.rint(sums / np.where(largest > 0.0, largest / 127.0, 1.0)).astype(np.int8)
