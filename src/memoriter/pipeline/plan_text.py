"""Formats the lines of a plan for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from memoriter.core.ranking import Attempt


def attempt_text(attempt: Attempt) -> str:
    """One retry of a lane, with its number of hits."""
    query = "" if attempt.query is None else f" {attempt.query!r}"
    return f"then {attempt.name}{query}: {attempt.hits}"


def step_text(shows: Mapping[str, object]) -> str:
    """The options of a step in one line."""
    return ", ".join(f"{key} {_short(value)}" for key, value in shows.items())


def _short(value: object) -> str:
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return "{" + ", ".join(f"{key} {_short(item)}" for key, item in pairs) + "}"
    if isinstance(value, list):
        return " ".join(map(str, cast("list[object]", value)))
    return f"{value:g}" if isinstance(value, float) else str(value)
