"""The protocol of analyzers, which turn text into terms; `text.tokenized` has a base class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from memoriter.core.words import RecordWords


class Analyzer(Protocol):
    """Turns text into terms. Pure; equal fingerprints mean equal output on any machine."""

    @property
    def name(self) -> str:
        """The name that recipes use."""
        ...

    @property
    def about(self) -> str:
        """One line for people: what it does with words."""
        ...

    @property
    def fingerprint(self) -> str:
        """`NAME-words/`, then a digest of everything that determines its output.

        The name lets a store load the analyzer of the words that it keeps without loading others.
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

        With `prefix` the last word is an incomplete one: its term is a prefix of index terms.
        """
        ...
