"""Vectors and edges of the log as arrays of a segment; called by `segment.build`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.batch import DERIVED
from memoriter.core.ranking import Rows
from memoriter.index.columns import NO_TIME, Arrays
from memoriter.index.dictionary import Dictionary
from memoriter.rank.grid import unit
from memoriter.store.rows import EdgeRow, VectorRow

_MIXER: Final = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: Fibonacci hashing spreads consecutive numbers."""
_DTYPES: Final = {"f4": "<f4", "f8": "<f8", "unit": "<f4"}


def sample_of(rows: Rows) -> NDArray[np.intp]:
    """Indices of about one in sixteen of these rows, chosen by a hash of the row number.

    So a row is in the sample or not whatever segment it is in, and merging changes no answer.
    """
    # The top 4 of 64 bits are zero for one row in sixteen.
    return np.flatnonzero(rows.astype(np.uint64) * _MIXER >> np.uint64(60) == 0)


Derivation = Mapping[int, NDArray[np.float32] | None]
"""By row, the vector that follows from its text; None if its text has nothing to embed."""


def vector_arrays(rows: Sequence[VectorRow], derived: Derivation) -> Arrays:
    """Arrays of unit vectors on the grid; "none" lists rows that have nothing to embed.

    Zero vectors have no direction and are left out, and so are derived ones that are not in
    `derived`: their rows lack a vector.
    """
    vectors = [(v, _unit_of(v, derived)) for v in rows]
    kept = [(v, vector) for v, vector in vectors if vector is not None]
    none = [v for v in rows if not v.body or (v.body == DERIVED and derived.get(v.row, v) is None)]
    width = kept[0][1].size if kept else 0
    matrix = np.zeros((len(kept), width), np.float32)
    for at, (_, vector) in enumerate(kept):
        matrix[at] = vector
    return {
        "vectors.seqs": np.array([v.seq for v, _ in kept], np.int64),
        "vectors.rows": np.array([v.row for v, _ in kept], np.int64),
        "vectors.matrix": matrix,
        "vectors.none.seqs": np.array([v.seq for v in none], np.int64),
        "vectors.none.rows": np.array([v.row for v in none], np.int64),
    }


def _unit_of(vector: VectorRow, derived: Derivation) -> NDArray[np.float32] | None:
    """The vector at unit length on the grid; None for a zero or an empty vector."""
    if vector.body == DERIVED:
        return derived.get(vector.row)
    if not vector.body:
        return None
    values = np.frombuffer(vector.body, _DTYPES[vector.form])
    return values.astype(np.float32) if vector.form == "unit" else unit(values)


def edge_arrays(rows: Sequence[EdgeRow]) -> Arrays:
    """Arrays of edges; kinds are ordinals of a dictionary."""
    bodies = [cast("dict[str, object]", json.loads(row.body)) for row in rows]
    kinds = sorted({cast("str", body["kind"]) for body in bodies})
    place = {kind: n for n, kind in enumerate(kinds)}
    dictionary = Dictionary.of(kinds)
    return {
        "edges.seqs": np.array([row.seq for row in rows], np.int64),
        "edges.sources": np.array([row.source for row in rows], np.int64),
        "edges.targets": np.array([row.target for row in rows], np.int64),
        "edges.kinds.codes": np.array([place[cast("str", b["kind"])] for b in bodies], np.int32),
        "edges.kinds.blob": dictionary.blob,
        "edges.kinds.at": dictionary.at,
        "edges.weights": np.array([b["weight"] for b in bodies], np.float64),
        "edges.from": np.array([b.get("valid_from", NO_TIME) for b in bodies], np.int64),
        "edges.until": np.array([b.get("valid_until", NO_TIME) for b in bodies], np.int64),
    }
