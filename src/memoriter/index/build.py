"""Builds a segment from a part of the log: posting lists, columns, vectors, edges, kin windows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from memoriter.core.words import Sketch
from memoriter.index.columns import Arrays, record_columns
from memoriter.index.dictionary import Dictionary
from memoriter.index.log_arrays import Derivation, edge_arrays, vector_arrays
from memoriter.index.segment import LIVE, Segment
from memoriter.index.windows import windows_of
from memoriter.store.port import Delta
from memoriter.store.rows import read_tomb


def build(
    after: int,
    delta: Delta,
    fields: Sequence[str],
    analysed: Sequence[Sketch],
    kin: Sequence[Sequence[int]],
    derived: Derivation,
) -> Segment:
    """A segment of the log after `after`.

    `analysed` has the words of every record, `kin` its tokens in the kin table,
    `derived` the vectors that follow from texts. The caller, who knows earlier rows, then ends
    updated and forgotten rows and sets "born" and "events": see `TenantIndex._append`.
    """
    records = delta.records
    rows = np.array([record.row for record in records], np.int64)
    arrays: Arrays = {
        "rows": rows,
        "born": rows,
        "ends": np.full(len(records), LIVE, np.int64),
        "tombs": np.array([read_tomb(tomb).position for tomb in delta.tombs], np.int64),
        "events.rows": np.zeros(0, np.int64),
        "events.ends": np.zeros(0, np.int64),
    }
    arrays.update(_postings(analysed, len(fields)))
    arrays.update(windows_of(kin))
    arrays.update(record_columns(records))
    arrays.update(vector_arrays(delta.vectors, derived))
    arrays.update(edge_arrays(delta.edges))
    return Segment(after, delta.upto, arrays)


def _postings(sketches: Sequence[Sketch], fields: int) -> Arrays:
    """Postings sorted by term, row and field, token positions, field lengths, surface words."""
    dictionary, terms = _named([sketch.terms for sketch in sketches])
    ordinals = [sketch.ordinals for sketch in sketches]
    known = np.array([len(sketch.terms) for sketch in sketches], np.int64)
    tokens = np.array([each.size for each in ordinals], np.int64)
    local = np.concatenate([np.zeros(0, np.int64), *ordinals])
    terms = terms[np.repeat(np.cumsum(known) - known, tokens) + local]
    shape = len(sketches), fields
    counts = np.array([sketch.counts for sketch in sketches], np.int64).reshape(shape)
    lengths = np.array([sketch.lengths for sketch in sketches], np.int32).reshape(shape)
    docs = np.repeat(np.arange(len(sketches)), counts.sum(axis=1))
    where = np.repeat(np.tile(np.arange(fields), len(sketches)), counts.ravel())
    # One integer per token sorts by term, row and field at once; stable, so that tokens of one
    # posting stay in the order of their positions.
    keys = (terms * len(sketches) + docs) * fields + where
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    keys, tfs = keys[first], np.diff(first, append=keys.size)
    spread = np.bincount(keys // (fields * max(len(sketches), 1)), minlength=len(dictionary))
    return {
        **dictionary.arrays("terms"),
        **_surfaces([sketch.surfaces for sketch in sketches]),
        "lengths": np.ascontiguousarray(lengths.T),
        "postings.starts": starts_of(spread),
        "postings.docs": (keys // fields % max(len(sketches), 1)).astype(np.int32),
        "postings.fields": (keys % fields).astype(np.uint8),
        "postings.tfs": tfs.astype(np.int32),
        "places.starts": starts_of(np.bincount(terms, minlength=len(dictionary))),
        "places": _places(sketches, counts)[order],
    }


def _surfaces(lists: Sequence[Sequence[str]]) -> Arrays:
    """For every surface word the rows that contain it."""
    dictionary, names = _named(lists)
    docs = np.repeat(np.arange(len(lists), dtype=np.int32), [len(words) for words in lists])
    return {
        **dictionary.arrays("surfaces"),
        "surfaces.starts": starts_of(np.bincount(names, minlength=len(dictionary))),
        "surfaces.docs": docs[np.argsort(names, kind="stable")],
    }


def starts_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Offsets of consecutive runs of these sizes: each begin, and the end of the last."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def _named(lists: Sequence[Sequence[str]]) -> tuple[Dictionary, NDArray[np.int64]]:
    """(dictionary of all strings of the lists, ordinal of each string of each list in it)."""
    ordered = sorted(set[str]().union(*lists))
    place = {one: n for n, one in enumerate(ordered)}.__getitem__
    names = np.fromiter(map(place, chain.from_iterable(lists)), np.int64, sum(map(len, lists)))
    return Dictionary.of(ordered), names


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
