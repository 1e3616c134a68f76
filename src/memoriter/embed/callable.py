"""The caller's own function: texts in, vectors out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import iscoroutinefunction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core import names
from memoriter.core.errors import InputError, message_of
from memoriter.embed.answers import checked, placed, told
from memoriter.embed.port import Side

Embed = Callable[[list[str]], object]
"""A list of texts in; a list of vectors, or an array of them, out."""
LARGEST: Final = 65_536
"""Numbers of the longest vector."""
_PROBE: Final = "a text"
_TABLE: Final = 2
"""Dimensions of an array of vectors."""


class FunctionEmbedder:
    """Embeds with a function: a list of texts in, a list of vectors or an array out.

    The vectors may have any length but zero; they are brought to unit length. The name stands for
    the space: give another name to a function that answers differently.

    Without a dimension the function is asked once for the vector of a short text.

    >>> letters = FunctionEmbedder(
    ...     lambda texts: [[t.count("a"), t.count("b")] for t in texts], "ab", 2
    ... )
    >>> [None if v is None else v.tolist() for v in letters.embed(["b", "ccc"], "record")]
    [[0.0, 1.0], None]
    """

    def __init__(
        self,
        function: Embed,
        name: str | None = None,
        dimension: int | None = None,
        window: int | None = None,
    ) -> None:
        if not callable(function):
            raise InputError("embedder: expected a function of a list of texts", field="embedder")
        if iscoroutinefunction(function):
            raise InputError(
                "embedder: the function is asynchronous",
                hint="give a plain one; it runs in a thread of its own",
                field="embedder",
            )
        own = getattr(function, "__name__", type(function).__name__).strip("<>")
        self._function = function
        self.name = names.name(own if name is None else name, "name", InputError)
        size = _length(function) if dimension is None else dimension
        self.dimension = names.integer(size, "dimension", 1, LARGEST, InputError)
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


def _length(function: Embed) -> int:
    """How many numbers the vectors of a function have: it is asked for one."""
    try:
        answer = np.asarray(function([_PROBE]), dtype=np.float64)
    except Exception as error:
        raise InputError(
            f"embedder: the function failed for a list of one text: {message_of(error)}",
            hint="it takes a list of texts and returns a list of vectors",
            field="embedder",
        ) from error
    if answer.ndim != _TABLE or answer.shape[0] != 1:
        raise InputError(
            f"embedder: for one text the function returned an array of shape {answer.shape}",
            hint="it takes a list of texts and returns a list of vectors, one for each",
            field="embedder",
        )
    return answer.shape[1]
