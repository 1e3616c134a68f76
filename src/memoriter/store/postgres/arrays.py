"""Columns of rows as arrays in PostgreSQL's binary format, one parameter per column.

One `INSERT … SELECT FROM unnest(…)` then writes any number of rows in one round trip, and the
statement is the same for one row and for ten thousand, so it is planned once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

_HEADER: Final = struct.Struct(">iiIii")
_LENGTH: Final = struct.Struct(">i")
_INT8: Final = np.dtype([("length", ">i4"), ("value", ">i8")])


class BigInts(tuple[int, ...]):
    """A parameter of the type bigint[]."""

    __slots__ = ()


class Texts(tuple[str, ...]):
    """A parameter of the type text[]."""

    __slots__ = ()


class Blobs(tuple[bytes, ...]):
    """A parameter of the type bytea[]."""

    __slots__ = ()


ARRAYS: Final[dict[str, type[BigInts | Texts | Blobs]]] = {
    "bigint": BigInts,
    "text": Texts,
    "bytea": Blobs,
}
"""By the type of a column: the parameter that holds its values."""


def columns(kinds: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[BigInts | Texts | Blobs]:
    """Rows as one array for each column."""
    return [
        ARRAYS[kind](column) for kind, column in zip(kinds, zip(*rows, strict=True), strict=True)
    ]


def _header(element: int, count: int) -> bytes:
    return _HEADER.pack(1, 0, element, count, 1) if count else struct.pack(">iiI", 0, 0, element)


def _run(element: int, values: Iterable[bytes], count: int) -> bytes:
    parts = [_header(element, count)]
    for value in values:
        parts.append(_LENGTH.pack(len(value)))
        parts.append(value)
    return b"".join(parts)


class _BigIntsDumper(Dumper):
    format = Format.BINARY
    oid = 1016

    def dump(self, obj: BigInts) -> bytes:
        values = np.empty(len(obj), _INT8)
        values["length"] = 8
        values["value"] = obj
        return _header(20, len(obj)) + values.tobytes()


class _TextsDumper(Dumper):
    format = Format.BINARY
    oid = 1009

    def dump(self, obj: Texts) -> bytes:
        return _run(25, (value.encode() for value in obj), len(obj))


class _BlobsDumper(Dumper):
    format = Format.BINARY
    oid = 1001

    def dump(self, obj: Blobs) -> bytes:
        return _run(17, obj, len(obj))


def register(connection: psycopg.Connection[Any]) -> None:
    """Have a connection understand these parameters."""
    connection.adapters.register_dumper(BigInts, _BigIntsDumper)
    connection.adapters.register_dumper(Texts, _TextsDumper)
    connection.adapters.register_dumper(Blobs, _BlobsDumper)
