"""Every format that can be imported, and which of them a file is."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Final, NamedTuple

from memoriter.core.errors import InputError
from memoriter.imports import (
    chat,
    comis,
    engrava,
    jeffs_brain,
    locomo,
    markdown,
    mentisdb,
    mnestic,
    ours,
)
from memoriter.imports.port import Format
from memoriter.imports.source import Source
from memoriter.imports.sqlite import tables

AUTO: Final = "auto"
EXPORT: Final = "memoriter"
FORMATS: Final = (
    Format(EXPORT, "a tenant that export wrote", ours.is_export, ours.read_export),
    Format(
        engrava.NAME, "an engrava database, snapshot or export", engrava.recognise, engrava.read,
    ),
    Format(mentisdb.NAME, "a MentisDB chain or MEMORY.md", mentisdb.recognise, mentisdb.read),
    Format(mnestic.NAME, "a dump of mnestic relations (JSON)", mnestic.recognise, mnestic.read),
    Format(comis.NAME, "entries that Comis exported (JSON)", comis.recognise, comis.read),
    Format(
        jeffs_brain.NAME, "a jeffs-brain folder, note or JSON", jeffs_brain.recognise,
        jeffs_brain.read,
    ),
    Format(chat.NAME, "chats of OpenAI and Anthropic (JSON)", chat.recognise, chat.read),
    Format(locomo.NAME, "dialogs in LoCoMo's shape (JSON)", locomo.recognise, locomo.read),
    Format("jsonl", "texts or records as JSON", ours.is_jsonl, ours.read_jsonl, general=True),
    Format("markdown", "Markdown notes", markdown.recognise, markdown.read, general=True),
    Format("text", "a text on each line", ours.is_text, ours.read_text_lines, general=True),
)  # fmt: skip
NAMES: Final = (AUTO, *(each.name for each in FORMATS))
_JSON: Final = frozenset({EXPORT, "mnestic", "chat", "locomo", "jsonl"})
_FOLDERS: Final = frozenset({"markdown", "jeffs-brain", "comis"})


class Chosen(NamedTuple):
    """A file, what it is, and why."""

    source: Source
    format: Format
    why: str


def chosen(path: Path, asked: str = AUTO) -> Chosen:
    """What a file is: as asked, or as its content tells; a file that nobody knows is refused."""
    if asked not in NAMES:
        near = difflib.get_close_matches(asked, NAMES, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError(
            f"format: {asked!r} is none", hint=f"{hint}known: {', '.join(NAMES)}", field="format"
        )
    source = Source(path)
    if asked != AUTO:
        return _as_asked(source, next(each for each in FORMATS if each.name == asked))
    for general in (False, True):
        found = [
            (each, why)
            for each in FORMATS
            if each.general is general and (why := each.recognise(source))
        ]
        if len(found) > 1 and not general:
            told = "; ".join(f"{each.name} ({why})" for each, why in found)
            raise InputError(
                f"{path} may be more than one thing: {told}",
                hint="say which with --format",
                field="format",
            )
        if found:
            return Chosen(source, *found[0])
    raise _unknown(source)


def _as_asked(source: Source, form: Format) -> Chosen:
    """The format that was asked for, unless the file cannot be of it at all."""
    why = form.recognise(source)
    fits = {
        "sqlite": form.name == engrava.NAME,
        "binary": False,
        "folder": form.name in _FOLDERS,
        "text": form.name not in _JSON and form.name != engrava.NAME,
        "document": form.name not in ("markdown", "text"),
        "lines": form.name != "markdown",
    }[source.kind]
    strict = form.name in (EXPORT, engrava.NAME, mnestic.NAME)
    if not fits or (strict and why is None):
        raise InputError(
            f"{source.path} is not {form.about}",
            hint="leave --format out to see what it is",
            field="format",
        )
    return Chosen(source, form, why or "it was asked for")


def _unknown(source: Source) -> InputError:
    known = ", ".join(NAMES[1:])
    if source.kind == "sqlite":
        return InputError(
            f"{source.path} is a SQLite file, but not of engrava", hint=_database(source)
        )
    if source.kind == "folder":
        return InputError(
            f"{source.path} is a folder without Markdown files",
            hint="name a file, or a folder of Markdown notes",
        )
    if source.kind == "binary":
        return InputError(f"{source.path} is neither text nor SQLite", hint=_binary(source))
    return InputError(
        f"{source.path} is JSON of no shape that is known",
        hint=f"say what it is with --format: {known}",
        field="format",
    )


def _database(source: Source) -> str:
    """What to do with a database that cannot be read here."""
    known = tables(source.path)
    if "chain" in known and "tenants" in known:
        return "it is a store of Memoriter: memoriter export writes a file that can be imported"
    if "cozo" in known:
        return "it is a store of mnestic: write export_relations([…]) to a JSON file"
    if {"content", "trust_level"} <= known.get("memories", set()):
        return "it is a store of Comis: import what its memory.export answers"
    return "import reads " + ", ".join(NAMES[1:])


def _binary(source: Source) -> str:
    if source.path.suffix == ".tcbin":
        return "it is a binary chain of MentisDB: export it as JSON or as a MEMORY.md"
    if source.head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "it is UTF-16: convert it to UTF-8"
    return "import reads " + ", ".join(NAMES[1:])
