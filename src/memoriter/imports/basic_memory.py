"""basic-memory: a folder of Markdown notes with permalinks, observations and relations.

A note becomes a record; its observations stay in its text. A relation (`- requires [[Other]]`)
becomes an edge, if it leads to a note of the same folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoriter.imports.fields import FieldMap, edge_kind, record_id
from memoriter.imports.frontmatter import string_list
from memoriter.imports.markdown import Note, read_notes
from memoriter.imports.port import Extracted, Format, ImportedEdge, Lost, rows_unknown
from memoriter.imports.source import NOTES, BadRow, InputFile

NAME: Final = "basic-memory"
_RELATION: Final = re.compile(r"^\s*[-*]\s+([^\[\]\n]*?)\s*\[\[([^\]\n]+)\]\]", re.M)
_OBSERVATION: Final = re.compile(r"^\s*[-*]\s+\[([^\[\]\n]{2,})\]\s+\S", re.M)
_TAG: Final = re.compile(r"(?:^|\s)#([\w/-]+)")
_TAKEN: Final = ("title", "type", "tags", "permalink", "created", "date")
_SAMPLE: Final = 20


def recognise(source: InputFile) -> str | None:
    """Why these are notes of basic-memory: a permalink in the head. None if they are not."""
    if source.kind not in NOTES:
        return None
    if source.kind != "folder" and source.path.suffix.lower() not in (".md", ".markdown"):
        return None
    for _, note in zip(range(_SAMPLE), read_notes(source), strict=False):
        if isinstance(note, Note) and "permalink" in note.fields:
            return "its notes have a permalink"
    return None


def read(source: InputFile) -> Iterator[Extracted]:
    """The notes, then the relations between them."""
    notes: list[Note] = []
    for note in read_notes(source):
        if isinstance(note, BadRow):
            yield note
            continue
        notes.append(note)
        yield from _record(note)
    known = {name.casefold(): _id(note) for note in notes for name in _names(note)}
    for note in notes:
        for kind, target in _RELATION.findall(note.text):
            where = f"{note.path}: [[{target}]]"
            other = known.get(target.split("|")[0].strip().casefold())
            if other is None:
                yield Lost("relations to notes that are not there", where)
            elif other != _id(note):
                yield ImportedEdge(where, _id(note), other, _kind(kind), {})


def _record(note: Note) -> Iterator[Extracted]:
    if not note.text.strip():
        yield BadRow(note.path, "holds no text")
        return
    record = FieldMap(NAME, note.path, _id(note))
    record.put("text", note.text.strip())
    record.put("title", note.fields.get("title") or Path(note.path).stem)
    record.put("kind", note.fields.get("type"), "type")
    record.put_words("tags", [*string_list(note.fields.get("tags")), *_TAG.findall(note.text)])
    record.put_words("concepts", _OBSERVATION.findall(note.text))
    record.put_time("created", note.fields.get("created") or note.fields.get("date"))
    record.put("source", {"path": note.path})
    record.keep_rest(note.fields, *_TAKEN)
    yield from record.finish(f"{note.path}\n{note.text}")


def _id(note: Note) -> str:
    return record_id(str(note.fields.get("permalink") or note.path))


def _names(note: Note) -> Iterator[str]:
    """How a relation may call a note."""
    yield from filter(None, (str(note.fields.get("title") or ""), Path(note.path).stem))
    yield str(note.fields.get("permalink") or note.path)


def _kind(spelled: str) -> str:
    plain = re.sub(r"[^\w]+", "_", spelled).strip("_")
    return edge_kind(plain) if plain else "related_to"


FORMAT: Final = Format(
    NAME, "notes of basic-memory (Markdown)", NOTES, recognise, read, rows_unknown
)
