"""The registry of import formats, and the detection of the format of a file.

Formats of other systems are entry points of the group `memoriter.importers`, each with the name of
its format and referring to a `Format`.
"""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from memoriter.core import plugins
from memoriter.core.errors import EARLIER_APPLICATION_ID, InputError, earlier_name_error
from memoriter.imports import basic_memory, chat, claude_mem, locomo, markdown, mem0, ours
from memoriter.imports.port import Format
from memoriter.imports.source import InputFile
from memoriter.imports.sqlite import application_id, table_columns

AUTO: Final = "auto"
EXPORT: Final = ours.EXPORT.name
_GROUP: Final = "importers"
_OWN: Final = (
    ours.EXPORT, claude_mem.FORMAT, mem0.FORMAT, basic_memory.FORMAT, chat.FORMAT, locomo.FORMAT,
    ours.JSONL, markdown.FORMAT, ours.TEXT,
)  # fmt: skip


@cache
def formats() -> tuple[Format, ...]:
    """Every format: the built-in ones, and those of other packages that can be loaded."""
    others = plugins.load_all(_GROUP, Format, taken=[each.name for each in _OWN])
    return (_OWN[0], *others.values(), *_OWN[1:])


def format_names() -> tuple[str, ...]:
    """The names that `--format` accepts; loads no importer."""
    own = [each.name for each in _OWN]
    others = (name for name in plugins.points(_GROUP) if name not in own)
    return (AUTO, own[0], *others, *own[1:])


class Recognised(NamedTuple):
    """A file, its format, and the reason for it."""

    source: InputFile
    format: Format
    why: str


def detect_format(path: Path, name: str = AUTO) -> Recognised:
    """The format of a file: the given one, or detected from its content.

    Raises `InputError` if there is no such format, or if none or several fit, and `Unsupported` for
    a store that was written under the project's earlier name.
    """
    form = next((each for each in formats() if each.name == name), None)
    if form is None and name != AUTO:
        raise _no_format(name)
    source = InputFile(path)
    if source.kind == "sqlite" and application_id(path) == EARLIER_APPLICATION_ID:
        raise earlier_name_error(source.name)
    if form is not None:
        return _checked(source, form)
    # Specific formats first: plain text and JSON would fit nearly everything.
    for general in (False, True):
        fitting = [
            (each, why)
            for each in formats()
            if each.general is general and (why := each.recognise(source))
        ]
        if len(fitting) > 1 and not general:
            listed = "; ".join(f"{each.name} ({why})" for each, why in fitting)
            raise InputError(
                f"{path} fits several formats: {listed}",
                hint=f'choose one: format="{fitting[0][0].name}"',
                field="format",
            )
        if fitting:
            return Recognised(source, *fitting[0])
    raise _unknown(source)


def _no_format(name: str) -> InputError:
    if name in plugins.points(_GROUP):
        try:
            plugins.load(_GROUP, name, Format)
        except plugins.CannotLoad as error:
            message = f"format {name!r} cannot be loaded: {error}"
            hint = f"it is {plugins.points(_GROUP)[name].value}"
            return InputError(message, hint=hint, field="format")
    near = difflib.get_close_matches(name, format_names(), 1)
    hint = (f"did you mean {near[0]}? " if near else "") + plugins.known(format_names())
    return InputError(f"there is no format {name!r}", hint=hint, field="format")


def _checked(source: InputFile, form: Format) -> Recognised:
    """The given format; raises `InputError` if the file cannot have it."""
    why = form.recognise(source)
    if source.kind not in form.kinds or (form.strict and why is None):
        raise InputError(
            f"{source.path} is not a file of the format {form.name} ({form.about})",
            hint="leave the format out to have it detected",
            field="format",
        )
    return Recognised(source, form, why or "the format was given")


def _unknown(source: InputFile) -> InputError:
    if source.kind == "sqlite" and _is_store(source):
        return InputError(f"{source.path} is a store of Memoriter", hint=export_first(source.path))
    if source.kind == "sqlite":
        readers = " or ".join(each.name for each in formats() if "sqlite" in each.kinds)
        readable = f", but not of {readers}" if readers else ", which no format reads"
        return InputError(f"{source.path} is a SQLite file{readable}", hint=_advice(source))
    if source.kind == "folder":
        return InputError(
            f"{source.path} is a folder without Markdown files",
            hint="name a file, or a folder of Markdown notes",
        )
    if source.kind == "binary":
        return InputError(f"{source.path} is neither text nor SQLite", hint=_advice(source))
    return InputError(
        f"{source.path} is JSON in no known format",
        hint=f'name its format, for example format="jsonl"; {plugins.known(format_names()[1:])}',
        field="format",
    )


def _is_store(source: InputFile) -> bool:
    return {"chain", "tenants"} <= set(table_columns(source.path))


def export_first(path: Path) -> str:
    """The hint for a store that somebody wants to import."""
    return f"memoriter export all.export --store {path}, then memoriter import all.export"


def _advice(source: InputFile) -> str:
    """What to do with a file that no format can read."""
    if source.head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "it is UTF-16: convert it to UTF-8"
    if source.head.startswith(b"PK\x03\x04"):
        return "it is a ZIP archive: unpack it, then import a file of it (conversations.json)"
    advice = (each.advise(source) for each in formats())
    return next(filter(None, advice), "import reads " + ", ".join(format_names()[1:]))
