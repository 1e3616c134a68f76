"""Imports jeffs-brain: a folder of notes with front matter, one such note, or JSON of its API."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from memoriter.imports.fields import FieldMap, parse_time, record_id
from memoriter.imports.frontmatter import split_frontmatter, string_list
from memoriter.imports.markdown import Note, markdown_files, read_notes
from memoriter.imports.port import Extracted, Format, ImportedEdge, Lost
from memoriter.imports.source import (
    JSON,
    MARKDOWN,
    NOTES,
    BadRow,
    InputFile,
    Value,
    is_object,
    object_or_empty,
    read_rows,
    sample_objects,
)

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
_ROW_NAMES: Final = {"title": "name", "summary": "description", "tags": "tags"}
_LEVELS: Final = {"low": 0.3, "medium": 0.6, "high": 0.9}
"""Confidence words of jeffs-brain as numbers."""
_SEEN: Final = ("observed_on", "observedOn", "session_date", "sessionDate")
"""Keys of the time of an event, in front matter or in the metadata of a chunk."""
_LINK: Final = re.compile(r"\[\[([^\]|#]+)(?:[|#][^\]]*)?\]\]")
_INDEX: Final = "MEMORY.md"


def recognise(source: InputFile) -> str | None:
    """Why this is a brain, a note of one, or an answer of its search; None if it is not."""
    if source.kind == "folder":
        return _folder(source.path)
    if source.kind == "text" and _native(split_frontmatter(source.text)[0]):
        return "its head has the fields of a jeffs-brain note"
    for row in sample_objects(source, *_LISTS):
        chunk = "chunkId" in row and "text" in row
        if chunk or (str(row.get("path", "")).endswith(".md") and "content" in row):
            return "its rows are chunks or documents with a path"
    return None


def _folder(path: Path) -> str | None:
    for root in _ROOTS:
        if (path / root).is_dir() and next(markdown_files(path / root), None):
            return f"it is a folder with {root}/ and Markdown files in it"
    return None


def _native(fields: dict[str, Any]) -> bool:
    scoped = fields.get("scope") in _SCOPES and fields.get("type") in _TYPES
    return scoped and bool({"name", "title"} & set(fields))


def read(source: InputFile) -> Iterator[Extracted]:
    """Notes with their links, or the rows of a search answer."""
    if source.kind in ("folder", "text"):
        yield from _notes(source)
        return
    heads = dict(_heads_of_rows(source))
    for item in read_rows(source, *_LISTS):
        if isinstance(item, BadRow):
            yield item
        elif is_object(item.value):
            yield from _row(item, heads)
        else:
            yield BadRow(item.where, "expected a chunk or a document, an object")


def _notes(source: InputFile) -> Iterator[Extracted]:
    known = (note for note in read_notes(source) if isinstance(note, Note))
    heads = {_placed(source, note.path): note.fields for note in known}
    for note in read_notes(source):
        if isinstance(note, BadRow):
            yield note
            continue
        placed = Note(_placed(source, note.path), note.fields, note.text)
        base = PurePosixPath(placed.path).name
        if base.startswith("_") or base == _INDEX:
            yield Lost("generated files", placed.path)
            continue
        yield from _note(placed)
        yield from _links(placed, heads)


def _placed(source: InputFile, path: str) -> str:
    """The path inside the brain; of a single file, from its last memory/, wiki/ or raw/ on."""
    parts = source.path.absolute().parts if source.kind == "text" else PurePosixPath(path).parts
    roots = [at for at, part in enumerate(parts[:-1]) if part in _ROOTS]
    if source.kind == "text":
        return "/".join(parts[roots[-1] :]) if roots else parts[-1]
    return path


def _note(note: Note) -> Iterator[Extracted]:
    if not note.text.strip():
        yield BadRow(note.path, "holds no text")
        return
    record = FieldMap(NAME, note.path, note.path)
    record.put("text", note.text.strip())
    _head(record, note.path, note.fields)
    yield from record.finish(f"id {note.path}")


def _head(record: FieldMap, path: str, fields: Mapping[str, Any]) -> None:
    """Take the front matter of a note, and its path."""
    record.put("title", fields.get("name") or fields.get("title"), "name")
    record.put("summary", fields.get("description") or fields.get("summary"), "description")
    record.put("kind", fields.get("type"), "type")
    record.put("tags", string_list(fields.get("tags")))
    record.put("session", fields.get("session_id"), "session_id")
    record.put_time("created", fields.get("created"))
    record.put_time("occurred", next(filter(None, map(fields.get, _SEEN)), None), "observed_on")
    level = fields.get("confidence")
    record.put_fraction(
        "confidence", _LEVELS.get(level, level) if isinstance(level, str) else level
    )
    record.put_fraction("importance", fields.get("importance"))
    origin = {"path": path, "channel": fields.get("source")}
    record.put("source", {key: str(value) for key, value in origin.items() if value})
    if project := _project(path):
        record.metadata["project"] = project
    record.keep_rest(fields, *_TAKEN)


def _project(path: str) -> str | None:
    """The slug of a path like memory/project/<slug>/note.md."""
    match = re.match(r"memory/project/([^/]+)/", path)
    return match[1] if match else None


def _links(note: Note, heads: Mapping[str, Mapping[str, Any]]) -> Iterator[Extracted]:
    """Edges for what a note supersedes, what superseded it, and its [[links]]."""
    for named in string_list(note.fields.get("supersedes")):
        old = resolve_link(named, note.path, heads)
        if old is None:
            yield Lost("supersedes of notes that are not here", named)
        else:
            yield _replaced(note.path, (note.path, old), note.fields)
    for named in string_list(note.fields.get("superseded_by")):
        new = resolve_link(named, note.path, heads)
        if new is not None:  # else the metadata keeps the name
            yield _replaced(note.path, (new, note.path), heads[new])
    for named in dict.fromkeys(_LINK.findall(note.text)):
        target = resolve_link(named, note.path, heads)
        if target is None:
            yield Lost("links to notes that are not here", named)
        elif target != note.path:
            yield ImportedEdge(note.path, record_id(note.path), record_id(target), "related_to", {})


def _replaced(where: str, ends: tuple[str, str], newer: Mapping[str, Any]) -> ImportedEdge:
    """The edge from a note to the one that it supersedes, valid since its creation."""
    since = parse_time(newer["created"]) if newer.get("created") else None
    fields = {} if since is None else {"valid_from": since}
    newest, old = ends
    return ImportedEdge(where, record_id(newest), record_id(old), "supersedes", fields)


def resolve_link(link: str, source: str, paths: Mapping[str, object]) -> str | None:
    """The path that a link in the note `source` refers to; None if it is unknown or ambiguous.

    A link is relative to the folder of its note, or a whole path, or the unique end of one.

    >>> known = dict.fromkeys(["memory/x/a.md", "memory/y/a.md", "wiki/b.md"])
    >>> resolve_link("memory/y/a.md", "wiki/b.md", known), resolve_link("a", "memory/x/c.md", known)
    ('memory/y/a.md', 'memory/x/a.md')
    >>> resolve_link("y/a", "wiki/b.md", known), resolve_link("b", "memory/x/a.md", known)
    ('memory/y/a.md', 'wiki/b.md')
    >>> resolve_link("a", "wiki/b.md", known)  # two notes end in a.md
    """
    plain = link.strip().lstrip("/")
    plain = plain if PurePosixPath(plain).suffix.lower() in MARKDOWN else f"{plain}.md"
    near = posixpath.normpath(posixpath.join(posixpath.dirname(source), plain))
    for path in (near, posixpath.normpath(plain)):
        if path in paths:
            return path
    ending = [path for path in paths if f"/{path}".endswith(f"/{posixpath.normpath(plain)}")]
    return ending[0] if len(ending) == 1 else None


def _heads_of_rows(source: InputFile) -> Iterator[tuple[str, dict[str, Any]]]:
    """(path, front matter) of every document that has a path."""
    for item in read_rows(source, *_LISTS):
        row = {} if isinstance(item, BadRow) else object_or_empty(item.value)
        if isinstance(row.get("path"), str) and not row.get("chunkId") and not row.get("id"):
            yield row["path"], split_frontmatter(str(row.get("text") or row.get("content")))[0]


def _row(item: Value, heads: Mapping[str, Mapping[str, Any]]) -> Iterator[Extracted]:
    """A chunk of an answer, or a document. Fields of the row override its front matter."""
    row = item.value
    text = row.get("text") or row.get("content")
    head, body = split_frontmatter(text) if isinstance(text, str) else ({}, text)
    path = str(row.get("path") or "")
    chunk = row.get("chunkId") or row.get("id") or path or None
    record = FieldMap(NAME, item.where, chunk)
    record.put("text", body, "content")
    if "text" not in record.fields:
        yield BadRow(item.where, "text: is missing, empty or no text")
        return
    inner = object_or_empty(row.get("metadata"))
    fields = {
        **{key: inner[key] for key in _SEEN if key in inner}, **head,
        **{name: row[own] for own, name in _ROW_NAMES.items() if row.get(own)},
    }  # fmt: skip
    _head(record, path, fields)
    record.metadata = {**record.metadata, **inner}
    if row.get("documentId"):
        record.origin["document"] = str(row["documentId"])
    record.keep_rest(row, *_ROW)
    yield from record.finish(f"id {chunk}" if chunk else str(body))
    if path in heads:
        yield from _links(Note(path, head, str(body)), heads)


FORMAT: Final = Format(NAME, "a jeffs-brain folder, note or JSON", JSON | NOTES, recognise, read)
