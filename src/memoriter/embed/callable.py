"""The caller's own function: texts in, vectors out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core import names
from memoriter.core.errors import InputError
from memoriter.embed.answers import checked, placed, told
from memoriter.embed.port import Side

LARGEST: Final = 65_536
"""Numbers of the longest vector."""


class Function:
    """Embeds with a function: a list of texts in, a list of vectors or an array out.

    The vectors may have any length but zero; they are brought to unit length. The name stands for
    the space: give another name to a function that answers differently.

    >>> letters = Function(lambda texts: [[t.count("a"), t.count("b")] for t in texts], "ab", 2)
    >>> [None if v is None else v.tolist() for v in letters.embed(["b", "ccc"], "record")]
    [[0.0, 1.0], None]
    """

    def __init__(
        self,
        function: Callable[[list[str]], object],
        name: str,
        dimension: int,
        window: int | None = None,
    ) -> None:
        if not callable(function):
            raise InputError("embedder: expected a function of a list of texts", field="embedder")
        self._function = function
        self.name = names.name(name, "name", InputError)
        self.dimension = names.integer(dimension, "dimension", 1, LARGEST, InputError)
        self.window = (
            None if window is None else names.integer(window, "window", 1, 2**31, InputError)
        )
        """Words per part of a long text; None: texts stay whole."""

    @property
    def fingerprint(self) -> str:
        """One space per name and dimension."""
        return f"callable:{self.name}:{self.dimension}"

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text, in order, or None for a blank text and for a vector of zeros."""
        del side
        at, asked = told(texts, "")
        if not asked:
            return [None] * len(texts)
        answer = self._function(asked)
        try:
            table = checked(answer, len(asked), self.dimension)
        except ValueError as wrong:
            raise InputError(f"embedder {self.name}: {wrong}", field="embedder") from None
        return placed(table, at, len(texts))
