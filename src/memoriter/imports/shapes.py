"""Type guards for JSON values."""

from __future__ import annotations

from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether the value is a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether the value is a JSON list."""
    return isinstance(value, list)


def object_or_empty(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty object."""
    return value if is_object(value) else {}


def list_or_empty(value: object) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return value if is_list(value) else []
