"""JSON from somebody else: a value of the expected kind, or one line that says what is wrong."""

from __future__ import annotations

from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

_Any = TypeVar("_Any")


def parsed(content: bytes, kind: type[_Any]) -> _Any:
    """The value that the JSON spells; a ValueError names the first place that is wrong.

    >>> parsed(b"[1, 2]", list[int])
    [1, 2]
    """
    try:
        return TypeAdapter(kind).validate_json(content)
    except ValidationError as wrong:
        first = wrong.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "JSON"
        raise ValueError(f"{where}: {first['msg']}") from None
