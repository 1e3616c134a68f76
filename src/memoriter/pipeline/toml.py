"""Writes a recipe as TOML: plain values first, then a table for each part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(data: Mapping[str, object]) -> str:
    """A recipe's data as TOML; a value of None is left out.

    >>> print(
    ...     to_toml({"name": "mine", "lanes": {"words": {"k1": 1.2}}, "pass": [{"ties": ["id"]}]})
    ... )
    name = "mine"
    <BLANKLINE>
    [lanes.words]
    k1 = 1.2
    <BLANKLINE>
    [[pass]]
    ties = ["id"]
    <BLANKLINE>
    """
    return "\n".join([*_lines(data, ""), ""])


def _lines(table: Mapping[str, object], path: str) -> Iterator[str]:
    """The values of a table, then the tables below it."""
    below: list[tuple[str, object]] = []
    for key, value in table.items():
        if not path and (isinstance(value, dict) or _is_tables(value)):
            below.append((key, cast("object", value)))
        elif value is not None:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in below:
        if isinstance(value, Mapping):
            yield from _section(_key(key), cast("Mapping[str, object]", value))
            continue
        for each in cast("list[Mapping[str, object]]", value):
            yield from ["", f"[[{_key(key)}]]", *_lines(each, key)]


def _section(path: str, table: Mapping[str, object]) -> Iterator[str]:
    """A table of values, or a table for each part if all that it has are tables."""
    if table and all(isinstance(each, Mapping) for each in table.values()):
        for key, each in table.items():
            yield from ["", f"[{path}.{_key(key)}]"]
            yield from _lines(cast("Mapping[str, object]", each), path)
    elif table:
        yield from ["", f"[{path}]", *_lines(table, path)]


def _is_tables(value: object) -> bool:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return bool(items) and all(isinstance(each, Mapping) for each in items)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # A JSON string is a TOML string, but for the character that JSON leaves as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        kept = [f"{_key(key)} = {_value(each)}" for key, each in pairs if each is not None]
        return f"{{ {', '.join(kept)} }}" if kept else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, cast('list[object]', value)))}]"
    if isinstance(value, str):
        return _text(value)
    return str(value).lower() if isinstance(value, bool) else repr(value)
