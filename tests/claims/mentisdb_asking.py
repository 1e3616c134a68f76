"""Asking the recipe mentisdb, and comparing scores."""

from __future__ import annotations

from typing import Any

from tests.claims.corpus import close
from tests.sound import sound

from memoriter.memory.facade import Memory
from memoriter.why.result import Result


def asked(memory: Memory, text: str, limit: int = 50, **ask: Any) -> list[tuple[str, float]]:
    return totals(memory.recall(text, limit, recipe="mentisdb", **ask))


def totals(result: Result) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in sound(result)]


def near(expected: list[tuple[str, float]]) -> list[tuple[str, Any]]:
    """MentisDB counts in 32 bits: its figures hold to 1e-4."""
    return close(expected, 1e-4)
