"""The words of many records as arrays, from the tokens of each distinct chunk of their texts.

What `text.tokenized` works out for one text after the other, on arrays: the tokens of a text are
those of its chunks, one behind the other, and the texts of a field follow each other with a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from memoriter.core.runs import runs_at
from memoriter.core.word_table import WordTable
from memoriter.kernel.split import NumberedWords
from memoriter.text.tokenized import GAP, Tokenized

_Whole = NDArray[np.int64]


def placed_table(
    known: Sequence[Tokenized], texts: NumberedWords, cells: _Whole, shape: tuple[int, int]
) -> WordTable:
    """The table of texts whose chunks are numbered; `known` has the tokens of each chunk.

    `shape` is (records, fields). A text belongs to a cell: record · fields + field. Cells ascend.
    """
    fields = shape[1]
    every = shape[0] * fields
    sizes = np.fromiter((len(each.terms) for each in known), np.int64, len(known))
    widths = np.fromiter((each.width for each in known), np.int64, len(known))
    terms, of_term = _numbered([each.terms for each in known])
    surfaces, of_surface = _numbered([each.surfaces for each in known])
    ends = np.cumsum(sizes)
    within = np.arange(of_term.size) - np.repeat(ends - sizes, sizes)
    for end, each in zip(ends.tolist(), known, strict=True):
        if each.places is not None:
            within[end - len(each.places) : end] = each.places
    # From here on by chunk of a text, then by token of a chunk.
    each_size, each_width = sizes[texts.numbers], widths[texts.numbers]
    tokens = runs_at((ends - sizes)[texts.numbers], each_size)
    owners = np.repeat(np.arange(texts.counts.size), texts.counts)
    filled = _added(owners, each_width, texts.counts.size)
    counts = _added(owners, each_size, texts.counts.size)
    begins = _begins(cells, filled, counts)
    ahead = np.cumsum(each_width) - each_width
    ahead -= np.repeat(np.cumsum(filled) - filled, texts.counts)
    at = np.repeat(ahead + begins[owners], each_size) + within[tokens]
    return WordTable(
        terms=terms,
        tokens=of_term[tokens],
        places=at.astype(np.uint32),
        counts=_added(cells, counts, every).reshape(shape),
        lengths=_added(cells, filled, every).reshape(shape).astype(np.int32),
        surfaces=surfaces,
        spelled=of_surface[tokens],
        spelled_in=np.repeat(cells // fields, counts),
    )


def _numbered(lists: Sequence[Sequence[str]]) -> tuple[list[str], _Whole]:
    """(distinct strings of the lists, the place of each string of each list among them)."""
    numbers: dict[str, int] = {}
    flat = [numbers.setdefault(one, len(numbers)) for one in chain.from_iterable(lists)]
    return list(numbers), np.array(flat, np.int64)


def _added(owners: _Whole, values: _Whole, size: int) -> _Whole:
    """The sums of values by owner."""
    return np.bincount(owners, weights=values, minlength=size).astype(np.int64)


def _begins(cells: _Whole, filled: _Whole, counts: _Whole) -> _Whole:
    """Where each text begins in its field: behind those before it, and a gap if they have words."""
    fresh = np.diff(cells, prepend=-1) > 0
    first = np.flatnonzero(fresh)
    if first.size == cells.size:  # no field has two texts
        return np.zeros(cells.size, np.int64)
    nth = np.cumsum(fresh) - 1
    before = np.cumsum(counts) - counts
    gaps = np.where(before > before[first][nth], GAP, 0)
    ahead = np.cumsum(filled + gaps) - filled
    return ahead - (ahead - gaps)[first][nth]
