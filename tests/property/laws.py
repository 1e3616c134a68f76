"""Declares a law so that another test can run it too: with other counts, in another home."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

_DECLARED: dict[str, tuple[Callable[..., None], tuple[SearchStrategy[Any], ...]]] = {}


def law(*drawn: SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `given`; `run_law` runs it again."""

    def declare(body: Callable[..., None]) -> Callable[..., None]:
        _DECLARED[body.__name__] = (body, drawn)
        return given(*drawn)(body)

    return declare


def run_law(name: str, examples: int) -> None:
    """Run a law with a number of examples; its own test keeps its own number."""
    body, drawn = _DECLARED[name]
    settings(max_examples=examples)(given(*drawn)(body))()
