"""How large the fields of a request may be, checked before a model is built of them.

Models report every wrong entry of a list. Here the lengths are checked first, so that a request of
a few megabytes costs little more than reading it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from memoriter.core.draft import MAX_DIMENSION
from memoriter.core.errors import InputError

FIELDS: Final = 100
"""How many fields a request may have."""
KEYS: Final = 1024
"""How many keys an object within it may have."""
LENGTH: Final = MAX_DIMENSION
"""How many entries a list within it may have: the longest are vectors."""
BATCH: Final = 1000
"""How many memories one request may contain."""
BATCHED: Final = ("memories", "messages")
"""Fields that hold one entry for each memory to write."""
_SHOWN: Final = 40
"""How many characters of a key a path shows."""
RECEIPTS: Final = frozenset({"receipt", "before", "after"})
"""Fields that may be a whole receipt; what is done with one has a budget of its own."""


def check_sizes(fields: Mapping[str, Any]) -> None:
    """Raise InputError for too many fields, too long a list or an object with too many keys."""
    _check_length("request", len(fields), FIELDS, "fields")
    for name in BATCHED:
        drafts = fields.get(name)
        count = len(cast("list[Any]", drafts)) if isinstance(drafts, list) else 0
        if count > BATCH:
            raise InputError(
                f"{name}: has {count:,} entries; the limit for one request is {BATCH:,}",
                hint="send them in several requests",
                field=name,
            )
    for name, value in fields.items():
        if name not in RECEIPTS or not isinstance(value, dict):
            _check(name, value)


def _check(path: str, value: object) -> None:
    # Level by level: what Python callers pass may be deeper than its stack.
    level: list[tuple[str, object]] = [(path, value)]
    while level:
        level = [inner for where, each in level for inner in _inside(where, each)]


def _inside(path: str, value: object) -> Iterator[tuple[str, object]]:
    """The lists and objects directly inside a value, each with its path."""
    entries: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict):
        parts = cast("dict[str, object]", value)
        _check_length(path, len(parts), KEYS, "keys")
        entries = parts.items()
    elif isinstance(value, list):
        items = cast("list[object]", value)
        _check_length(path, len(items), LENGTH, "entries")
        entries = enumerate(items)
    for key, inner in entries:
        if isinstance(inner, dict | list):
            yield f"{path}.{str(key)[:_SHOWN]}", cast("object", inner)


def _check_length(path: str, count: int, most: int, what: str) -> None:
    if count > most:
        raise InputError(
            f"{path}: has {count:,} {what}; the limit for one request is {most:,}",
            hint="split it into several requests",
            field=path,
        )
