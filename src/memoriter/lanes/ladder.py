"""An empty answer is asked for again, more loosely each time: six rungs, one search each.

The first rung that finds something wins; later ones do not run. Every attempt is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from memoriter.core.ranking import Attempt, Ranking


class Searcher(Protocol):
    """What the rungs need."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to find."""
        ...

    def found(self, text: str) -> Ranking:
        """What a text finds."""
        ...

    def strongest(self, text: str) -> str | None:
        """The one word of a text that says most."""
        ...

    def sanitised(self, text: str) -> str:
        """A text without anything that could be an operator."""
        ...

    def typed(self, text: str) -> list[str]:
        """The words of a text that may hold a typing error."""
        ...

    def near(self, words: list[str]) -> tuple[Ranking, tuple[str, ...]]:
        """Rows with a word that is spelled nearly like one of these; and those words."""
        ...


def climb(search: Searcher, text: str, *, loosely: bool) -> Ranking:
    """What a query finds; if nothing, and `loosely`, what the first rung above finds."""
    ranking = search.found(text)
    attempts = [Attempt(0, "initial", text, ranking.rows.size)]
    if loosely and not ranking.rows.size and not search.is_empty:
        for attempt, found in _rungs(search, text):
            attempts.append(attempt)
            if found is not None and found.rows.size:
                ranking = found
                break
    return replace(ranking, attempts=tuple(attempts))


def _rungs(search: Searcher, text: str) -> Iterator[tuple[Attempt, Ranking | None]]:
    strongest = search.strongest(text)
    if strongest is not None and strongest != text.strip().lower():
        yield _asked(search, 1, "strongest_term", strongest)
    # An index that is caught up on every read has nothing to refresh; the rung keeps its place.
    yield Attempt(2, "force-refresh", None, 0), None
    clean = search.sanitised(text)
    if clean:
        yield _asked(search, 3, "refreshed_sanitised", clean)
        strongest = search.strongest(clean)
        if strongest is not None:
            yield _asked(search, 4, "refreshed_strongest", strongest)
    words = search.typed(text)
    if words:
        found, near = search.near(words)
        yield Attempt(5, "trigram_fuzzy", " ".join(words), found.rows.size, near), found


def _asked(search: Searcher, rung: int, name: str, text: str) -> tuple[Attempt, Ranking]:
    found = search.found(text)
    return Attempt(rung, name, text, found.rows.size), found
