"""Segments on disk: written once, fsynced, mapped; damaged ones are refused, never served.

A file is disposable: everything in it follows from the log. Layout: 8 bytes magic, u64 length of
the header, its checksum, header (JSON: stretch; dtype, shape, offset, checksum of arrays), then the
arrays, each at a multiple of 64 bytes.
"""

from __future__ import annotations

import json
import mmap
import os
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from recollect.core.canonical import SUM_BYTES, checksum
from recollect.core.errors import Corrupt
from recollect.index.columns import Arrays
from recollect.index.segment import Segment
from recollect.store.folder import sync_folder

_MAGIC: Final = b"RECOSEG1"
_ALIGN: Final = 64
_LENGTH: Final = 16
"""Where the length of the header ends, and its checksum begins."""
_PREFIX: Final = _LENGTH + SUM_BYTES


def save(segment: Segment, path: Path) -> None:
    """Write a segment to a new file and make sure that it stays."""
    arrays = {**segment.arrays, "ends": segment.ends}
    header, blobs = _layout(segment, arrays)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as out:
        length = len(header).to_bytes(8, "little")
        out.write(_MAGIC + length + checksum(header) + header)
        for offset, blob in blobs:
            out.seek(offset)
            out.write(blob)
        out.truncate(max(out.tell(), _PREFIX + len(header)))
        out.flush()
        os.fsync(out.fileno())
    sync_folder(path.parent)


def _layout(segment: Segment, arrays: Arrays) -> tuple[bytes, list[tuple[int, bytes]]]:
    contents = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    blobs = {name: array.tobytes() for name, array in contents.items()}
    sizes = {name: -(-len(blob) // _ALIGN) * _ALIGN for name, blob in blobs.items()}
    start = 0
    listed: dict[str, object]
    while True:  # offsets have digits, so the header's length depends on them: settle it
        offsets, at = {}, start
        for name, size in sizes.items():
            offsets[name] = at
            at += size
        listed = {
            name: {
                "dtype": array.dtype.str,
                "shape": array.shape,
                "offset": offsets[name],
                "sum": checksum(blobs[name]).hex(),
            }
            for name, array in contents.items()
        }
        stretch = {"first": segment.first, "last": segment.last, "arrays": listed}
        header = json.dumps(stretch).encode()
        need = -(-(_PREFIX + len(header)) // _ALIGN) * _ALIGN
        if need <= start:
            header = header.ljust(start - _PREFIX)
            return header, [(offsets[name], blob) for name, blob in blobs.items()]
        start = need


def load(path: Path, stretch: tuple[int, int] | None = None) -> Segment:
    """Map a segment, after every checksum, and the stretch it should hold, were checked."""
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        segment = _read(data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"segment {path.name} cannot be read: {error}") from error
    if stretch not in (None, (segment.first, segment.last)):
        raise Corrupt(f"segment {path.name} holds another stretch than it should")
    return segment


def _read(data: mmap.mmap) -> Segment:
    if data[:8] != _MAGIC:
        raise ValueError("not a segment")
    size = int.from_bytes(data[8:_LENGTH], "little")
    told = data[_PREFIX : _PREFIX + size]
    if checksum(told) != data[_LENGTH:_PREFIX]:
        raise ValueError("the header does not match its checksum")
    header = cast("dict[str, Any]", json.loads(told))
    arrays: Arrays = {}
    view = memoryview(data)
    for name, entry in header["arrays"].items():
        arrays[name] = _array(view, name, entry)
    return Segment(header["first"], header["last"], arrays)


def _array(view: memoryview, name: str, entry: dict[str, Any]) -> NDArray[np.generic]:
    dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
    count = int(np.prod(shape, dtype=np.int64))
    blob = view[entry["offset"] : entry["offset"] + count * dtype.itemsize]
    if checksum(blob).hex() != entry["sum"]:
        raise ValueError(f"array {name} does not match its checksum")
    return np.frombuffer(blob, dtype).reshape(shape)
