"""How large the fields of a request may be, checked before a model is built of them.

Models report every wrong entry of a list. Here the lengths are checked first, so that a request of
a few megabytes costs little more than reading it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
_SHOWN: Final = 40
"""How many characters of a key a path shows."""
RECEIPTS: Final = frozenset({"receipt", "before", "after"})
"""Fields that may be a whole receipt; what is done with one has a budget of its own."""


def check_sizes(fields: Mapping[str, Any]) -> None:
    """Raise InputError for too many fields, too long a list or an object with too many keys."""
    if len(fields) > FIELDS:
        raise _too_many("request", len(fields), FIELDS, "fields")
    drafts = fields.get("memories")
    if isinstance(drafts, list) and len(cast("list[Any]", drafts)) > BATCH:
        count = len(cast("list[Any]", drafts))
        raise InputError(
            f"memories: {count:,} at once, at most {BATCH:,} are taken",
            hint="send them in several requests",
            field="memories",
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
    if isinstance(value, dict):
        entries, most, what = list(cast("dict[str, object]", value).items()), KEYS, "keys"
    else:
        items = cast("list[object]", value) if isinstance(value, list) else []
        entries, most, what = [(str(at), each) for at, each in enumerate(items)], LENGTH, "entries"
    if len(entries) > most:
        raise _too_many(path, len(entries), most, what)
    for key, inner in entries:
        if isinstance(inner, dict | list):
            yield f"{path}.{str(key)[:_SHOWN]}", cast("object", inner)


def _too_many(path: str, count: int, most: int, what: str) -> InputError:
    return InputError(
        f"{path}: {count:,} {what}, at most {most:,} are taken",
        hint="send less at once",
        field=path,
    )
