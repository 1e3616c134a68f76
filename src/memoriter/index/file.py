"""The bytes of a segment: how its arrays are laid out, named and checked.

`upkeep` encodes segments and puts them into a home (`store.segments`), `TenantIndex` decodes what
it opens there. A segment can be deleted at any time, since everything in it follows from the log.

Layout: 8 bytes magic, u64 length of the header, its checksum, header (JSON: span of the log,
tenant, index; dtype, shape, offset and checksum of each array), then the arrays, each at a multiple
of 64 bytes; of a column whose rows are all equal, one value. Some arrays are as narrow as their
numbers allow (`_NARROW`). The name ends in the hash of the header, which covers everything in the
segment, so no other can take its place.

A small segment is checked when it is opened. Of a large one each array is checked on first use, and
vectors block by block, so that opening it does not read it whole (`index/checked.py`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.canonical import SUM_BYTES, checksum
from memoriter.core.errors import Corrupt, NotFound
from memoriter.core.lazy_dataclass import dataclass
from memoriter.index.checked import BLOCK_SUMS, VECTORS, MappedArray, MappedArrays, block_sums
from memoriter.index.columns import PLAIN_COLUMNS, Arrays
from memoriter.index.segment import Segment
from memoriter.index.vector_stream import VectorStream
from memoriter.store.port import SegmentRef
from memoriter.store.segments import SUFFIX, Blob, Segments, owned_prefix

_MAGIC: Final = b"MEMOSEG3"
_ALIGN: Final = 64
_REBUILT: Final = "no memory is lost; `memoriter doctor` rebuilds the index"
_LENGTH: Final = 16
"""Offset at which the length of the header ends and its checksum begins."""
_PREFIX: Final = _LENGTH + SUM_BYTES
_HASH_DIGITS: Final = 32
_NARROW: Final = frozenset(
    {"born", "places", "places.starts", "postings.starts", "surfaces.docs", "surfaces.starts",
     "vectors.seqs"}
)  # fmt: skip
"""Whole numbers that no kernel reads, so that their width does not matter."""
_OFFSETS: Final = ".at"
"""So end the names of the offsets of dictionaries, which are narrow too."""
Stored = NDArray[Any] | VectorStream
"""An array of a segment that is written."""
CHECKED_AT_ONCE: Final = 32 * 1024**2
"""A segment of up to this many bytes is checked whole when it is opened."""


@dataclass(frozen=True, slots=True)
class IndexOwner:
    """Whose segments: the tenant, and the fingerprint of the index."""

    tenant: str
    index: str


def save_segment(segment: Segment, home: Segments, owner: IndexOwner) -> SegmentRef:
    """Put a segment into a home, durably; returns what a manifest lists it as."""
    header, blobs = _layout(segment, segment.stored_arrays(), owner)
    span = f"{segment.first}-{segment.last}"
    name = f"{owned_prefix(owner.tenant)}-{span}-{_content_hash(header)}{SUFFIX}"
    home.put(owner.tenant, name, _parts(header, blobs))
    return SegmentRef(name, segment.first, segment.last, len(segment))


def _content_hash(header: bytes) -> str:
    return hashlib.sha256(header).hexdigest()[:_HASH_DIGITS]


def _hashed(tenant: str) -> str:
    return hashlib.sha256(tenant.encode()).hexdigest()


def _parts(header: bytes, blobs: list[tuple[int, Stored]]) -> Iterator[Blob]:
    """The bytes of a segment in order, with zeros up to each offset."""
    at = _PREFIX + len(header)
    yield _MAGIC + len(header).to_bytes(8, "little") + checksum(header) + header
    for offset, array in blobs:
        yield bytes(offset - at)
        yield from map(_bytes, array.blocks() if isinstance(array, VectorStream) else (array,))
        at = offset + array.nbytes


def _bytes(array: NDArray[Any]) -> memoryview:
    """The bytes of a contiguous array, without a copy."""
    return array.reshape(-1).view(np.uint8).data


def _layout(
    segment: Segment, arrays: Arrays, owner: IndexOwner
) -> tuple[bytes, list[tuple[int, Stored]]]:
    contents = {name: _contiguous(name, array) for name, array in arrays.items()}
    vectors = contents[VECTORS]
    blocks = vectors.blocks() if isinstance(vectors, VectorStream) else (vectors,)
    contents[BLOCK_SUMS] = np.concatenate(
        [block_sums(memoryview(b""))] + [block_sums(_bytes(each)) for each in blocks]
    )
    plain = {name: each for name, each in contents.items() if isinstance(each, np.ndarray)}
    sums = {name: checksum(_bytes(array)).hex() for name, array in plain.items() if name != VECTORS}
    sums[VECTORS] = sums[BLOCK_SUMS]  # vectors have a checksum for each block, and no other
    sizes = {name: -(-array.nbytes // _ALIGN) * _ALIGN for name, array in contents.items()}
    identity: dict[str, object] = {
        "first": segment.first,
        "last": segment.last,
        "tenant": _hashed(owner.tenant),
        "index": owner.index,
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
                "shape": arrays.get(name, array).shape,
                "offset": offsets[name],
                "sum": sums[name],
                "shortened": array.size < arrays.get(name, array).size,
            }
            for name, array in contents.items()
        }
        header = json.dumps({**identity, "arrays": listed}).encode()
        need = -(-(_PREFIX + len(header)) // _ALIGN) * _ALIGN
        if need <= start:
            header = header.ljust(start - _PREFIX)
            return header, [(offsets[name], array) for name, array in contents.items()]
        start = need


def _contiguous(name: str, array: NDArray[Any] | VectorStream) -> Stored:
    """An array as a file has it; vectors that are streamed stay so."""
    if isinstance(array, VectorStream):
        return array
    return np.ascontiguousarray(_narrowed(name, _shortened(name, array)))


def _narrowed(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """The array in the least bytes that hold its numbers, if it is one that may be narrow."""
    if (name in _NARROW or name.endswith(_OFFSETS)) and array.size:
        most = int(array.max())
        for kind in (np.uint16, np.uint32):
            if most <= np.iinfo(kind).max:
                return array.astype(kind)
    return array


def _shortened(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """The array, or its first value if it is a column with that value in every row."""
    if name not in PLAIN_COLUMNS or array.size <= 1:
        return array
    # Compared as integers: an absent number is NaN, which does not equal itself.
    bits = np.ascontiguousarray(array).view(f"u{array.itemsize}")
    return array[:1] if bool((bits == bits[0]).all()) else array


def load_segment(
    home: Segments, ref: SegmentRef, owner: IndexOwner, *, whole: bool = False
) -> Segment:
    """Open a segment; with `whole`, every byte of it is checked now, however large it is.

    Raises Corrupt if it is missing, or if a checksum, the name, the span of the log or the owner
    does not match. If it was a copy that is damaged, it is fetched again first.
    """
    try:
        return _loaded(home, ref, owner, whole=whole)
    except Corrupt:
        if not home.discard_copy(owner.tenant, ref.name):
            raise
    return _loaded(home, ref, owner, whole=whole)


def _loaded(home: Segments, ref: SegmentRef, owner: IndexOwner, *, whole: bool) -> Segment:
    try:
        data = memoryview(home.open(owner.tenant, ref.name))
        header = _header(data, ref.name)
        arrays = MappedArrays(ref.name, {n: _array(data, e) for n, e in header["arrays"].items()})
        if whole or len(data) <= CHECKED_AT_ONCE:
            arrays.check()
        segment = Segment(header["first"], header["last"], arrays)
        whose = header["tenant"], header["index"]
    except (OSError, ValueError, KeyError, TypeError, NotFound) as error:
        raise Corrupt(f"index segment {ref.name} cannot be read: {error}", hint=_REBUILT) from error
    if (ref.first, ref.last) != (segment.first, segment.last):
        raise Corrupt(
            f"index segment {ref.name} is listed for the log entries {ref.first} to {ref.last}, but"
            " contains other entries",
            hint=_REBUILT,
        )
    if whose != (_hashed(owner.tenant), owner.index):
        raise Corrupt(f"index segment {ref.name} belongs to another tenant or index", hint=_REBUILT)
    return segment


def _header(data: memoryview, name: str) -> dict[str, Any]:
    if bytes(data[:8]) != _MAGIC:
        raise ValueError("it is not a segment file")
    size = int.from_bytes(data[8:_LENGTH], "little")
    header = bytes(data[_PREFIX : _PREFIX + size])
    if checksum(header) != bytes(data[_LENGTH:_PREFIX]):
        raise ValueError("its header does not match the checksum")
    if name.removesuffix(SUFFIX).rpartition("-")[2] != _content_hash(header):
        raise ValueError("its content does not match the hash in its name")
    return cast("dict[str, Any]", json.loads(header))


def _array(view: memoryview, entry: dict[str, Any]) -> MappedArray:
    dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
    shortened = bool(entry["shortened"])
    count = 1 if shortened else int(np.prod(shape, dtype=np.int64))
    blob = view[entry["offset"] : entry["offset"] + count * dtype.itemsize]
    array = np.frombuffer(blob, dtype)
    array = np.broadcast_to(array, shape) if shortened else array.reshape(shape)
    return MappedArray(array, blob, bytes.fromhex(entry["sum"]))
