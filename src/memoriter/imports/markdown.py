"""Markdown notes: each section of a file becomes a record, titled by its headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from memoriter.core.errors import InputError
from memoriter.imports.fields import FieldMap
from memoriter.imports.frontmatter import split_frontmatter, string_list
from memoriter.imports.port import Extracted, Format
from memoriter.imports.source import MARKDOWN, NOTES, BadRow, InputFile, read_text

_HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_FENCE: Final = re.compile(r"\s*(```|~~~)")
_TAKEN: Final = (
    "title", "name", "summary", "description", "type", "tags", "created", "date", "session",
    "importance", "confidence", "author",
)  # fmt: skip


class Note(NamedTuple):
    """One file: its path relative to the source, its front matter and its text."""

    path: str
    fields: dict[str, Any]
    text: str


class MarkdownSection(NamedTuple):
    """The text below one heading."""

    headings: tuple[str, ...]
    """From the outermost one inwards."""
    line: int
    """Where the text begins, counted from 1."""
    text: str


def recognise(source: InputFile) -> str | None:
    """Why this is Markdown: a file by its name, or a folder of such files. None if it is not."""
    if source.kind == "folder":
        first = next(markdown_files(source.path), None)
        return "it is a folder with Markdown files" if first else None
    if source.kind == "text" and source.path.suffix.lower() in MARKDOWN:
        return "its name says that it is Markdown"
    return None


def markdown_files(folder: Path) -> Iterator[Path]:
    """The Markdown files below a folder, sorted by path, without hidden ones and symbolic links.

    Links are skipped: they could lead out of the folder or in a circle.
    """
    try:
        for child in sorted(folder.iterdir()):
            if child.name.startswith(".") or child.is_symlink():
                continue
            if child.is_dir():
                yield from markdown_files(child)
            elif child.suffix.lower() in MARKDOWN:
                yield child
    except OSError as error:
        raise InputError(
            f"the folder {folder} cannot be read: {error.strerror}", hint="check its permissions"
        ) from None


def read_notes(source: InputFile) -> Iterator[Note | BadRow]:
    """The notes of a file or folder; one that cannot be read is yielded as a `BadRow`."""
    if source.kind != "folder":
        yield Note(source.name, *split_frontmatter(source.text))
        return
    for path in markdown_files(source.path):
        name = path.relative_to(source.path).as_posix()
        try:
            yield Note(name, *split_frontmatter(read_text(path)))
        except InputError as error:
            yield BadRow(name, error.message, error.hint)


def read(source: InputFile) -> Iterator[Extracted]:
    """The sections of every note."""
    for note in read_notes(source):
        if isinstance(note, BadRow):
            yield note
            continue
        parts = markdown_sections(note.text)
        if not parts:
            yield BadRow(note.path, "holds no text", "")
        for section in parts:
            yield from _record(note, section)


def _record(note: Note, section: MarkdownSection) -> Iterator[Extracted]:
    headings, line, text = section
    fields = note.fields
    record = FieldMap("markdown", f"{note.path}:{line}")
    record.put("text", text)
    named = fields.get("title") or fields.get("name")
    above = [str(named)] if named and str(named) not in headings else []
    record.put("title", " › ".join([*above, *headings]) or Path(note.path).stem)
    record.put("tags", string_list(fields.get("tags")))
    record.put("summary", fields.get("summary") or fields.get("description"))
    record.put("kind", fields.get("type"))
    record.put_time("created", fields.get("created") or fields.get("date"))
    record.put("session", fields.get("session"))
    record.put_fraction("importance", fields.get("importance"))
    record.put_fraction("confidence", fields.get("confidence"))
    who = {"who": str(fields["author"])} if fields.get("author") else {}
    record.put("source", {"path": note.path, **who})
    record.keep_rest(fields, *_TAKEN)
    yield from record.finish("\n".join([note.path, *headings, text]))


def markdown_sections(text: str) -> list[MarkdownSection]:
    r"""The sections of a text that are not blank.

    >>> [tuple(section) for section in markdown_sections("# A\nfirst\n## B\nsecond\n")]
    [(('A',), 2, 'first'), (('A', 'B'), 4, 'second')]
    """
    out: list[MarkdownSection] = []
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    begun, fenced = 1, False

    def close() -> None:
        body = "\n".join(lines).strip("\n").rstrip()
        if body.strip():
            skipped = next(n for n, line in enumerate(lines) if line.strip())
            out.append(MarkdownSection(tuple(name for _, name in above), begun + skipped, body))

    for number, line in enumerate(text.splitlines(), start=1):
        fenced ^= bool(_FENCE.match(line))  # a `#` in a code block is no heading
        heading = None if fenced else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        close()
        depth = len(heading[1])
        above = [*(one for one in above if one[0] < depth), (depth, heading[2])]
        lines, begun = [], number + 1
    close()
    return out


FORMAT: Final = Format("markdown", "Markdown notes", NOTES, recognise, read, general=True)
