"""The fields of a memory as options, and from options back to fields."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from memoriter.core.errors import BadRecord
from memoriter.doors.cli.values import json_object

_PANEL: Final = "Fields of the memory"


def _field(help: str, *names: str, metavar: str | None = None) -> Any:  # typer's word
    return typer.Option(
        *names, help=help, metavar=metavar, rich_help_panel=_PANEL, show_default=False
    )


@dataclass(frozen=True, slots=True)
class Fields:
    """Every field of a record but its text and its owner."""

    title: Annotated[str | None, _field("A short title.")] = None
    summary: Annotated[str | None, _field("The text in brief.")] = None
    kind: Annotated[str | None, _field("What it is: note, fact, decision, task …")] = None
    role: Annotated[str | None, _field("The part it plays: memory, reflection …")] = None
    memory_type: Annotated[str | None, _field("working, episodic, semantic or procedural.")] = None
    tags: Annotated[list[str] | None, _field("A tag; may be repeated.", "--tag")] = None
    concepts: Annotated[list[str] | None, _field("A concept; may be repeated.", "--concept")] = None
    entities: Annotated[
        list[str] | None, _field("Someone or something it names; may be repeated.", "--entity")
    ] = None
    entity_type: Annotated[str | None, _field("What its entities are: person, service …")] = None
    source_episode: Annotated[str | None, _field("The episode it came from.")] = None
    importance: Annotated[float | None, _field("From 0 to 1.")] = None
    confidence: Annotated[float | None, _field("From 0 to 1.")] = None
    priority: Annotated[str | None, _field("P1, P2, P3 or P4.")] = None
    trust: Annotated[str | None, _field("system, learned or external.")] = None
    source_who: Annotated[str | None, _field("Who said it.")] = None
    source_channel: Annotated[str | None, _field("Where it was said.")] = None
    source_path: Annotated[str | None, _field("The file it is about.")] = None
    created: Annotated[str | None, _field("When it was made (default: now).", metavar="TIME")] = (
        None
    )
    occurred: Annotated[str | None, _field("When it happened.", metavar="TIME")] = None
    valid_from: Annotated[str | None, _field("When it begins to hold.", metavar="TIME")] = None
    valid_until: Annotated[str | None, _field("When it no longer holds.", metavar="TIME")] = None
    expires: Annotated[str | None, _field("When it leaves all answers.", metavar="TIME")] = None
    cycle: Annotated[int | None, _field("The number of the cycle it belongs to.")] = None
    metadata: Annotated[
        str | None, _field("Fields of your own, as a JSON object.", metavar="JSON")
    ] = None
    archived: Annotated[
        bool | None, _field("Keep it out of recalls.", "--archived/--no-archived")
    ] = None
    pinned: Annotated[bool | None, _field("Mark it as pinned.", "--pinned/--no-pinned")] = None


_SOURCE: Final = ("who", "channel", "path")
_TIMES: Final = ("created", "occurred", "valid_from", "valid_until", "expires")
_AS_GIVEN: Final = (
    "title", "summary", "kind", "role", "memory_type", "tags", "concepts", "entities",
    "entity_type", "source_episode", "importance", "confidence", "priority", "trust", "cycle",
    "archived", "pinned",
)  # fmt: skip


def fields_of(fields: Fields) -> dict[str, object]:
    """What was given, by the names the library uses."""
    out: dict[str, object] = {name: getattr(fields, name) for name in _AS_GIVEN}
    out |= {name: time_of(getattr(fields, name)) for name in _TIMES}
    source = {name: getattr(fields, f"source_{name}") for name in _SOURCE}
    out["source"] = {k: v for k, v in source.items() if v is not None} or None
    out["metadata"] = None if fields.metadata is None else json_object(fields.metadata, "metadata")
    return {name: value for name, value in out.items() if value not in (None, [])}


def cleared(names: list[str] | None, given: dict[str, object]) -> dict[str, object]:
    """The changes of an update: what was given, and None for each field to take away."""
    gone = [name.replace("-", "_") for name in names or ()]
    if both := [name for name in gone if name in given]:
        raise BadRecord(
            f"{both[0]}: cannot be set and taken away at once",
            hint="give one of the two",
            field=both[0],
        )
    return {**given, **dict.fromkeys(gone)}


def time_of(value: str | None) -> str | int | None:
    """A time as the library takes it: ISO 8601 text, or microseconds as `--json` prints them."""
    return int(value) if value is not None and re.fullmatch(r"-?\d{5,18}", value) else value
