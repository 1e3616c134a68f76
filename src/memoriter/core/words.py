"""The analysed words of one record version, and their binary encoding in the log (format 1).

An analyzer turns the text fields of a record into tokens. Of analyzers that were added to a store,
the log keeps the distinct stems, per field the stem and position of every token, the length of
every field, and the distinct surface words (typos are matched against whole words, not stems).

Layout, little endian:
    u8 format (1) · u8 flags (1 = wide, 2 = positions given) · u8 fields · u8 zero
    u32 terms · u32 surfaces · u32 bytes of terms · u32 bytes of surfaces
    per field: u32 tokens · u32 length
    terms, then surfaces: UTF-8, joined by a line feed
    per token, field by field: u16 (u32 when wide) ordinal of its term
    per token, if given: u16 (u32 when wide) position; else the n-th token stands at position n
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import Corrupt
from memoriter.core.lazy_dataclass import dataclass

_HEAD: Final = struct.Struct("<BBBBIIII")
_FORMAT: Final = 1
_WIDE: Final = 1
_PLACED: Final = 2
_NARROW_LIMIT: Final = 0xFFFF


@dataclass(frozen=True, slots=True)
class RecordWords:
    """The output of one analyzer for one record version."""

    terms: tuple[str, ...]
    """Distinct stems, sorted by code point; none holds a line feed."""
    surfaces: tuple[str, ...]
    """Distinct folded surface words, sorted by code point."""
    lengths: tuple[int, ...]
    """Length of each field, as BM25 counts it (stacked tokens do not lengthen a field)."""
    tokens: tuple[tuple[int, ...], ...]
    """For each field, the ordinals (in `terms`) of its tokens, in order."""
    positions: tuple[tuple[int, ...], ...] | None = None
    """For each field, the position of each token; None when the n-th token stands at n."""

    def counts(self) -> Iterator[tuple[str, int, int]]:
        """Yield (term, field, term frequency), by field, then in order of first occurrence."""
        for field, ordinals in enumerate(self.tokens):
            tally: dict[int, int] = {}
            for ordinal in ordinals:
                tally[ordinal] = tally.get(ordinal, 0) + 1
            for ordinal, tf in tally.items():
                yield self.terms[ordinal], field, tf

    def encode(self) -> bytes:
        """The bytes that are stored in the log."""
        terms = "\n".join(self.terms).encode()
        surfaces = "\n".join(self.surfaces).encode()
        ordinals = [ordinal for field in self.tokens for ordinal in field]
        places = [place for field in self.positions or () for place in field]
        largest = max(
            len(self.terms), max(places, default=0), max(map(len, self.tokens), default=0)
        )
        # One width for all numbers of a record: nearly every record fits into 16 bits.
        wide = largest > _NARROW_LIMIT
        flags = (_WIDE if wide else 0) | (_PLACED if self.positions is not None else 0)
        code = "I" if wide else "H"
        head = _HEAD.pack(
            _FORMAT, flags, len(self.tokens), 0,
            len(self.terms), len(self.surfaces), len(terms), len(surfaces),
        )  # fmt: skip
        sizes = [n for pair in zip(map(len, self.tokens), self.lengths, strict=True) for n in pair]
        return b"".join(
            (
                head,
                struct.pack(f"<{len(sizes)}I", *sizes),
                terms,
                surfaces,
                struct.pack(f"<{len(ordinals)}{code}", *ordinals),
                struct.pack(f"<{len(places)}{code}", *places),
            )
        )

    @classmethod
    def decode(cls, body: bytes) -> RecordWords:
        """Read what `encode` wrote; raises Corrupt."""
        try:
            return cls._decode(body)
        except (struct.error, UnicodeDecodeError, IndexError) as error:
            raise Corrupt(
                f"the word index of a record cannot be read: {error}",
                hint="run `memoriter doctor`, which rebuilds it",
            ) from error

    @classmethod
    def _decode(cls, body: bytes) -> RecordWords:
        form, flags, fields, _, n_terms, n_surfaces, t_bytes, s_bytes = _HEAD.unpack_from(body)
        if form != _FORMAT:
            raise _other_format(form)
        at = _HEAD.size
        sizes = struct.unpack_from(f"<{2 * fields}I", body, at)
        at += 8 * fields
        terms = _split(body[at : at + t_bytes], n_terms)
        at += t_bytes
        surfaces = _split(body[at : at + s_bytes], n_surfaces)
        at += s_bytes
        counts = sizes[0::2]
        code, width = ("I", 4) if flags & _WIDE else ("H", 2)
        total = sum(counts)
        tokens = _deal(struct.unpack_from(f"<{total}{code}", body, at), counts)
        positions = None
        if flags & _PLACED:
            at += total * width
            positions = _deal(struct.unpack_from(f"<{total}{code}", body, at), counts)
        return cls(terms, surfaces, sizes[1::2], tokens, positions)


@dataclass(frozen=True, slots=True)
class Sketch:
    """The same words as arrays, which is faster: for building an index."""

    terms: list[str]
    """Stems, in any order; one may come more than once."""
    surfaces: list[str]
    """Distinct surface words, in any order."""
    counts: tuple[int, ...]
    """Tokens per field."""
    lengths: tuple[int, ...]
    ordinals: NDArray[np.integer]
    """The term of every token, field by field."""
    places: NDArray[np.integer] | None
    """The position of every token; None when the n-th of a field stands at n."""

    @classmethod
    def of_words(cls, words: RecordWords) -> Sketch:
        """The words that an analyzer has just made."""
        return cls(
            list(words.terms),
            list(words.surfaces),
            counts=tuple(map(len, words.tokens)),
            lengths=words.lengths,
            ordinals=_flat(words.tokens),
            places=None if words.positions is None else _flat(words.positions),
        )

    @classmethod
    def of(cls, body: bytes) -> Sketch:
        """Read what `RecordWords.encode` wrote; raises Corrupt."""
        try:
            form, flags, fields, _, n_terms, n_surfaces, t_bytes, s_bytes = _HEAD.unpack_from(body)
            if form != _FORMAT:
                raise _other_format(form)
            at = _HEAD.size + 8 * fields
            sizes = struct.unpack_from(f"<{2 * fields}I", body, _HEAD.size)
            terms = body[at : at + t_bytes].decode().split("\n") if n_terms else []
            at += t_bytes
            surfaces = body[at : at + s_bytes].decode().split("\n") if n_surfaces else []
            at += s_bytes
            kind, total = np.dtype("<u4" if flags & _WIDE else "<u2"), sum(sizes[0::2])
            ordinals = np.frombuffer(body, kind, total, at)
            placed = flags & _PLACED
            places = np.frombuffer(body, kind, total, at + ordinals.nbytes) if placed else None
        except (struct.error, UnicodeDecodeError, ValueError) as error:
            raise Corrupt(
                f"the word index of a record cannot be read: {error}",
                hint="run `memoriter doctor`, which rebuilds it",
            ) from error
        return cls(
            terms,
            surfaces,
            counts=sizes[0::2],
            lengths=sizes[1::2],
            ordinals=ordinals,
            places=places,
        )


def _flat(lists: tuple[tuple[int, ...], ...]) -> NDArray[np.int64]:
    return np.fromiter(chain.from_iterable(lists), np.int64, sum(map(len, lists)))


def _other_format(form: int) -> Corrupt:
    return Corrupt(
        f"the word index of a record has format {form}; this version reads format {_FORMAT}",
        hint="use the version that wrote it, or run `memoriter doctor`, which rebuilds it",
    )


def _split(blob: bytes, count: int) -> tuple[str, ...]:
    parts = tuple(blob.decode().split("\n")) if count else ()
    if len(parts) != count:
        raise Corrupt(
            f"the word index of a record is damaged: {count} words expected, {len(parts)} read",
            hint="run `memoriter doctor`, which rebuilds it",
        )
    return parts


def _deal(flat: tuple[int, ...], counts: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    out: list[tuple[int, ...]] = []
    at = 0
    for count in counts:
        out.append(flat[at : at + count])
        at += count
    return tuple(out)
