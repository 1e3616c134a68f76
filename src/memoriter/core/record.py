"""A memory record: its fields, and how they are encoded.

`Content` holds the fields that a caller sets, `Record` is a stored version of it. The body in the
log is the canonical JSON of the content; fields that have their default are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import MISSING, field, fields
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any, Final, cast, get_type_hints

from memoriter.core.canonical import canonical
from memoriter.core.errors import Corrupt
from memoriter.core.fields import (
    ENTITIES,
    FLAG,
    LABEL,
    LATER,
    MEMORY_TYPES,
    NAME,
    NAMES,
    OBJECT,
    PRIORITIES,
    REFS,
    SHARE,
    SOURCE,
    TEXT,
    TIME,
    TIMES,
    TRUST,
    WHOLE,
    WRITTEN,
    Field,
    Source,
    one_of,
)
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import Json
from memoriter.core.other_words import Hinting
from memoriter.core.shown import named, quoted, shown
from memoriter.core.shown import plain as phrase
from memoriter.core.times import iso, to_datetime, to_micros

ESSENCE_CHARS: Final = 200
NOWHERE: Final = Source()
"""The source of a memory that has none."""


@dataclass(frozen=True, kw_only=True)
class Content(Hinting):
    """All fields of a memory except its id. This is the only place where they are declared.

    `core.record_fields`, which type checkers read, is generated from here by `make format`.
    """

    text: Annotated[str, Field(WRITTEN, "What to remember, one fact in plain words.")]
    title: Annotated[str | None, Field(TEXT, "A short title.")] = None
    summary: Annotated[str | None, Field(TEXT, "The text in brief.")] = None
    kind: Annotated[
        str, Field(NAME, "What kind of memory: note, fact, decision, task or your own word.")
    ] = "note"
    role: Annotated[
        str,
        Field(NAME, "Role: user or assistant in a chat, else memory, reflection or your own word."),
    ] = "memory"
    memory_type: Annotated[
        str,
        Field(one_of(MEMORY_TYPES), "Type of memory: working, episodic, semantic or procedural."),
    ] = "semantic"
    tags: Annotated[tuple[str, ...], Field(NAMES, "Labels.", "--tag")] = ()
    concepts: Annotated[tuple[str, ...], Field(NAMES, "Topics it is about.", "--concept")] = ()
    entities: Annotated[
        tuple[str, ...], Field(ENTITIES, "People and things that it names.", "--entity")
    ] = ()
    entity_type: Annotated[
        str | None, Field(NAME, "Type of its entities, such as person or service.")
    ] = None
    source_episode: Annotated[
        str | None, Field(LABEL, "Your id of the conversation or event it came from.")
    ] = None
    importance: Annotated[float, Field(SHARE, "How important it is, from 0 to 1.")] = 0.5
    confidence: Annotated[
        float | None, Field(SHARE, "How sure you are that it is true, from 0 to 1.")
    ] = None
    priority: Annotated[str, Field(one_of(PRIORITIES), "Its priority: P1 (highest) to P4.")] = "P3"
    trust: Annotated[
        str,
        Field(one_of(TRUST), "How far it is trusted: system (most), learned or external (least)."),
    ] = "learned"
    source: Annotated[Source, Field(SOURCE, "Who said it, on which channel, in which file.")] = (
        NOWHERE
    )
    agent: Annotated[str, Field(NAME, "The agent that learned it.")] = "default"
    user: Annotated[str | None, Field(NAME, "The user it is about.")] = None
    session: Annotated[str | None, Field(NAME, "The conversation it belongs to.")] = None
    created: Annotated[datetime, Field(TIME, "When it was made (default: now).")]
    occurred: Annotated[
        datetime | None, Field(TIME, "When the event that it describes happened.")
    ] = None
    valid_from: Annotated[datetime | None, Field(TIME, "The time from which it is true.")] = None
    valid_until: Annotated[datetime | None, Field(LATER, "The time until which it is true.")] = None
    expires: Annotated[
        datetime | None, Field(LATER, "The time from which searches no longer return it.")
    ] = None
    cycle: Annotated[
        int | None,
        Field(WHOLE, "Its time by your own cycle counter, for recipes that count age in cycles."),
    ] = None
    metadata: Annotated[dict[str, Json], Field(OBJECT, "Fields of your own.")] = field(
        default_factory=dict[str, Json]
    )
    archived: Annotated[bool, Field(FLAG, "Keep it out of recalls.")] = False
    pinned: Annotated[bool, Field(FLAG, "A flag for your own use; filters can test it.")] = False
    refs: Annotated[
        tuple[int, ...],
        Field(REFS, "Memories it refers to, by `position` (order of writing, from 0).", None),
    ] = ()

    @property
    def essence(self) -> str:
        """The summary, else the first 200 characters of the text."""
        return self.summary if self.summary is not None else self.text[:ESSENCE_CHARS]

    @property
    def titled(self) -> str:
        """The title, if any, and the text: what most embedders read."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, kw_only=True)
class Record(Content):
    """One stored version of a memory."""

    id: str
    row: int
    """The sequence number of this version in its tenant's log."""
    position: int
    """The ordinal of the memory in its tenant, the same for all versions, never reused."""
    committed: datetime
    """When this version was committed, by the store's own clock."""

    def __repr__(self) -> str:
        kind = f"Record {named(self.id)} {phrase(self.kind, 16)} {self.created:%Y-%m-%d}"
        return shown(kind, quoted(self.text, 48))

    def to_dict(self) -> dict[str, object]:
        """The record as plain data, times in ISO 8601."""
        stored = {"row": self.row, "position": self.position, "committed": iso(self.committed)}
        return {"id": self.id, **content_data(self), **stored}


FIELDS: Final[dict[str, Field]] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(Content, include_extras=True).items()
}
"""The declaration of every field, by name."""
FIXED: Final = frozenset({"refs"})
"""Fields that no update changes."""
CONTENT_FIELDS: Final = tuple(f.name for f in fields(Content))
_SOURCE_FIELDS: Final = tuple(f.name for f in fields(Source))
_DEFAULTS: Final = {
    each.name: each.default for each in fields(Content) if each.default not in (MISSING, None)
}
"""The value of a field that a body does not have. It is part of the format: never change one."""
_USUAL: Final = {each.name: each.default for each in fields(Content)}
_VALUES: Final = attrgetter(*CONTENT_FIELDS)
_TIME_FIELDS: Final = tuple(name for name, field in FIELDS.items() if field.kind in TIMES)


def content_data(content: Content) -> dict[str, object]:
    """The content as plain data, times in ISO 8601; absent and empty fields are left out."""
    out = _stored(content)
    return out | {name: iso(cast("int", out[name])) for name in _TIME_FIELDS if name in out}


def _stored(content: Content) -> dict[str, object]:
    """The content as it is stored: times in microseconds; absent fields are left out."""
    values = zip(CONTENT_FIELDS, _VALUES(content), strict=True)
    return {key: stored for key, value in values if (stored := _as_stored(value)) is not None}


def _as_stored(value: object) -> object:
    """A value as it is stored; None if it is absent."""
    if type(value) is str:
        return value
    if isinstance(value, tuple):
        return list(cast("tuple[object, ...]", value)) or None
    if isinstance(value, dict):
        return cast("dict[str, object]", value) or None
    if isinstance(value, Source):
        return {k: v for k in _SOURCE_FIELDS if (v := getattr(value, k)) is not None} or None
    return to_micros(value) if isinstance(value, datetime) else value


def encode(record_id: str, content: Content, given: Iterable[str] = CONTENT_FIELDS) -> bytes:
    """The body that is stored in the log and covered by the digest.

    Fields that are not among `given` have their defaults.
    """
    out: dict[str, object] = {"id": record_id}
    for key in given:
        value = getattr(content, key)
        if value is _USUAL[key]:  # nearly all fields of nearly all records
            continue
        stored = _as_stored(value)
        if stored is not None and stored != _DEFAULTS.get(key):
            out[key] = stored
    return canonical(out)


_PARSE: Final = json.JSONDecoder().raw_decode
_CONVERTED: Final[dict[str, Callable[[Any], object]]] = {
    **dict.fromkeys(("tags", "concepts", "entities", "refs"), tuple),
    "source": lambda given: Source(**given),
    **dict.fromkeys(_TIME_FIELDS, to_datetime),
}
"""JSON has no tuples and no times; everything else is stored as the field holds it."""
_NEEDED: Final = ("id", "text", "created")
_KNOWN: Final = frozenset({"id", *CONTENT_FIELDS})
"""The fields that a body must have, and those that it may have."""


def _parsed(text: str) -> dict[str, Any]:
    """The object in a body; ValueError if it is another value or has other fields."""
    parsed, end = _PARSE(text)
    if end != len(text):
        raise ValueError(f"it goes on after {end} characters")
    if not isinstance(parsed, dict):
        raise ValueError("it is no object")  # noqa: TRY004  # of a body, not of an argument
    data = cast("dict[str, Any]", parsed)
    if not (_KNOWN.issuperset(data) and all(map(data.__contains__, _NEEDED))):
        raise ValueError(f"its fields are {', '.join(sorted(data))}")
    return data


def decode(body: bytes, row: int, position: int, committed: int) -> Record:
    """Read what `encode` wrote; raises Corrupt if the body cannot be read."""
    try:
        data = _parsed(body.decode())
        for key in data:
            if key in _CONVERTED:
                data[key] = _CONVERTED[key](data[key])
        data["committed"] = to_datetime(committed)
    except (ValueError, TypeError, OverflowError) as error:
        raise Corrupt(
            f"the record at entry {row} of the log cannot be read: {error}",
            hint="`memoriter verify-store` lists what is damaged; restore a backup",
        ) from error
    data["row"], data["position"] = row, position
    data.setdefault("metadata", {})
    # The class has the defaults of all other fields, so those left out need not be set.
    record = object.__new__(Record)
    object.__setattr__(record, "__dict__", data)
    return record
