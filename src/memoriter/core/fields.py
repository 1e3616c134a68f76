"""The kinds of record fields: the accepted types, the validation, and the JSON type of each.

`core.record.Content` declares each field once, with one of these kinds and a line of help.
Validation, signatures, request models, command-line options and help are derived from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, Final, cast

from memoriter.core.errors import BadRecord
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import (
    EXACT_INT,
    LABEL_LIMIT,
    LIST_LIMIT,
    choice,
    flag,
    integer,
    metadata,
    name,
    names,
    number,
    text,
)
from memoriter.core.shown import named, shown
from memoriter.core.times import Now, micros, to_datetime

MEMORY_TYPES: Final = ("working", "episodic", "semantic", "procedural")
PRIORITIES: Final = ("P1", "P2", "P3", "P4")
TRUST: Final = ("system", "learned", "external")
_SHORT: Final = 65_536
Check = Callable[[object, str, Now | None], object]
"""(value, field, now) → the value as it is stored; raises BadRecord that names the field."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory came from."""

    who: str | None = None
    channel: str | None = None
    path: str | None = None

    def __repr__(self) -> str:
        pairs = ((each.name, getattr(self, each.name)) for each in fields(self))
        return shown("Source", ", ".join(f"{key} {named(v)}" for key, v in pairs if v is not None))


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of field."""

    accepts: str
    """The Python type that a caller may pass, as source code."""
    wire: Any
    """The type in JSON requests."""
    check: Check


@dataclass(frozen=True, slots=True)
class Field:
    """The declaration of one field of a record."""

    kind: Kind
    about: str
    """One line of help."""
    flag: str | None = ""
    """Its command-line option; empty: made from its name; None: it has none."""


def _written(value: object, field: str) -> str:
    if isinstance(value, list | tuple | Mapping):
        got = type(cast("object", value)).__name__
        hint = 'remember_many takes several memories: ["…", {"text": "…", "tags": ["ops"]}]'
        raise BadRecord(f"{field}: expected text, got {got}", hint=hint, field=field)
    clean = text(value, field)
    if not clean.strip():
        raise BadRecord(f"{field}: must not be empty", field=field)
    return clean


def _entities(value: object, field: str) -> tuple[str, ...]:
    clean = names(value, field)
    if any(not one.strip() for one in clean):
        raise BadRecord(
            f"{field}: one of the names is empty or only spaces",
            hint="remove this name from the list",
            field=field,
        )
    return clean


def _source(value: object, field: str) -> Source:
    if isinstance(value, Source):
        value = {f.name: getattr(value, f.name) for f in fields(Source)}
    if not isinstance(value, Mapping):
        raise BadRecord(
            f"{field}: expected an object with any of the fields who, channel and path",
            hint='for example source={"who": "ana", "channel": "chat"}',
            field=field,
        )
    parts = cast("Mapping[str, object]", value)
    known = {f.name for f in fields(Source)}
    if unknown := set(parts) - known:
        raise BadRecord(
            f"{field}: a source has no field {min(map(str, unknown))!r}",
            hint="its fields are who, channel and path; put others into metadata",
            field=field,
        )
    clean = {
        key: text(v, f"{field}.{key}", limit=_SHORT) for key, v in parts.items() if v is not None
    }
    return Source(**clean)


def _refs(value: object, field: str) -> tuple[int, ...]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        got = type(cast("object", value)).__name__
        raise BadRecord(
            f"{field}: expected a list of whole numbers (the `position` of each memory), got {got}",
            field=field,
        )
    items = list(cast("Iterable[object]", value))
    if len(items) > LIST_LIMIT:
        raise BadRecord(
            f"{field}: has {len(items)} entries, at most {LIST_LIMIT} are allowed", field=field
        )
    clean = (integer(item, f"{field}[{at}]", 0, EXACT_INT) for at, item in enumerate(items))
    return tuple(dict.fromkeys(clean))


def one_of(words: tuple[str, ...]) -> Kind:
    """The kind of a field that takes one of these words."""
    return Kind("str", str, lambda v, f, _: choice(v, f, words))


WRITTEN: Final = Kind("str", str, lambda v, f, _: _written(v, f))
TEXT: Final = Kind("str", str, lambda v, f, _: text(v, f, limit=_SHORT))
NAME: Final = Kind("str", str, lambda v, f, _: name(v, f))
LABEL: Final = Kind("str", str, lambda v, f, _: name(v, f, limit=LABEL_LIMIT))
NAMES: Final = Kind("str | Iterable[str]", str | list[str], lambda v, f, _: names(v, f))
ENTITIES: Final = Kind("str | Iterable[str]", str | list[str], lambda v, f, _: _entities(v, f))
SHARE: Final = Kind("float", float, lambda v, f, _: number(v, f, 0.0, 1.0))
WHOLE: Final = Kind("int", int, lambda v, f, _: integer(v, f, -EXACT_INT, EXACT_INT))
FLAG: Final = Kind("bool", bool, lambda v, f, _: flag(v, f))
OBJECT: Final = Kind("Mapping[str, object]", dict[str, Any], lambda v, f, _: metadata(v, f))
SOURCE: Final = Kind(
    "Source | Mapping[str, str | None]", dict[str, str | None], lambda v, f, _: _source(v, f)
)
REFS: Final = Kind("Iterable[int]", list[int], lambda v, f, _: _refs(v, f))
TIME: Final = Kind("TimeLike", str, lambda v, f, now: to_datetime(micros(v, f, now=now)))
LATER: Final = Kind(
    "TimeLike", str, lambda v, f, now: to_datetime(micros(v, f, now=now, ahead=True))
)
"""A time that usually lies in the future: an unsigned duration counts forward from now."""
TIMES: Final = (TIME, LATER)
