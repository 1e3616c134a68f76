"""The words of many records as arrays, from which a segment of the index is built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.words import Sketch


@dataclass(frozen=True, slots=True)
class WordTable:
    """The words of records under one analyzer: tokens by record, then by field, in order."""

    terms: list[str]
    """Distinct stems, in any order."""
    tokens: NDArray[np.int64]
    """The term of every token, as a place in `terms`."""
    places: NDArray[np.uint32]
    """The position of every token in its field."""
    counts: NDArray[np.int64]
    """(records, fields): how many tokens."""
    lengths: NDArray[np.int32]
    """(records, fields): the length, as BM25 counts it."""
    surfaces: list[str]
    """Distinct surface words, in any order."""
    spelled: NDArray[np.int64]
    """Surface words of records, as places in `surfaces`; a record may have one several times."""
    spelled_in: NDArray[np.int64]
    """The record of each of them."""

    @classmethod
    def of(cls, sketches: Sequence[Sketch], fields: int, *, spelled: bool = True) -> WordTable:
        """The table of records whose words are known one by one; surface words if `spelled`."""
        terms, names = numbered_strings([sketch.terms for sketch in sketches])
        spellings = [sketch.surfaces if spelled else [] for sketch in sketches]
        surfaces, of_surface = numbered_strings(spellings)
        ordinals = [sketch.ordinals for sketch in sketches]
        distinct = np.array([len(sketch.terms) for sketch in sketches], np.int64)
        sizes = np.array([each.size for each in ordinals], np.int64)
        local = np.concatenate([np.zeros(0, np.int64), *ordinals])
        shape = len(sketches), fields
        counts = np.array([sketch.counts for sketch in sketches], np.int64).reshape(shape)
        return cls(
            terms=terms,
            tokens=names[np.repeat(np.cumsum(distinct) - distinct, sizes) + local],
            places=_places(sketches, counts),
            counts=counts,
            lengths=np.array([sketch.lengths for sketch in sketches], np.int32).reshape(shape),
            surfaces=surfaces,
            spelled=of_surface,
            spelled_in=np.repeat(np.arange(len(sketches)), list(map(len, spellings))),
        )


def numbered_strings(lists: Iterable[Sequence[str]]) -> tuple[list[str], NDArray[np.int64]]:
    """(distinct strings of the lists, the place of each string of each list among them)."""
    flat = list(chain.from_iterable(lists))
    distinct = list(dict.fromkeys(flat))
    numbers = dict(zip(distinct, range(len(distinct)), strict=True))
    return distinct, np.fromiter(map(numbers.__getitem__, flat), np.int64, len(flat))


def _places(sketches: Sequence[Sketch], counts: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The position of every token in its field, in the order of the tokens."""
    sizes = counts.ravel()
    plain = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    out = plain.astype(np.uint32)
    ends = np.cumsum(counts.sum(axis=1))
    for end, sketch in zip(ends.tolist(), sketches, strict=True):
        # Positions are stored only where they are not 0, 1, 2 … (a dropped word leaves a gap).
        if sketch.places is not None:
            out[end - sketch.places.size : end] = sketch.places
    return out
