"""What a reranker is: a question and texts in, one score each out. An effect, like an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


class Reranker(Protocol):
    """Reads texts next to a question. Equal fingerprints mean scores on one scale."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Names all that decides a score; never a key."""
        ...

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One finite score per text, in order; the best text has the greatest.

        It raises when it cannot answer. It may be called by several threads at once, and nobody
        may be waiting any more when it returns: see `rerank.call`.
        """
        ...


@runtime_checkable
class Hasty(Protocol):
    """A reranker that can be told how long somebody waits, and then lets go of what it holds."""

    def within(self, seconds: float) -> Reranker:
        """The same reranker for one question; it gives up by then."""
        ...
