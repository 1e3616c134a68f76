"""A changed search as text to copy: a Python call, a command, and its recipe as TOML."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Final, cast

from memoriter.core.options import declared
from memoriter.memory.options import SearchKwargs
from memoriter.pipeline.toml import to_toml
from memoriter.why.result import Result

_ELSEWHERE: Final = ("text", "tenant", "scope", "now", "limit")
"""Fields of a question that stand elsewhere in the call, or are of the moment it was asked."""
_PAIRS: Final = ("overrides", "lists")
"""Options whose flag takes `name=JSON`."""


def spelled_override(result: Result, overrides: Mapping[str, object]) -> dict[str, str]:
    """How somebody asks the same with these overrides."""
    asked = cast("Mapping[str, object]", result.receipt.body["query"])
    text, limit = str(asked["text"]), asked["limit"]
    recipe = result.plan.recipe
    options = {"recipe": recipe.name, "overrides": dict(overrides), **_options(asked)}
    words = ["memoriter", "recall", "--limit", str(limit)]
    for name, value in options.items():
        words += _flags(name, value)
    python = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return {
        "python": f"memory.recall({text!r}, {limit}, {python})",
        "command": shlex.join([*words, "--", text]),
        "toml": to_toml(recipe.to_data()),
    }


def _options(asked: Mapping[str, object]) -> dict[str, object]:
    """What a question names besides its text: the scope, filters, times, the mode."""
    scope = cast("Mapping[str, object]", asked.get("scope") or {})
    named = {key: value for key, value in asked.items() if key not in _ELSEWHERE}
    if named.get("where") == {"all": []}:
        del named["where"]
    return {key: value for key, value in {**scope, **named}.items() if value is not None}


def _flags(name: str, value: object) -> Iterator[str]:
    """An option as flags of the command line; nothing for one that it does not have."""
    option = declared(SearchKwargs)[name].option
    if option.flag is None:
        return
    flag = option.flag or f"--{name.replace('_', '-')}"
    for each in _values(name, value):
        yield from (flag, each)


def _values(name: str, value: object) -> Iterator[str]:
    """The texts that a flag takes, each time it is given."""
    if name in _PAIRS:
        yield from (f"{key}={json.dumps(each)}" for key, each in _items(value))
    elif name == "aliases":
        for word, others in _items(value):
            each = [others] if isinstance(others, str) else cast("list[str]", others)
            yield from (f"{word}={other}" for other in each)
    elif name == "seeds":
        ids = (id for _, each in _items(value) for id in cast("list[str]", each))
        yield from dict.fromkeys(ids)
    elif isinstance(value, list | tuple):
        yield from map(str, cast("list[object]", value))
    else:
        yield json.dumps(value) if isinstance(value, Mapping) else str(value)


def _items(value: object) -> Iterator[tuple[str, object]]:
    yield from cast("Mapping[str, object]", value).items()
