"""The packaged static table: one vector per word piece; a text is the sum of its pieces.

Nothing to download, nothing to wait for: numpy alone. `static_en/NOTICE.md` says where the table
comes from.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from importlib import resources
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.core.canonical import canonical, digest
from memoriter.embed.port import Side
from memoriter.rank.units import units

_RULES: Final = 1
"""Version of the tokens and of the sum below; another number is another space."""
SHA256: Final = {
    "vectors.npy": "0b392ccbd10c04a8faa104bc016a916878df3c2fc8f5f48c33ec99f606a9b65e",
    "scales.npy": "75adeb0ff0fbaeba0f5dbf4e8f8cedaefcb89f6936dedf4469aa36c7020ec03b",
    "vocab.txt": "d712d6c73721b24078f4c0cb8ca6ca52625f53d4ab1956219b2d622416fda82c",
}
"""The files of the table."""

_DIMENSION: Final = 256
_LONGEST: Final = 24
"""Characters of the longest piece of a word."""
_WORDS: Final = re.compile(r"[^\W_]+")
# No mark is a word character, so every run of marks is inside such a stretch.
_STRETCH: Final = re.compile(r"[^\w\s!-~]{31,}")
_CACHED: Final = 65_536
_CACHED_LONGEST: Final = 64
_BATCH_TOKENS: Final = 4_096
"""Tokens summed at a time: it bounds the memory of a batch to about 10 MB."""


class StaticTable(NamedTuple):
    """The vectors of the pieces: row times scale."""

    rows: NDArray[np.int8]
    scales: NDArray[np.float32]
    entries: dict[str, int]
    """Each piece and its row; a piece inside a word begins with `##`."""


class _Holder:
    """The table of this process, read when first asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._table: StaticTable | None = None

    def get(self) -> StaticTable:
        table = self._table
        if table is None:
            with self._lock:
                table = self._table = self._table or _read()
        return table


def _read() -> StaticTable:
    folder = resources.files("memoriter.embed").joinpath("static_en")
    with folder.joinpath("vectors.npy").open("rb") as file:
        rows: NDArray[np.int8] = np.load(file, allow_pickle=False)
    with folder.joinpath("scales.npy").open("rb") as file:
        scales: NDArray[np.float16] = np.load(file, allow_pickle=False)
    names = folder.joinpath("vocab.txt").read_bytes().decode().removesuffix("\n").split("\n")
    return StaticTable(
        rows, scales.astype(np.float32), {name: row for row, name in enumerate(names)}
    )


_HOLDER: Final = _Holder()


def table() -> StaticTable:
    """The packaged table, read once per process."""
    return _HOLDER.get()


class _Pieces(dict[str, tuple[int, ...]]):
    """The rows of the pieces of a word, remembered."""

    def __missing__(self, word: str) -> tuple[int, ...]:
        entries = table().entries
        whole = entries.get(word)
        rows = tuple(_greedy(word, entries)) if whole is None else (whole,)
        if len(word) <= _CACHED_LONGEST:
            if len(self) >= _CACHED:
                self.clear()
            self[word] = rows
        return rows


def _greedy(word: str, entries: dict[str, int]) -> Iterator[int]:
    """The longest piece that fits, again and again; a character that begins none is skipped."""
    at = 0
    while at < len(word):
        mark = "##" if at else ""
        for end in range(min(len(word), at + _LONGEST), at, -1):
            row = entries.get(mark + word[at:end])
            if row is not None:
                yield row
                at = end
                break
        else:
            at += 1


def words(text: str) -> list[str]:
    """The words that the table knows a text by: lower case, no marks, letters and digits.

    >>> words("Café du_Monde, 1962")
    ['cafe', 'du', 'monde', '1962']
    """
    lower = text.lower()
    if not lower.isascii():
        # The normal form sorts the marks of a character, in time that grows with the square of
        # their number. All marks go, so those of endless runs may go before.
        if _STRETCH.search(lower):
            lower = _unmarked(lower)
        lower = _unmarked(unicodedata.normalize("NFKD", lower))
    return _WORDS.findall(lower)


def _unmarked(text: str) -> str:
    return "".join([character for character in text if not unicodedata.combining(character)])


class Static:
    """Embeds with the packaged table; it satisfies `Embedder` and is safe to share.

    >>> happy, joyful, nothing = Static().embed(["happy", "joyful", "…"], "record")
    >>> round(float(happy @ joyful), 2), nothing
    (0.46, None)
    """

    window: int | None = None
    """Words per part of a long text; None: texts stay whole."""
    timely = True
    """It cannot hang."""

    def __init__(self) -> None:
        self._pieces = _Pieces()
        self._fingerprint = (
            "static-en/1:" + digest("static-en", canonical([SHA256, _RULES])).hex()[:16]
        )

    @property
    def name(self) -> str:
        """What a person calls it."""
        return "static-en"

    @property
    def fingerprint(self) -> str:
        """Names the files of the table and the rules."""
        return self._fingerprint

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return _DIMENSION

    def tokens(self, text: str) -> list[int]:
        """The rows of the table that a text is the sum of, in the order of the text."""
        return list(chain.from_iterable(map(self._pieces.__getitem__, words(text))))

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text, in order, or None where no word is left; both sides are alike."""
        out: list[NDArray[np.float32] | None] = [None] * len(texts)
        batch: list[tuple[int, list[int]]] = []
        gathered = 0
        for nth, text in enumerate(texts):
            tokens = self.tokens(text)
            if not tokens:
                continue
            batch.append((nth, tokens))
            gathered += len(tokens)
            if gathered >= _BATCH_TOKENS:
                _embed_batch(batch, out)
                batch, gathered = [], 0
        _embed_batch(batch, out)
        return out


def _embed_batch(
    batch: Sequence[tuple[int, list[int]]], out: list[NDArray[np.float32] | None]
) -> None:
    if not batch:
        return
    vectors = units(sums([tokens for _, tokens in batch]))
    for (nth, _), vector in zip(batch, vectors, strict=True):
        if vector.any():
            out[nth] = vector.copy()


def sums(texts: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """The exact sum of row times scale over the tokens of each text; no text may be empty.

    A scale is a float16, so a multiple of 2^-24, here below 2^-7; a row holds 8-bit integers. A
    product has 8 + 11 significant bits: a float32 holds it. It is a multiple of 2^-24 below 1, so
    a float64 holds the sum of 2^29 of them. Nothing is ever rounded: any order gives these bits.
    """
    rows, scales, _ = table()
    ids = np.fromiter(chain.from_iterable(texts), np.intp)
    begins = np.cumsum([0, *map(len, texts[:-1])])
    out = np.zeros((len(texts), _DIMENSION))
    for begin in range(0, len(ids), _BATCH_TOKENS):
        some = ids[begin : begin + _BATCH_TOKENS]
        # The texts that have a token among these: the one that holds the first, and those after.
        first = int(np.searchsorted(begins, begin, side="right")) - 1
        last = int(np.searchsorted(begins, begin + len(some), side="left"))
        starts = np.maximum(begins[first:last] - begin, 0)
        products = rows[some] * scales[some, np.newaxis]
        out[first:last] += np.add.reduceat(products, starts, axis=0, dtype=np.float64)
    return out
