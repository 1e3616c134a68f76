"""The BM25 formula: idf, saturation of the term frequency, and their product on the grid.

Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009. idf and every
contribution are on the grid, so sums over words and fields are exact in any order.
`lanes/bm25_score.py` applies the formula to posting lists, `memory/agents.py` to the registry;
`native/c/words.c` has it a second time, with the same bits.
"""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple, TypeVar

from memoriter.rank.grid import Array, snap, snap_one

IdfForm = Literal["positive", "floored"]
_FLOOR: Final = 1e-6
"""The smallest `floored` idf, as in FTS5."""

NumberT = TypeVar("NumberT", float, Array)
"""One number, or an array."""


def idf(total: int, df: int, form: IdfForm = "positive") -> float:
    """Inverse document frequency on the grid, of a word in `df` of N = `total` records.

    `positive` is ln(1 + (N − df + ½) / (df + ½)), as in Lucene: never below 0. `floored` is
    ln((N − df + ½) / (df + ½)), as in FTS5: a word in half of the records or more counts 1e-6.

    >>> round(idf(4, 1), 6), round(idf(4, 1, "floored"), 6), round(idf(4, 3, "floored"), 6)
    (1.203973, 0.847298, 1e-06)
    """
    odds = (total - df + 0.5) / (df + 0.5)
    if form == "positive":
        return snap_one(math.log(1.0 + odds))
    return snap_one(math.log(odds) if odds > 1.0 else _FLOOR)


class Bm25Params(NamedTuple):
    """The two free parameters of BM25."""

    k1: float = 1.2
    """Saturation of the term frequency."""
    b: float = 0.75
    """Normalization by length."""


def saturation(tf: NumberT, length: NumberT, mean: float, params: Bm25Params) -> NumberT:
    """tf·(k1+1) / (tf + k1·(1 − b + b·length/mean)).

    >>> saturation(2.0, 3.0, 3.0, Bm25Params(k1=1.2, b=0.75))
    1.375
    """
    k1, b = params
    norm = k1 * (1.0 - b + b * (length / mean))
    return tf * (k1 + 1.0) / (tf + norm)


def bm25_contribution(
    tf: Array, length: Array, mean: float, weight: float, params: Bm25Params
) -> Array:
    """Weight · saturation, on the grid.

    `weight` is the product of idf, field weight and the query's factor for the word (`word^2`).
    """
    return snap(weight * saturation(tf, length, mean, params))
