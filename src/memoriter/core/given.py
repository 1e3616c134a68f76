"""The fields of a record as a caller may give them, for type checkers.

Written by `make format` from `core/record.py`, where the fields are declared: change them there.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, TypedDict

from memoriter.core.fields import Source
from memoriter.core.record import FIELDS
from memoriter.core.times import TimeLike


class Given(TypedDict, total=False):
    """The fields of a record but its text; None is as good as nothing."""

    title: Annotated["str | None", FIELDS["title"]]
    summary: Annotated["str | None", FIELDS["summary"]]
    kind: Annotated["str | None", FIELDS["kind"]]
    role: Annotated["str | None", FIELDS["role"]]
    memory_type: Annotated["str | None", FIELDS["memory_type"]]
    tags: Annotated["Iterable[str] | None", FIELDS["tags"]]
    concepts: Annotated["Iterable[str] | None", FIELDS["concepts"]]
    entities: Annotated["Iterable[str] | None", FIELDS["entities"]]
    entity_type: Annotated["str | None", FIELDS["entity_type"]]
    source_episode: Annotated["str | None", FIELDS["source_episode"]]
    importance: Annotated["float | None", FIELDS["importance"]]
    confidence: Annotated["float | None", FIELDS["confidence"]]
    priority: Annotated["str | None", FIELDS["priority"]]
    trust: Annotated["str | None", FIELDS["trust"]]
    source: Annotated["Source | Mapping[str, str | None] | None", FIELDS["source"]]
    agent: Annotated["str | None", FIELDS["agent"]]
    user: Annotated["str | None", FIELDS["user"]]
    session: Annotated["str | None", FIELDS["session"]]
    created: Annotated["TimeLike | None", FIELDS["created"]]
    occurred: Annotated["TimeLike | None", FIELDS["occurred"]]
    valid_from: Annotated["TimeLike | None", FIELDS["valid_from"]]
    valid_until: Annotated["TimeLike | None", FIELDS["valid_until"]]
    expires: Annotated["TimeLike | None", FIELDS["expires"]]
    cycle: Annotated["int | None", FIELDS["cycle"]]
    metadata: Annotated["Mapping[str, object] | None", FIELDS["metadata"]]
    archived: Annotated["bool | None", FIELDS["archived"]]
    pinned: Annotated["bool | None", FIELDS["pinned"]]
    refs: Annotated["Iterable[int] | None", FIELDS["refs"]]
