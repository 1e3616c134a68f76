"""The caller's own function: a question and texts in, scores out. A language model may judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import iscoroutinefunction, signature

from memoriter.core import names
from memoriter.core.errors import InputError

Judge = Callable[[str, list[str]], Sequence[float]]
"""A question and a list of texts in; one number per text out, the greatest for the best."""


class FunctionReranker:
    """Reranks with a function. The name stands for the scores: give each version its own.

    >>> shorter = FunctionReranker(lambda query, texts: [-len(text) for text in texts], "shorter")
    >>> list(shorter.score("which?", ["long text", "text"]))
    [-9, -4]
    """

    def __init__(self, function: Judge, name: str | None = None) -> None:
        if not callable(function):
            raise InputError(
                "reranker: expected a function of a question and a list of texts", field="reranker"
            )
        if iscoroutinefunction(function):
            raise InputError(
                "reranker: the function is asynchronous",
                hint="give a plain one; it runs in a thread of its own",
                field="reranker",
            )
        if not _takes_two(function):
            raise InputError(
                "reranker: the function does not take a question and a list of texts",
                hint="def rerank(query: str, texts: list[str]) -> list[float]",
                field="reranker",
            )
        own = getattr(function, "__name__", type(function).__name__)
        self._function = function
        self.name = names.name(own if name is None else name, "name", InputError)

    @property
    def fingerprint(self) -> str:
        """One scale per name."""
        return f"callable:{self.name}"

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """What the function answers."""
        return self._function(query, list(texts))


def _takes_two(function: Judge) -> bool:
    """Whether a function can be called with a question and texts; where nobody can tell, yes."""
    try:
        shape = signature(function)
    except (TypeError, ValueError):  # of a compiled function
        return True
    try:
        shape.bind("", [])
    except TypeError:
        return False
    return True
