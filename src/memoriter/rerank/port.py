"""The protocol that every reranker satisfies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


class Reranker(Protocol):
    """Scores texts for a query. Scores of rerankers with equal fingerprints are comparable."""

    @property
    def name(self) -> str:
        """The display name."""
        ...

    @property
    def fingerprint(self) -> str:
        """Identifies everything that determines a score; never holds a key."""
        ...

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One finite score per text, in order, the largest for the best text.

        Raises when it cannot answer. Several threads may call it at once, and the caller may have
        stopped waiting when it returns: see `rerank.call`.
        """
        ...


@runtime_checkable
class DeadlineAware(Protocol):
    """A reranker that can be given a deadline, so that it releases its resources in time."""

    def within(self, seconds: float) -> Reranker:
        """The same reranker for one call; its `score` raises after `seconds` at the latest."""
        ...
