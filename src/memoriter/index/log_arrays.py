"""Vectors and edges of the log as arrays of a segment; called by `segment.build`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.batch import DERIVED, IN_BYTES
from memoriter.core.ranking import Rows, VectorMatrix
from memoriter.index.columns import NO_TIME, Arrays
from memoriter.index.dictionary import Dictionary
from memoriter.rank.grid import unit
from memoriter.rank.units import widened
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


class Derivation(NamedTuple):
    """Vectors that follow from the texts of rows; a zero one if a text has nothing to embed."""

    rows: NDArray[np.int64]
    """In ascending order."""
    matrix: NDArray[np.float32]

    @classmethod
    def of(cls, rows: NDArray[np.int64], matrix: NDArray[np.float32]) -> Derivation:
        """The vectors of rows in any order."""
        if (rows[1:] > rows[:-1]).all():
            return cls(rows, matrix)
        order = np.argsort(rows)
        return cls(rows[order], matrix[order])

    def followed_by(self, other: Derivation) -> Derivation:
        """These vectors, and others, which may be newer ones of the same rows."""
        if not self.rows.size or not other.rows.size:
            return other if other.rows.size else self
        kept = ~np.isin(self.rows, other.rows)
        return Derivation.of(
            np.concatenate([self.rows[kept], other.rows]),
            np.concatenate([self.matrix[kept], other.matrix]),
        )

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.intp]:
        """The places of rows in the matrix; -1 for one that has no vector here."""
        if not self.rows.size:
            return np.full(rows.size, -1, np.intp)
        at = np.minimum(np.searchsorted(self.rows, rows), self.rows.size - 1)
        return np.where(self.rows[at] == rows, at, -1)


NOTHING_DERIVED: Final = Derivation(np.zeros(0, np.int64), np.zeros((0, 0), np.float32))


def vector_arrays(rows: Sequence[VectorRow], derived: Derivation) -> Arrays:
    """Arrays of unit vectors on the grid; "none" lists rows that have nothing to embed.

    The matrix is in bytes if every vector of the log is, else in float32 (`rank.units.widened`).
    Zero vectors have no direction and are left out, and so are derived ones that are not in
    `derived`: their rows lack a vector.
    """
    seqs = np.array([vector.seq for vector in rows], np.int64)
    owners = np.array([vector.row for vector in rows], np.int64)
    noted = np.array([vector.body == DERIVED for vector in rows], np.bool_)
    places = np.where(noted, derived.places(owners), -1)
    has = places >= 0
    none = np.array([not vector.body for vector in rows], np.bool_)
    stored = {
        n: vector
        for n in np.flatnonzero(~noted & ~none).tolist()
        if (vector := _unit_of(rows[n])) is not None
    }
    widths = [derived.matrix.shape[1]] if has.any() else []
    widths += [each.size for each in stored.values()]
    in_bytes = bool(stored) and all(each.dtype == np.int8 for each in stored.values())
    dtype = np.int8 if in_bytes and not has.any() else np.float32
    matrix = np.zeros((len(rows), widths[0] if widths else 0), dtype)
    if has.any():
        matrix[has] = derived.matrix[places[has]]
        none |= has & ~matrix.any(axis=1)
        has &= ~none
    for n, vector in stored.items():
        matrix[n] = vector if vector.dtype == dtype else widened(vector[np.newaxis])[0]
        has[n] = True
    return {
        "vectors.seqs": seqs[has],
        "vectors.rows": owners[has],
        "vectors.matrix": matrix if has.all() else matrix[has],
        "vectors.none.seqs": seqs[none],
        "vectors.none.rows": owners[none],
    }


def _unit_of(vector: VectorRow) -> VectorMatrix | None:
    """The vector at unit length on the grid, or in bytes; None for a zero one."""
    if vector.body.startswith(IN_BYTES) and len(vector.body) % 4 == 1:
        return np.frombuffer(vector.body, np.int8, offset=1)
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
