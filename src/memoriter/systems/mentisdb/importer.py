"""Imports MentisDB: a chain as JSON (a thought per line, or a list), or its MEMORY.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from memoriter.core.edge import REPLACING
from memoriter.imports.fields import FieldMap, edge_kind, parse_time, record_id
from memoriter.imports.port import Extracted, Format, ImportedAgent, ImportedEdge, Lost
from memoriter.imports.source import (
    JSON,
    BadRow,
    FileKind,
    InputFile,
    Value,
    is_object,
    list_or_empty,
    object_or_empty,
    read_rows,
    sample_objects,
)

NAME: Final = "mentisdb"
_LISTS: Final = ("thoughts", "results")
_TAKEN: Final = (
    "id", "content", "thought_type", "role", "agent_id", "agent_name", "agent_owner", "session_id",
    "timestamp", "tags", "concepts", "importance", "confidence", "entity_type", "source_episode",
    "refs", "relations", "schema_version", "prev_hash", "thought_signature", "signing_key_id",
)  # fmt: skip
_DROPPED: Final = ("prev_hash", "thought_signature", "signing_key_id")
"""Proofs of its hash chain; our log has a chain of its own."""
_FILES: Final[frozenset[FileKind]] = frozenset({"text", *JSON})
_SECTIONS: Final = (
    "Identity", "Knowledge", "Constraints And Decisions", "Corrections", "Open Threads",
    "Execution State",
)  # fmt: skip
_LINE: Final = re.compile(r"- \[#(\d+)\] (\w+): (.*)", re.DOTALL)
_TRAILER: Final = re.compile(r"(.*) \((agent .*?; importance [\d.]+.*)\)\s*", re.DOTALL)
_AGENT: Final = re.compile(r"(?:(.*) \[(.*)\]|(.*?))(?: owned by (.*))?", re.DOTALL)


def recognise(source: InputFile) -> str | None:
    """Why this is a chain or a MEMORY.md of MentisDB; None if it is not."""
    if any(_is_thought(_thought(row)) for row in sample_objects(source, *_LISTS)):
        return "its rows have a thought_type and a content"
    begun = source.head.decode("utf-8", "replace").lstrip("\ufeff")
    listed = re.search(r"^- \[#\d+\] \w+: ", begun, re.MULTILINE)
    if source.kind == "text" and listed and re.search(r"^#{1,2} ", begun, re.MULTILINE):
        return "its lines are those of a MEMORY.md: - [#0] Decision: …"
    return None


def read(source: InputFile) -> Iterator[Extracted]:
    """Thoughts, their refs and relations as edges, and their agents."""
    yield from _markdown(source) if source.kind == "text" else _thoughts(source)


def _is_thought(row: dict[str, Any]) -> bool:
    """Whether the row is a thought of MentisDB; a thought of engrava has a thought_id."""
    return {"thought_type", "content"} <= set(row) and "thought_id" not in row


def _thought(row: Any) -> dict[str, Any]:
    """A thought, plain or from a search answer, where it is below `thought`."""
    inner = row.get("thought") if is_object(row) else None
    return inner if is_object(inner) else row


def _thoughts(source: InputFile) -> Iterator[Extracted]:
    ids: dict[int, str] = {}
    agents: set[tuple[str, ...]] = set()
    for item in read_rows(source, *_LISTS):
        row = item if isinstance(item, BadRow) else _thought(item.value)
        if not is_object(row):
            reason = "expected a thought, an object"
            yield row if isinstance(row, BadRow) else BadRow(item.where, reason)
            continue
        if isinstance(row.get("index"), int):
            ids[row["index"]] = str(row.get("id") or row["index"])
        yield from _record(Value(item.where, row))
        yield from _links(item.where, row, ids)
        yield from _agent(item.where, row, agents)


def _record(item: Value) -> Iterator[Extracted]:
    row = item.value
    original = row.get("id") or row.get("index")
    record = FieldMap(NAME, item.where, original)
    record.put("text", row.get("content"), "content")
    if "text" not in record.fields:
        yield BadRow(item.where, "content: is missing, empty or no text")
        return
    record.put("kind", row.get("thought_type"), "thought_type")
    record.put("role", str(row.get("role") or "Memory").lower())
    record.put("agent", row.get("agent_id"), "agent_id")
    record.put("session", row.get("session_id"), "session_id")
    record.put_time("created", row.get("timestamp"), "timestamp")
    record.put_words("tags", row.get("tags"))
    record.put_words("concepts", row.get("concepts"))
    record.put_fraction("importance", row.get("importance"))
    record.put_fraction("confidence", row.get("confidence"))
    record.put("entity_type", row.get("entity_type"))
    record.put("source_episode", row.get("source_episode"))
    for called in _DROPPED:
        if row.get(called):
            record.drop(called, row[called])
    elsewhere = [each for each in list_or_empty(row.get("relations")) if _is_external(each)]
    record.keep("relations to other chains", elsewhere)
    record.keep_rest(row, *_TAKEN)
    parts = [row.get("thought_type"), row.get("content"), row.get("timestamp")]
    yield from record.finish(f"id {original}" if original is not None else json.dumps(parts))


def _links(where: str, row: dict[str, Any], ids: dict[int, str]) -> Iterator[Extracted]:
    """An edge for every relation, and for every ref that no relation repeats.

    `ids` maps the index of each thought so far to its id: refs point backwards only.
    """
    own = record_id(str(row.get("id") or row.get("index")))
    repeated: set[str] = set()
    for relation in list_or_empty(row.get("relations")):
        if not is_object(relation) or not relation.get("target_id"):
            yield BadRow(where, "relations: expected objects with kind and target_id")
        elif not _is_external(relation):
            target, kind = str(relation["target_id"]), edge_kind(str(relation.get("kind", "")))
            repeated |= {target} if kind == "references" else set()
            yield ImportedEdge(where, own, record_id(target), kind, _validity(row, relation, kind))
            yield from _bad_times(relation)
    for ref in list_or_empty(row.get("refs")):
        target = ids.get(ref) if isinstance(ref, int) else None
        if target is None:
            yield Lost("refs to thoughts that the file does not hold before", str(ref))
        elif target not in repeated:
            yield ImportedEdge(where, own, record_id(target), "references", {})


def _bad_times(relation: dict[str, Any]) -> Iterator[Extracted]:
    """Report the times of a relation that cannot be parsed."""
    for called in ("valid_at", "invalid_at"):
        if relation.get(called) and parse_time(relation[called]) is None:
            yield Lost(f"relations: {called}", str(relation[called]))


def _is_external(relation: object) -> bool:
    """Whether a relation points to another chain; our edges never leave their tenant."""
    return bool(object_or_empty(relation).get("chain_key"))


def _validity(row: dict[str, Any], relation: dict[str, Any], kind: str) -> dict[str, object]:
    since, until = parse_time(relation.get("valid_at")), parse_time(relation.get("invalid_at"))
    # Without a time the edge would hold for ever, and as_of an earlier time would hide the old one.
    if since is None and kind in REPLACING:
        since = parse_time(row.get("timestamp"))
    interval = {"valid_from": since, "valid_until": until}
    return {key: value for key, value in interval.items() if value is not None}


def _agent(where: str, row: dict[str, Any], seen: set[tuple[str, ...]]) -> Iterator[Extracted]:
    """The agent of a row, once for each distinct description of it."""
    names = {"display_name": row.get("agent_name"), "owner": row.get("agent_owner")}
    fields = {key: str(value) for key, value in names.items() if value}
    mark = (str(row.get("agent_id")), *fields.values())
    if row.get("agent_id") and fields and mark not in seen:
        seen.add(mark)
        yield ImportedAgent(where, mark[0], fields)


def _markdown(source: InputFile) -> Iterator[Extracted]:
    """The items of a MEMORY.md; the text of one may span several lines."""
    begun, lines = 0, list[str]()
    # The extra line ends the last item.
    for number, line in enumerate([*source.text.splitlines(), "- [#"], start=1):
        if line.startswith("- [#") or _is_section(line, lines):
            if lines:
                yield from _item(f"{source.name}:{begun}", "\n".join(lines).rstrip())
            begun, lines = number, [line] if line.startswith("- [#") else []
        elif lines:
            lines.append(line)


def _is_section(line: str, item: list[str]) -> bool:
    """Whether a section begins here; a heading inside an unfinished item is part of its text."""
    over = line[3:].strip() in _SECTIONS or _TRAILER.fullmatch("\n".join(item)) is not None
    return line.startswith("## ") and over


def _item(where: str, text: str) -> Iterator[Extracted]:
    line = _LINE.fullmatch(text)
    if line is None:
        yield BadRow(where, "is not - [#0] Type: text (agent …)")
        return
    split = _TRAILER.fullmatch(line[3])
    content, trailer = (split[1], split[2]) if split else (line[3], "")
    facts = {part.split(" ")[0]: part.partition(" ")[2] for part in trailer.split("; ")}
    record = FieldMap(NAME, where)
    record.put("text", content)
    record.put("kind", line[2])
    record.put("role", facts.get("role", "memory").lower())
    label = _AGENT.fullmatch(facts.get("agent", ""))
    named = (label[2] or label[3]) if label else None
    record.put("agent", named)
    record.put_fraction("importance", _number(facts.get("importance")))
    record.put_fraction("confidence", _number(facts.get("confidence")))
    record.put("tags", [tag for tag in facts.get("tags", "").split(", ") if tag])
    record.origin["index"] = int(line[1])
    yield from record.finish(f"#{line[1]} {line[2]}: {content}")
    yield Lost("ids, times, concepts, refs and relations", "a MEMORY.md does not have them")
    if label and named and (label[1] or label[4]):
        names = {"display_name": label[1], "owner": label[4]}
        yield ImportedAgent(where, named, {key: value for key, value in names.items() if value})


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def advise(source: InputFile) -> str | None:
    """What to do with a binary chain, which cannot be imported."""
    if source.path.suffix == ".tcbin":
        return "it is a binary chain of MentisDB: export it as JSON or as a MEMORY.md"
    return None


FORMAT: Final = Format(
    NAME, "a MentisDB chain or MEMORY.md", _FILES, recognise, read, advise=advise
)
