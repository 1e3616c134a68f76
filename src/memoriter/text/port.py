"""What an analyzer is: it says which words a text has. Pure, deterministic, fingerprinted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from memoriter.core.words import RecordWords


class Analyzer(Protocol):
    """Turns text into terms. Equal fingerprints mean equal output, on any machine."""

    @property
    def name(self) -> str:
        """What a recipe calls it."""
        ...

    @property
    def about(self) -> str:
        """How it reads words, in a line for people."""
        ...

    @property
    def fingerprint(self) -> str:
        """`NAME-words/`, then what names everything that shapes its output.

        By the name a store finds the analyzer of words that it keeps, without loading the others.
        """
        ...

    @property
    def fields(self) -> tuple[str, ...]:
        """The text fields it analyses, in the order `RecordWords` keeps them."""
        ...

    def analyse(self, texts: Mapping[str, Sequence[str]]) -> RecordWords:
        """The words of a record, given the texts of each field (a list field has several)."""
        ...

    def terms(self, text: str) -> list[str]:
        """The distinct terms of a query, in the order of their first appearance."""
        ...

    def tokens(self, text: str, *, prefix: bool = False) -> list[tuple[str, int]]:
        """(term, position) of every token of a phrase; stacked tokens share a position.

        With `prefix` the last word is the beginning of one: its term is a beginning of terms.
        """
        ...
