"""jeffs-brain: a brain's folder of notes with a head of fields, one such note, or its JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from recollect.imports.fields import Filling, moment, usable
from recollect.imports.frontmatter import listed, split
from recollect.imports.markdown import Note, files, notes
from recollect.imports.port import Found, Linked, Lost
from recollect.imports.shapes import is_object
from recollect.imports.source import Refused, Source, Value, rows, sampled

NAME: Final = "jeffs-brain"
_LISTS: Final = ("chunks", "documents", "items", "notes")
_ROOTS: Final = ("memory", "wiki", "raw")
_SCOPES: Final = frozenset({"global", "project", "agent"})
_TYPES: Final = frozenset({"user", "feedback", "project", "reference", "reflection", "episode"})
_TAKEN: Final = (
    "name", "title", "description", "summary", "type", "created", "session_id", "tags", "source",
    "observed_on", "observedOn", "session_date", "sessionDate", "confidence", "supersedes",
    "importance",
)  # fmt: skip
_ROW: Final = (
    "id", "chunkId", "documentId", "path", "text", "content", "score", "bm25Rank", "metadata",
    "vectorSimilarity", "rerankScore", "title", "summary", "tags",
)  # fmt: skip
_LEVELS: Final = {"low": 0.3, "medium": 0.6, "high": 0.9}
"""The words of its heuristics, as numbers."""
_LINK: Final = re.compile(r"\[\[([^\]|#]+)(?:[|#][^\]]*)?\]\]")
_INDEX: Final = "MEMORY.md"


def recognise(source: Source) -> str | None:
    """Whether it is a brain, a note of one, or what its search answers."""
    if source.kind == "folder":
        return _folder(source.path)
    if source.kind == "text" and _native(split(source.text)[0]):
        return "its head has the fields of a jeffs-brain note"
    for row in sampled(source, *_LISTS):
        chunk = "chunkId" in row and "text" in row
        if chunk or (str(row.get("path", "")).endswith(".md") and "content" in row):
            return "its rows are chunks or documents with a path"
    return None


def _folder(path: Path) -> str | None:
    for root in _ROOTS:
        if (path / root).is_dir() and next(files(path / root), None):
            return f"it is a folder with {root}/ and Markdown files in it"
    return None


def _native(fields: dict[str, Any]) -> bool:
    scoped = fields.get("scope") in _SCOPES and fields.get("type") in _TYPES
    return scoped and bool({"name", "title"} & set(fields))


def read(source: Source) -> Iterator[Found]:
    """Notes with their links, or the rows of an answer."""
    if source.kind in ("folder", "text"):
        yield from _notes(source)
        return
    for found in rows(source, *_LISTS):
        if isinstance(found, Refused):
            yield found
        elif is_object(found.value):
            yield from _row(found)
        else:
            yield Refused(found.where, "expected a chunk or a document, an object")


def _notes(source: Source) -> Iterator[Found]:
    stems = _stems(source)
    for note in notes(source):
        if isinstance(note, Refused):
            yield note
            continue
        placed = Note(_placed(source, note.path), note.fields, note.text)
        base = PurePosixPath(placed.path).name
        if base.startswith("_") or base == _INDEX:
            yield Lost("generated files", placed.path)
            continue
        yield from _note(placed)
        yield from _links(placed, stems)


def _placed(source: Source, path: str) -> str:
    """The path inside the brain: of a single file, from its last memory/, wiki/ or raw/ on."""
    parts = source.path.absolute().parts if source.kind == "text" else PurePosixPath(path).parts
    roots = [at for at, part in enumerate(parts[:-1]) if part in _ROOTS]
    if source.kind == "text":
        return "/".join(parts[roots[-1] :]) if roots else parts[-1]
    return path


def _stems(source: Source) -> dict[str, str]:
    """The path of every note by its name without the ending, as links call it."""
    if source.kind != "folder":
        return {}
    paths = (path.relative_to(source.path).as_posix() for path in files(source.path))
    return {PurePosixPath(path).stem: path for path in paths}


def _note(note: Note) -> Iterator[Found]:
    fields = note.fields
    if not note.text.strip():
        yield Refused(note.path, "holds no text")
        return
    filling = Filling(NAME, note.path, note.path)
    filling.put("text", note.text.strip())
    filling.put("title", fields.get("name") or fields.get("title"), "name")
    filling.put("summary", fields.get("description") or fields.get("summary"), "description")
    filling.put("kind", fields.get("type"), "type")
    filling.put("tags", listed(fields.get("tags")))
    filling.put("session", fields.get("session_id"), "session_id")
    filling.when("created", fields.get("created"))
    seen = [fields.get(key) for key in ("observed_on", "observedOn", "session_date", "sessionDate")]
    filling.when("occurred", next(filter(None, seen), None), "observed_on")
    level = fields.get("confidence")
    filling.share("confidence", _LEVELS.get(level, level) if isinstance(level, str) else level)
    filling.share("importance", fields.get("importance"))
    told = {"path": note.path, "channel": fields.get("source")}
    filling.put("source", {key: str(value) for key, value in told.items() if value})
    if project := _project(note.path):
        filling.metadata["project"] = project
    filling.rest(fields, *_TAKEN)
    yield from filling.found(f"id {note.path}")


def _project(path: str) -> str | None:
    """The slug of a path like memory/project/<slug>/note.md."""
    found = re.match(r"memory/project/([^/]+)/", path)
    return found[1] if found else None


def _links(note: Note, stems: dict[str, str]) -> Iterator[Found]:
    """What a note replaces, and the notes that it names between double brackets."""
    mine = usable(note.path)
    for old in listed(note.fields.get("supersedes")):
        target = stems.get(PurePosixPath(old).stem)
        if target is None:
            yield Lost("supersedes of notes that are not here", old)
        else:
            since = moment(note.fields.get("created")) if note.fields.get("created") else None
            fields = {} if since is None else {"valid_from": since}
            yield Linked(note.path, mine, usable(target), "supersedes", fields)
    for named in dict.fromkeys(_LINK.findall(note.text)):
        target = stems.get(PurePosixPath(named.strip()).stem)
        if target is None:
            yield Lost("links to notes that are not here", named)
        elif target != note.path:
            yield Linked(note.path, mine, usable(target), "related_to", {})


def _row(found: Value) -> Iterator[Found]:
    """A chunk of an answer, or a document."""
    row = found.value
    text = row.get("text") or row.get("content")
    fields, body = split(text) if isinstance(text, str) else ({}, text)
    path = row.get("path")
    chunk = row.get("chunkId") or row.get("id") or path
    filling = Filling(NAME, found.where, chunk)
    filling.put("text", body, "content")
    if "text" not in filling.fields:
        yield Refused(found.where, "text: is missing, empty or no text")
        return
    filling.put("title", row.get("title") or fields.get("name") or fields.get("title"))
    filling.put("summary", row.get("summary") or fields.get("description"))
    filling.put("tags", listed(row.get("tags") or fields.get("tags")))
    filling.put("kind", fields.get("type"))
    filling.when("created", fields.get("created"))
    filling.put("source", {"path": str(path)} if path else None)
    inner = row.get("metadata")
    filling.metadata = dict(inner) if is_object(inner) else {}
    if project := _project(str(path)):
        filling.metadata.setdefault("project", project)
    if row.get("documentId"):
        filling.origin["document"] = str(row["documentId"])
    filling.rest(row, *_ROW)
    yield from filling.found(f"id {chunk}" if chunk else str(body))
