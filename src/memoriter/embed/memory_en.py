"""The packaged model of meaning: a small transformer that was trained for memories.

Its files are `memory_en/`, of which `NOTICE.md` tells the origin; `embed.transformer` has its
arithmetic, which gives the same bits on every machine.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import resources
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import Corrupt
from memoriter.embed.port import Side
from memoriter.embed.static import mapped_array
from memoriter.embed.transformer import (
    LONGEST,
    WIDTH,
    Transformer,
    Weights,
    exponentials,
    normal_shares,
)
from memoriter.embed.word_pieces import SIZE, WordPieces
from memoriter.kernel.calls import transformed
from memoriter.kernel.library import native_library
from memoriter.rank.units import units

NAME: Final = "memory-en"
SHA256: Final = {
    "words.npy": "9850b1cfbf039b3c0b7f4c82f05953cc37d406caa1e73b7611c541f9ba410cc1",
    "layers.npy": "39d9bf6f6cbe49b90328314a8a6711f92eb9b96d488e7bc13956000f7120965a",
    "numbers.npy": "599600bbb9ad716dea2a53dd3f0149166f070eea9608195bdf1ddd9b01220e42",
}
"""The checksums of the model's files; they are part of the fingerprint."""
_RULES: Final = 1
"""Version of the tokenizer and the arithmetic. Part of the fingerprint."""
_WINDOW: Final = 128
"""Words per part of a long text: a word has one and a half tokens, rarely two."""


class LoadedModel:
    """The model of this process, read on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: Transformer | None = None
        self._weights: Weights | None = None

    def weights(self) -> Weights:
        """Its arrays, mapped; raises Corrupt if they cannot be read."""
        if self._weights is None:
            folder = resources.files("memoriter.embed").joinpath("memory_en")
            try:
                arrays = [mapped_array(folder.joinpath(name)) for name in SHA256]
            except (OSError, ValueError, EOFError) as error:
                raise Corrupt(
                    f"the packaged model cannot be read ({type(error).__name__}: {error})",
                    hint="install memoriter again",
                ) from error
            weights = Weights(*arrays)
            if not weights.fit(SIZE):
                raise Corrupt(
                    "the packaged model cannot be read (arrays of other sizes)",
                    hint="install memoriter again",
                )
            self._weights = weights
        return self._weights

    def transformer(self) -> Transformer:
        """What computes with them in numpy."""
        with self._lock:  # its weights in float32 must not be made twice
            if self._made is None:
                self._made = Transformer(self.weights())
            return self._made


LOADED: Final = LoadedModel()


class MemoryModel:
    """Embeds with the packaged model; satisfies `Embedder`. Thread-safe.

    Its vectors are bytes times one number a vector, which gives them unit length (`in_bytes`).
    Raises Corrupt if the files of the model cannot be read.
    """

    window = _WINDOW
    timely = True
    """It cannot hang, so `embed.call` needs no thread."""
    in_bytes = True
    """A vector is kept in one byte a number."""
    fills_later = True
    """Many records are written without waiting for it; upkeep fills their vectors."""

    def __init__(self) -> None:
        LOADED.weights()  # mapped, not read: who opens a store is told at once
        self._pieces = WordPieces()
        self._fingerprint = f"{NAME}/1:" + digest(NAME, canonical([SHA256, _RULES])).hex()[:16]

    @property
    def name(self) -> str:
        """The display name."""
        return NAME

    @property
    def fingerprint(self) -> str:
        """Identifies the files of the model and the arithmetic."""
        return self._fingerprint

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return WIDTH

    def cut(self, text: str) -> list[str]:
        """The parts of a text that is too dense for its number of words: a log, code, a table."""
        return self._pieces.cut(text, LONGEST - 2)

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text, in order, None for a text without a word; both sides alike."""
        del side
        tokens = [self._pieces.tokens(text, LONGEST) for text in texts]
        some = [each for each in tokens if each]
        if not some:
            return [None] * len(texts)
        made = iter(units(_codes(some).astype(np.float32)))
        return [next(made) if each else None for each in tokens]


def _codes(texts: Sequence[Sequence[int]]) -> NDArray[np.int8]:
    fast = native_library()
    if fast is None:
        return LOADED.transformer().vectors(texts)
    return transformed(fast, LOADED.weights(), (exponentials(), normal_shares()), texts)
