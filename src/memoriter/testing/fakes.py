"""Fakes of a clock, of randomness, and of an embedder and a reranker with faults to switch on."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memoriter.embed.port import Side
from memoriter.rank.grid import unit

START: Final = 1_790_000_000_000_000
"""The first time of a `HandClock`: a moment in September 2026."""
SECOND: Final = 1_000_000


class HandClock:
    """A clock that only `move` moves, also backwards."""

    def __init__(self, now: int = START) -> None:
        self.time = now

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return self.time

    def move(self, seconds: float) -> int:
        """Move the clock; returns the new time."""
        self.time += round(seconds * SECOND)
        return self.time


class CountedEntropy:
    """Pseudo-random bytes that are the same in every run."""

    def __init__(self, seed: str = "") -> None:
        self._seed = seed
        self._drawn = 0

    def draw(self, count: int) -> bytes:
        """The next bytes."""
        self._drawn += 1
        return hashlib.shake_256(f"{self._seed}/{self._drawn}".encode()).digest(count)


class ToyEmbedder:
    """An embedder with eight dimensions, by letters, and a switch that makes it fail.

    A text without a letter has no vector. Equal texts have equal vectors, close texts close ones.
    """

    name = "toy"
    fingerprint = "toy/1"
    dimension = 8

    def __init__(self) -> None:
        self.failing = False
        self.calls = 0

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text; both sides are alike."""
        del side
        self.calls += 1
        if self.failing:
            raise ConnectionError("the toy embedder was told to fail")
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> NDArray[np.float32] | None:
        counts = np.zeros(self.dimension)
        for letter in text.casefold():
            if letter.isalpha():
                counts[ord(letter) % self.dimension] += 1.0 if ord(letter) % 3 else -1.0
        return unit(counts)


class ToyReranker:
    """Scores a text by the words it shares with the question, and has three faults to switch on.

    `failing` makes it raise, `hanging` makes it wait until it is `released`, `answer` is what it
    answers instead of scores.
    """

    name = "toy"
    fingerprint = "toy-reranker/1"

    def __init__(self) -> None:
        self.failing = False
        self.hanging = False
        self.answer: Any = None
        self.released = threading.Event()
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def score(self, query: str, texts: Sequence[str]) -> Any:
        """Shared words, as a share of those of the question."""
        self.asked.append((query, tuple(texts)))
        if self.hanging:
            self.released.wait()
        if self.failing:
            raise ConnectionError("the toy reranker was told to fail")
        if self.answer is not None:
            return self.answer
        words = set(query.casefold().split())
        return [len(words & set(text.casefold().split())) / max(len(words), 1) for text in texts]
