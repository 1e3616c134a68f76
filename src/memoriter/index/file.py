"""Segment files: written once, fsynced, memory-mapped; damaged ones are refused.

`upkeep` saves them, `TenantIndex` loads them. A file can be deleted at any time, since everything
in it follows from the log.

Layout: 8 bytes magic, u64 length of the header, its checksum, header (JSON: span of the log,
tenant, index; dtype, shape, offset and checksum of each array), then the arrays, each at a multiple
of 64 bytes. The file name ends in the checksum of the header, which covers everything in the file,
so no other file can take its place.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import secrets
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.canonical import SUM_BYTES, checksum
from memoriter.core.errors import Corrupt
from memoriter.index.columns import Arrays
from memoriter.index.segment import Segment
from memoriter.store.fsync import fsync_folder

_MAGIC: Final = b"MEMOSEG1"
_ALIGN: Final = 64
_LENGTH: Final = 16
"""Offset at which the length of the header ends and its checksum begins."""
_PREFIX: Final = _LENGTH + SUM_BYTES


IndexOwner = tuple[str, str]
"""The tenant, and the fingerprint of the index."""


def save_segment(segment: Segment, folder: Path, owner: IndexOwner) -> str:
    """Write a segment to a new file, durably; returns the name of the file.

    On an OSError the file is removed and the error raised.
    """
    arrays = {**segment.arrays, "ends": segment.ends}
    header, blobs = _layout(segment, arrays, owner)
    # The random part keeps a new file from taking the name of one that others have mapped.
    stem = f"{_hashed(owner[0])[:8]}-{segment.first}-{segment.last}-{secrets.token_hex(4)}"
    path = folder / f"{stem}-{checksum(header).hex()}.seg"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        _write(handle, header, blobs)
        fsync_folder(folder)  # the file's name too must survive a power cut
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return path.name


def _hashed(tenant: str) -> str:
    return hashlib.sha256(tenant.encode()).hexdigest()


def _write(handle: int, header: bytes, blobs: list[tuple[int, bytes]]) -> None:
    with os.fdopen(handle, "wb") as out:
        length = len(header).to_bytes(8, "little")
        out.write(_MAGIC + length + checksum(header) + header)
        for offset, blob in blobs:
            out.seek(offset)
            out.write(blob)
        out.truncate(max(out.tell(), _PREFIX + len(header)))
        out.flush()
        os.fsync(out.fileno())


def _layout(
    segment: Segment, arrays: Arrays, owner: IndexOwner
) -> tuple[bytes, list[tuple[int, bytes]]]:
    contents = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    blobs = {name: array.tobytes() for name, array in contents.items()}
    sizes = {name: -(-len(blob) // _ALIGN) * _ALIGN for name, blob in blobs.items()}
    identity: dict[str, object] = {
        "first": segment.first,
        "last": segment.last,
        "tenant": _hashed(owner[0]),
        "index": owner[1],
    }
    start = 0
    listed: dict[str, object]
    # Offsets are written in the header as decimals, so its length depends on them, and they depend
    # on its length: repeat until the header fits.
    while True:
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
        header = json.dumps({**identity, "arrays": listed}).encode()
        need = -(-(_PREFIX + len(header)) // _ALIGN) * _ALIGN
        if need <= start:
            header = header.ljust(start - _PREFIX)
            return header, [(offsets[name], blob) for name, blob in blobs.items()]
        start = need


def load_segment(
    path: Path, span: tuple[int, int] | None = None, owner: IndexOwner | None = None
) -> Segment:
    """Map a segment file.

    Raises Corrupt if a checksum, the file name, the span of the log or the owner does not match.
    """
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        header = _header(data, path.stem)
        segment = _segment(data, header)
        whose = header["tenant"], header["index"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Corrupt(f"segment {path.name} cannot be read: {error}") from error
    if span not in (None, (segment.first, segment.last)):
        raise Corrupt(f"segment {path.name} holds another part of the log than it should")
    if owner is not None and whose != (_hashed(owner[0]), owner[1]):
        raise Corrupt(f"segment {path.name} belongs to another tenant or index")
    return segment


def _header(data: mmap.mmap, name: str) -> dict[str, Any]:
    if data[:8] != _MAGIC:
        raise ValueError("not a segment")
    size = int.from_bytes(data[8:_LENGTH], "little")
    header = data[_PREFIX : _PREFIX + size]
    computed = checksum(header)
    if computed != data[_LENGTH:_PREFIX]:
        raise ValueError("the header does not match its checksum")
    if name.rpartition("-")[2] != computed.hex():
        raise ValueError("it is not the file that its name says")
    return cast("dict[str, Any]", json.loads(header))


def _segment(data: mmap.mmap, header: dict[str, Any]) -> Segment:
    view = memoryview(data)
    arrays: Arrays = {name: _array(view, name, entry) for name, entry in header["arrays"].items()}
    return Segment(header["first"], header["last"], arrays)


def _array(view: memoryview, name: str, entry: dict[str, Any]) -> NDArray[np.generic]:
    dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
    count = int(np.prod(shape, dtype=np.int64))
    blob = view[entry["offset"] : entry["offset"] + count * dtype.itemsize]
    if checksum(blob).hex() != entry["sum"]:
        raise ValueError(f"array {name} does not match its checksum")
    return np.frombuffer(blob, dtype).reshape(shape)
