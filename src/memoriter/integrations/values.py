"""Values of a host in the metadata of a record, also with more levels or larger integers.

Metadata has at most eight levels and integers up to 2^53. A value that has more is kept as one JSON
text, so that it comes back as it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from memoriter.core.errors import BadRecord
from memoriter.core.names import EXACT_INT, METADATA_DEPTH

_LEVELS: Final = METADATA_DEPTH - 2
"""Of a value in the metadata: it stands in an object of an object."""
_DEEPEST: Final = 100
"""How many levels a value may have at all."""


def kept_value(value: object) -> dict[str, Any]:
    """What the metadata has of a value: itself as `value`, or its text as `json`.

    Raises BadRecord for a value that is too deep or cannot be stored as JSON.
    """
    if _levels(value, "value", 1) <= _LEVELS:
        return {"value": value}
    try:
        return {"json": json.dumps(value, ensure_ascii=False, allow_nan=False)}
    except (TypeError, ValueError) as refusal:
        raise BadRecord(
            f"value: cannot be stored as JSON: {refusal}",
            hint="use text, finite numbers, true, false, null, lists and objects",
            field="value",
        ) from None


def is_value(kept: Mapping[str, Any]) -> bool:
    """Whether there is a value among this metadata."""
    return "value" in kept or isinstance(kept.get("json"), str)


def read_value(kept: Mapping[str, Any]) -> Any:
    """The value that `kept_value` put there."""
    return kept["value"] if "value" in kept else json.loads(kept["json"])


def _levels(value: object, at: str, level: int) -> int:
    """How many levels a value has; an integer that metadata cannot hold has more than any."""
    if level > _DEEPEST:
        raise BadRecord(
            f"{at[:60]}…: is nested more than {_DEEPEST} levels deep",
            hint="use fewer levels",
            field="value",
        )
    if isinstance(value, int) and not -EXACT_INT <= value <= EXACT_INT:
        return _DEEPEST
    if isinstance(value, Mapping):
        inner = list(cast("Mapping[object, object]", value).items())
        if wrong := [key for key, _ in inner if not isinstance(key, str)]:
            raise BadRecord(
                f"{at}: the key {wrong[0]!r} is not a text",
                hint="use texts as keys of objects",
                field="value",
            )
    elif isinstance(value, list | tuple):
        inner = list(enumerate(cast("list[object]", value)))
    else:
        return level - 1
    return max((_levels(each, f"{at}.{key}", level + 1) for key, each in inner), default=level)
