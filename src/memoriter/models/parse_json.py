"""Parses JSON from a server or a model folder into a value of an expected type."""

from __future__ import annotations

from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

_Any = TypeVar("_Any")


def parse_json(content: bytes, kind: type[_Any]) -> _Any:
    """The JSON as a value of type `kind`; raises ValueError with the first path that is wrong.

    >>> parse_json(b"[1, 2]", list[int])
    [1, 2]
    """
    try:
        return TypeAdapter(kind).validate_json(content)
    except ValidationError as wrong:
        # Without the input: it may be long, and it may repeat a key.
        first = wrong.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "JSON"
        raise ValueError(f"{where}: {first['msg']}") from None
