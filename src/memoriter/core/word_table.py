"""The words of many records as arrays, from which a segment of the index is built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain

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
    def of(cls, sketches: Sequence[Sketch], fields: int) -> WordTable:
        """The table of records whose words are known one by one."""
        terms, names = numbered_strings([sketch.terms for sketch in sketches])
        surfaces, spelled = numbered_strings([sketch.surfaces for sketch in sketches])
        ordinals = [sketch.ordinals for sketch in sketches]
        distinct = np.array([len(sketch.terms) for sketch in sketches], np.int64)
        sizes = np.array([each.size for each in ordinals], np.int64)
        local = np.concatenate([np.zeros(0, np.int64), *ordinals])
        shape = len(sketches), fields
        counts = np.array([sketch.counts for sketch in sketches], np.int64).reshape(shape)
        spread = [len(sketch.surfaces) for sketch in sketches]
        return cls(
            terms=terms,
            tokens=names[np.repeat(np.cumsum(distinct) - distinct, sizes) + local],
            places=_places(sketches, counts),
            counts=counts,
            lengths=np.array([sketch.lengths for sketch in sketches], np.int32).reshape(shape),
            surfaces=surfaces,
            spelled=spelled,
            spelled_in=np.repeat(np.arange(len(sketches)), spread),
        )

    @classmethod
    def joined(cls, tables: Sequence[WordTable]) -> WordTable:
        """The records of several tables, one table behind the other."""
        if len(tables) == 1:
            return tables[0]
        terms, names = numbered_strings([each.terms for each in tables])
        surfaces, spellings = numbered_strings([each.surfaces for each in tables])
        before = _offsets([len(each.counts) for each in tables])
        spelled_in = [each.spelled_in + at for each, at in zip(tables, before, strict=True)]
        return cls(
            terms=terms,
            tokens=_renumbered(names, [(each.tokens, len(each.terms)) for each in tables]),
            places=np.concatenate([each.places for each in tables]),
            counts=np.concatenate([each.counts for each in tables]),
            lengths=np.concatenate([each.lengths for each in tables]),
            surfaces=surfaces,
            spelled=_renumbered(spellings, [(e.spelled, len(e.surfaces)) for e in tables]),
            spelled_in=np.concatenate(spelled_in),
        )


def _offsets(sizes: Sequence[int]) -> list[int]:
    """Where each of consecutive runs of these sizes begins."""
    return [0, *accumulate(sizes)][:-1]


def _renumbered(
    names: NDArray[np.int64], parts: Sequence[tuple[NDArray[np.int64], int]]
) -> NDArray[np.int64]:
    """Places in lists of these lengths as places in the distinct strings of all lists."""
    begins = _offsets([length for _, length in parts])
    flat = [places + begin for (places, _), begin in zip(parts, begins, strict=True)]
    return names[np.concatenate(flat)]


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
