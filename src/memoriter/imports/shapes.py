"""Of which shape a JSON value is, told so that the type checker hears it."""

from __future__ import annotations

from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether it is a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether it is a JSON list."""
    return isinstance(value, list)


def object_or_empty(value: object) -> dict[str, Any]:
    """The object, or an empty one where it is none."""
    return value if is_object(value) else {}


def list_or_empty(value: object) -> list[Any]:
    """The list, or an empty one where it is none."""
    return value if is_list(value) else []
