"""A reranker made from a function of the caller, which may ask a language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import iscoroutinefunction, signature

from memoriter.core import names
from memoriter.core.errors import InputError

RerankFunction = Callable[[str, list[str]], Sequence[float]]
"""Takes the query and a list of texts, returns one number per text, the largest for the best."""


class FunctionReranker:
    """Reranks with a function.

    The name identifies the scores in receipts: give another name to a function that scores
    differently. Raises InputError if the function has another signature or is asynchronous.

    >>> shorter = FunctionReranker(lambda query, texts: [-len(text) for text in texts], "shorter")
    >>> list(shorter.score("which?", ["long text", "text"]))
    [-9, -4]
    """

    def __init__(self, function: RerankFunction, name: str | None = None) -> None:
        if not callable(function):
            raise InputError(
                f"reranker: expected a function, got {type(function).__name__}",
                hint="write it as def rerank(query: str, texts: list[str]) -> list[float]",
                field="reranker",
            )
        if iscoroutinefunction(function):
            raise InputError(
                "reranker: the function is asynchronous",
                hint="give a plain function; it runs in a thread of its own",
                field="reranker",
            )
        if not _takes_two(function):
            raise InputError(
                "reranker: the function must take two arguments, a question and a list of texts",
                hint="write it as def rerank(query: str, texts: list[str]) -> list[float]",
                field="reranker",
            )
        own = getattr(function, "__name__", type(function).__name__)
        self._function = function
        self.name = names.name(own if name is None else name, "name", InputError)

    @property
    def fingerprint(self) -> str:
        """Identifies the reranker by its name."""
        return f"callable:{self.name}"

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """What the function returns, unchecked."""
        return self._function(query, list(texts))


def _takes_two(function: RerankFunction) -> bool:
    """Whether a function can be called with a query and texts; True if it has no signature."""
    try:
        parameters = signature(function)
    except (TypeError, ValueError):  # a compiled function
        return True
    try:
        parameters.bind("", [])
    except TypeError:
        return False
    return True
