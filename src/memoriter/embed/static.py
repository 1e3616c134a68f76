"""The default embedder: a packaged table of one vector per word piece, summed over a text.

It needs no download and no model runtime, only numpy. `static_en/NOTICE.md` tells the origin of
the table; `embed.kin` uses the same table.
"""

from __future__ import annotations

import io
import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memoriter.core.canonical import canonical, digest
from memoriter.core.runs import runs_at
from memoriter.embed.port import Side, TokenTable
from memoriter.kernel.calls import token_sums, unit_rows
from memoriter.kernel.library import native_library
from memoriter.kernel.split import numbered_words
from memoriter.rank.units import units

_RULES: Final = 1
"""Version of the tokenizer and the sum below. Part of the fingerprint: a change changes vectors."""
SHA256: Final = {
    "vectors.npy": "0b392ccbd10c04a8faa104bc016a916878df3c2fc8f5f48c33ec99f606a9b65e",
    "scales.npy": "75adeb0ff0fbaeba0f5dbf4e8f8cedaefcb89f6936dedf4469aa36c7020ec03b",
    "vocab.txt": "d712d6c73721b24078f4c0cb8ca6ca52625f53d4ab1956219b2d622416fda82c",
}
"""The checksums of the table's files; they are part of the fingerprint."""

_DIMENSION: Final = 256
_LONGEST: Final = 24
"""Characters of the longest piece of a word."""
_WORDS: Final = re.compile(r"[^\W_]+")
_STRETCH: Final = re.compile(r"[^\w\s!-~]{31,}")
"""A long run of characters among which a long run of combining marks may be."""
_CACHED: Final = 65_536
"""Words whose pieces are cached."""
_CACHED_LONGEST: Final = 64
"""Characters of the longest word that is cached."""
_SHORT: Final = 2_048
"""Texts of so many characters together are cut into tokens one by one."""
_BATCH_TOKENS: Final = 4_096
"""Tokens summed at a time, which bounds the memory of a batch to about 10 MB."""


class StaticTable(NamedTuple):
    """The vectors of the word pieces; a vector is an integer row times its scale."""

    rows: NDArray[np.int8]
    scales: NDArray[np.float32]
    entries: dict[str, int]
    """Piece → row; a piece inside a word begins with `##`."""


class _Holder:
    """The table of this process, read on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._table: StaticTable | None = None
        self.failed = False
        """Whether the last attempt to read it failed."""

    def get(self) -> StaticTable:
        table = self._table
        if table is None:
            with self._lock:  # checked again inside: two threads must not both read the files
                try:
                    table = self._table = self._table or _read()
                except Exception:
                    self.failed = True
                    raise
                self.failed = False
        return table


def mapped_array(file: Traversable) -> NDArray[Any]:
    """The array of a packaged file: mapped, since a question reads a few of its rows."""
    if isinstance(file, Path):
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    return np.load(io.BytesIO(file.read_bytes()), allow_pickle=False)  # of a zipped package


def _read() -> StaticTable:
    folder = resources.files("memoriter.embed").joinpath("static_en")
    rows: NDArray[np.int8] = mapped_array(folder.joinpath("vectors.npy"))
    with folder.joinpath("scales.npy").open("rb") as file:
        scales: NDArray[np.float16] = np.load(file, allow_pickle=False)
    names = folder.joinpath("vocab.txt").read_bytes().decode().removesuffix("\n").split("\n")
    entries = dict(zip(names, range(len(names)), strict=True))
    return StaticTable(rows, scales.astype(np.float32), entries)


_HOLDER: Final = _Holder()


def table() -> StaticTable:
    """The packaged table, read once per process."""
    return _HOLDER.get()


def why_unreadable() -> str | None:
    """Why the packaged table cannot be read; None if it can."""
    try:
        table()
    except (OSError, ValueError, EOFError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def read_failed() -> bool:
    """Whether the packaged table could not be read when it was last tried; it is not tried now."""
    return _HOLDER.failed


class Pieces(dict[str, tuple[int, ...]]):
    """A cache: word → rows of its pieces."""

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
    """The rows of a word's pieces: always the longest that matches (WordPiece).

    A character at which no piece begins is skipped.
    """
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


def static_words(text: str) -> list[str]:
    """The words of a text as the table spells them: lower case, without accents.

    >>> static_words("Café du_Monde, 1962")
    ['cafe', 'du', 'monde', '1962']
    """
    return _WORDS.findall(folded(text))


def folded(text: str) -> str:
    """A text in lower case, without accents."""
    lower = text.lower()
    if not lower.isascii():
        # NFKD sorts the combining marks of a character in quadratic time, so a text with a very
        # long run of marks could block us. All marks are removed anyway: remove such runs first.
        if _STRETCH.search(lower):
            lower = _unmarked(lower)
        lower = _unmarked(unicodedata.normalize("NFKD", lower))
    return lower


def _unmarked(text: str) -> str:
    return "".join([character for character in text if not unicodedata.combining(character)])


class Static:
    """Embeds with the packaged table; satisfies `Embedder`. Thread-safe.

    >>> happy, joyful, nothing = Static().embed(["happy", "joyful", "…"], "record")
    >>> round(float(happy @ joyful), 2), nothing
    (0.46, None)
    """

    window: int | None = None
    """Words per part of a long text; None: texts are not split."""
    timely = True
    """It cannot hang, so `embed.call` needs no thread."""

    def __init__(self) -> None:
        self._pieces = Pieces()
        self._fingerprint = (
            "static-en/1:" + digest("static-en", canonical([SHA256, _RULES])).hex()[:16]
        )

    @property
    def name(self) -> str:
        """The display name."""
        return "static-en"

    @property
    def fingerprint(self) -> str:
        """Identifies the files of the table and the arithmetic."""
        return self._fingerprint

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return _DIMENSION

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text, in order; a token is a row of the table."""
        return list(chain.from_iterable(map(self._pieces.__getitem__, static_words(text))))

    def token_table(self, texts: Sequence[str]) -> TokenTable:
        """The tokens of many texts at once: each distinct word is cut into pieces once."""
        if sum(map(len, texts)) <= _SHORT:
            return self._one_by_one(texts)
        numbered = numbered_words(texts, static_words, linked=False)
        pieces = [self._pieces[word] for word in numbered.words]
        sizes = np.fromiter(map(len, pieces), np.int64, len(pieces))
        flat = np.fromiter(chain.from_iterable(pieces), np.uint16, int(sizes.sum()))
        each = sizes[numbered.numbers]
        owners = np.repeat(np.arange(len(texts)), numbered.counts)
        counts = np.bincount(owners, weights=each, minlength=len(texts)).astype(np.int64)
        first = (np.cumsum(sizes) - sizes)[numbered.numbers]
        return TokenTable(flat[runs_at(first, each)], counts)

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text, in order, None for one without known words.

        `side` makes no difference.
        """
        vectors = self.embed_tokens(self._one_by_one(texts))
        # A view would keep the vectors of all texts in memory.
        return [vector.copy() if vector.any() else None for vector in vectors]

    def _one_by_one(self, texts: Sequence[str]) -> TokenTable:
        """The tokens of texts, each by itself: quicker for a few short ones."""
        tokens = list(map(self.tokens, texts))
        counts = np.array([len(each) for each in tokens], np.int64)
        return TokenTable(np.fromiter(chain.from_iterable(tokens), np.uint16), counts)

    def embed_tokens(self, texts: TokenTable) -> NDArray[np.float32]:
        """A row for each text of which the tokens are known, zero for one without any."""
        if texts.tokens.size <= _BATCH_TOKENS:
            return _units(sums(texts.tokens, texts.counts))
        out = np.empty((texts.counts.size, _DIMENSION), np.float32)
        ends = np.cumsum(texts.counts)
        begin = 0
        while begin < len(out):
            # Texts of about `_BATCH_TOKENS` together, at least one.
            gathered = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, gathered + _BATCH_TOKENS)) + 1)
            some = texts.counts[begin:end]
            out[begin:end] = _units(sums(texts.tokens[gathered : gathered + int(some.sum())], some))
            begin = end
        return out


def _units(matrix: NDArray[np.float64]) -> NDArray[np.float32]:
    """Each row at unit length on the vector grid."""
    fast = native_library()
    if fast is None:
        return units(matrix)
    out, done = unit_rows(fast, matrix)
    if not done.all():
        out[~done] = units(matrix[~done])
    return out


def sums(tokens: NDArray[np.uint16], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The exact sum of row times scale over the tokens of each text: so many of `tokens` in turn.

    A scale is a float16 below 2^-7, so a multiple of 2^-24, and a row holds 8-bit integers. A
    product has 8 + 11 significant bits and is a multiple of 2^-24 below 1, so a float64 holds it,
    and the sum of up to 2^29 of them. No step rounds, so any order of the additions gives the same
    bits on any machine.
    """
    rows, scales, _ = table()
    fast = native_library()
    if fast is not None:
        return token_sums(fast, rows, scales, tokens, counts)
    ids = tokens.astype(np.intp)
    begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    out = np.zeros((counts.size, _DIMENSION))
    for begin in range(0, len(ids), _BATCH_TOKENS):
        batch = ids[begin : begin + _BATCH_TOKENS]
        # Texts first:last have a token in this batch; the first may have begun in an earlier one.
        first = int(np.searchsorted(begins, begin, side="right")) - 1
        last = int(np.searchsorted(begins, begin + len(batch), side="left"))
        bounds = (np.clip(begins[first : last + 1], begin, begin + len(batch)) - begin).tolist()
        wide, weights = rows[batch].astype(np.float64), scales[batch].astype(np.float64)
        # A product of matrices per text: five times as quick as one sum over ranges of all rows.
        for nth, (low, high) in enumerate(pairwise(bounds), first):
            out[nth] += weights[low:high] @ wide[low:high]
    return out
