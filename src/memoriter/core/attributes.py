"""The attributes that a `where` filter can test: their types, and the operators of each type.

`core.where` parses with these tables, and `core.where_mistakes` explains errors with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

AttributeType = Literal["string", "strings", "number", "numbers", "time", "flag", "json"]

_BY_TYPE: Final[Mapping[AttributeType, tuple[str, ...]]] = {
    "string": (
        "id", "text", "title", "summary", "kind", "role", "memory_type", "entity_type",
        "source_episode", "priority", "trust", "source.who", "source.channel", "source.path",
        "agent", "user", "session",
    ),
    "strings": ("tags", "concepts", "entities"),
    "number": ("importance", "confidence", "cycle", "position"),
    "numbers": ("refs",),
    "time": ("created", "committed", "occurred", "valid_from", "valid_until", "expires"),
    "flag": ("archived", "pinned"),
}  # fmt: skip
ATTRIBUTES: Final[Mapping[str, AttributeType]] = {
    n: kind for kind, ns in _BY_TYPE.items() for n in ns
}
"""Every attribute that can be tested, with its type; metadata paths come on top."""

BOUNDS: Final = ("gt", "gte", "lt", "lte")
OPERATORS: Final[Mapping[AttributeType, tuple[str, ...]]] = {
    "string": ("eq", "in", "prefix", *BOUNDS, "exists", "eq_fold", "in_fold", "prefix_fold"),
    "strings": ("any", "all", "prefix", "exists", "any_fold", "all_fold", "prefix_fold"),
    "number": ("eq", "in", *BOUNDS, "exists"),
    "numbers": ("any", "all", "exists"),
    "time": ("eq", "in", *BOUNDS, "exists"),
    "flag": ("eq", "exists"),
    "json": (
        "eq", "in", "any", "all", "prefix", *BOUNDS, "exists",
        "eq_fold", "in_fold", "any_fold", "all_fold", "prefix_fold",
    ),
}  # fmt: skip
"""The operators that each type takes, as a caller writes them."""

SHORT: Final[Mapping[AttributeType, tuple[str, str | None]]] = {
    "string": ("eq", "in"),
    "strings": ("any", "any"),
    "number": ("eq", "in"),
    "numbers": ("any", "any"),
    "time": ("eq", "in"),
    "flag": ("eq", None),
    "json": ("any", "any"),
}
"""The operator for a bare value, and for a bare list of values (None: a list is refused)."""

PLAIN: Final[Mapping[AttributeType, str]] = {
    "string": "text",
    "strings": "several texts",
    "number": "number",
    "numbers": "several numbers",
    "time": "time",
    "flag": "true or false",
    "json": "any JSON value",
}
"""The name of each type in error messages."""

GROUPS: Final[Mapping[str, Literal["all", "any"]]] = {
    "all": "all",
    "and": "all",
    "any": "any",
    "or": "any",
}
"""The keys that group conditions; `and` and `or` are synonyms."""


def type_of(attribute: str) -> AttributeType | None:
    """The type of an attribute; None if no attribute has that name."""
    return "json" if attribute.startswith("metadata.") else ATTRIBUTES.get(attribute)
