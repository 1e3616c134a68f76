"""Builds a segment from a part of the log: posting lists, columns, vectors, edges, kin windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoriter.core.word_table import WordTable
from memoriter.embed.port import TokenTable
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
    words: WordTable,
    kin: TokenTable,
    derived: Derivation,
    texts: Arrays,
) -> Segment:
    """A segment of the log after `after`.

    `words` has the words of every record, `kin` its tokens in the kin table, `derived` the vectors
    that follow from texts, `texts` the `text_columns`. The caller, who knows earlier rows, then
    ends updated and forgotten rows and sets "born" and "events": see `TenantIndex._append`.
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
    arrays.update(word_arrays(words))
    arrays.update(windows_of(kin.tokens, kin.counts))
    arrays.update(record_columns(records))
    arrays.update(texts)
    arrays.update(vector_arrays(delta.vectors, derived))
    arrays.update(edge_arrays(delta.edges))
    return Segment(after, delta.upto, arrays)


def word_arrays(table: WordTable) -> Arrays:
    """Postings sorted by term, row and field, token positions, field lengths, surface words."""
    dictionary, ranks = _sorted(table.terms)
    terms = ranks[table.tokens]
    records, fields = len(table.counts), int(table.counts.shape[1])
    docs = np.repeat(np.arange(records), table.counts.sum(axis=1))
    where = np.repeat(np.tile(np.arange(fields), records), table.counts.ravel())
    # One integer per token sorts by term, row and field at once; stable, so that tokens of one
    # posting stay in the order of their positions.
    keys = (terms * records + docs) * fields + where
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    keys, tfs = keys[first], np.diff(first, append=keys.size)
    spread = np.bincount(keys // (fields * max(records, 1)), minlength=len(dictionary))
    return {
        **dictionary.arrays("terms"),
        **_surfaces(table),
        "lengths": np.ascontiguousarray(table.lengths.T),
        "postings.starts": starts_of(spread),
        "postings.docs": (keys // fields % max(records, 1)).astype(np.int32),
        "postings.fields": (keys % fields).astype(np.uint8),
        "postings.tfs": tfs.astype(np.int32),
        "places.starts": starts_of(np.bincount(terms, minlength=len(dictionary))),
        "places": table.places[order],
    }


def _surfaces(table: WordTable) -> Arrays:
    """For every surface word the rows that contain it."""
    dictionary, ranks = _sorted(table.surfaces)
    records = max(len(table.counts), 1)
    keys = ranks[table.spelled] * records + table.spelled_in
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return {
        **dictionary.arrays("surfaces"),
        "surfaces.starts": starts_of(np.bincount(keys // records, minlength=len(dictionary))),
        "surfaces.docs": (keys % records).astype(np.int32),
    }


def _sorted(strings: Sequence[str]) -> tuple[Dictionary, NDArray[np.int64]]:
    """(the dictionary of distinct strings, the ordinal of each of them in it)."""
    order = sorted(range(len(strings)), key=strings.__getitem__)
    ranks = np.empty(len(strings), np.int64)
    ranks[order] = np.arange(len(strings))
    return Dictionary.of([strings[n] for n in order]), ranks


def starts_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Offsets of consecutive runs of these sizes: each begin, and the end of the last."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
