"""An embedder made from a function of the caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import iscoroutinefunction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core import names
from memoriter.core.errors import InputError, message_of
from memoriter.embed.answers import checked_vectors, place_vectors, prepare_texts
from memoriter.embed.port import Side

EmbedFunction = Callable[[list[str]], object]
"""Takes a list of texts, returns a list of vectors or a two-dimensional array."""
LARGEST: Final = 65_536
"""The largest dimension."""
_PROBE: Final = "a text"
_SHAPE: Final = "the function takes a list of texts and returns a list of vectors, one per text"
_TABLE: Final = 2
"""Dimensions of an array of vectors."""


class FunctionEmbedder:
    """Embeds with a function that takes a list of texts and returns their vectors.

    Vectors are scaled to unit length; a zero vector counts as none. The name identifies the
    space: give another name to a function that embeds differently. Without a dimension the
    function is called once with a short text. Raises InputError if the function cannot be used.

    >>> letters = FunctionEmbedder(
    ...     lambda texts: [[t.count("a"), t.count("b")] for t in texts], "ab", 2
    ... )
    >>> [None if v is None else v.tolist() for v in letters.embed(["b", "ccc"], "record")]
    [[0.0, 1.0], None]
    """

    def __init__(
        self,
        function: EmbedFunction,
        name: str | None = None,
        dimension: int | None = None,
        window: int | None = None,
    ) -> None:
        if not callable(function):
            raise InputError(
                f"embedder: expected a function, got {type(function).__name__}",
                hint=_SHAPE,
                field="embedder",
            )
        if iscoroutinefunction(function):
            raise InputError(
                "embedder: the function is asynchronous",
                hint="give a plain function; it runs in a thread of its own",
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
        """Words per part of a long text; None: texts are not split."""

    @property
    def fingerprint(self) -> str:
        """Identifies the space by name and dimension."""
        return f"callable:{self.name}:{self.dimension}"

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text, in order; None for a blank text or a zero vector.

        Raises what the function raises, or InputError if it returns something else than vectors.
        """
        del side
        at, prepared = prepare_texts(texts, "")
        if not prepared:
            return [None] * len(texts)
        answer = self._function(prepared)
        try:
            table = checked_vectors(answer, len(prepared), self.dimension)
        except ValueError as wrong:
            raise InputError(
                f"embedder {self.name}: {wrong}", hint=_SHAPE, field="embedder"
            ) from None
        return place_vectors(table, at, len(texts))


def _length(function: EmbedFunction) -> int:
    """The dimension of a function's vectors, learned from the vector of a probe text."""
    try:
        answer = np.asarray(function([_PROBE]), dtype=np.float64)
    except Exception as error:
        raise InputError(
            f"embedder: the function failed for a list of one text: {message_of(error)}",
            hint=_SHAPE,
            field="embedder",
        ) from error
    if answer.ndim != _TABLE or answer.shape[0] != 1:
        raise InputError(
            f"embedder: for one text the function returned an array of shape {answer.shape}",
            hint=_SHAPE,
            field="embedder",
        )
    return answer.shape[1]
