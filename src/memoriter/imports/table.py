"""Every format that can be imported, and which of them a file is.

Formats of other systems come by entry points of the group `memoriter.importers`, each named as its
format and leading to a `Format`.
"""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from memoriter.core import plugins
from memoriter.core.errors import InputError
from memoriter.imports import chat, locomo, markdown, ours
from memoriter.imports.port import Format
from memoriter.imports.source import InputFile
from memoriter.imports.sqlite import table_columns

AUTO: Final = "auto"
EXPORT: Final = ours.EXPORT.name
_GROUP: Final = "importers"
_OWN: Final = (
    ours.EXPORT, chat.FORMAT, locomo.FORMAT, ours.JSONL, markdown.FORMAT, ours.TEXT,
)  # fmt: skip


@cache
def formats() -> tuple[Format, ...]:
    """Every format: ours, and those of other systems that can be loaded."""
    others = plugins.load_all(_GROUP, Format, taken=[each.name for each in _OWN])
    return (_OWN[0], *others.values(), *_OWN[1:])


def format_names() -> tuple[str, ...]:
    """What a call may name as its format; no importer is loaded for it."""
    own = [each.name for each in _OWN]
    others = (name for name in plugins.points(_GROUP) if name not in own)
    return (AUTO, own[0], *others, *own[1:])


class Recognised(NamedTuple):
    """A file, what it is, and why."""

    source: InputFile
    format: Format
    why: str


def detect_format(path: Path, asked: str = AUTO) -> Recognised:
    """What a file is: as asked, or as its content tells; a file that nobody knows is refused."""
    form = next((each for each in formats() if each.name == asked), None)
    if form is None and asked != AUTO:
        raise _no_format(asked)
    source = InputFile(path)
    if form is not None:
        return _as_asked(source, form)
    for general in (False, True):
        fitting = [
            (each, why)
            for each in formats()
            if each.general is general and (why := each.recognise(source))
        ]
        if len(fitting) > 1 and not general:
            listed = "; ".join(f"{each.name} ({why})" for each, why in fitting)
            raise InputError(
                f"{path} may be more than one thing: {listed}",
                hint="say which with --format",
                field="format",
            )
        if fitting:
            return Recognised(source, *fitting[0])
    raise _unknown(source)


def _no_format(asked: str) -> InputError:
    if asked in plugins.points(_GROUP):
        try:
            plugins.load(_GROUP, asked, Format)
        except plugins.CannotLoad as error:
            message = f"format {asked!r} cannot be loaded: {error}"
            hint = f"it is {plugins.points(_GROUP)[asked].value}"
            return InputError(message, hint=hint, field="format")
    near = difflib.get_close_matches(asked, format_names(), 1)
    hint = (f"did you mean {near[0]}? " if near else "") + plugins.known(format_names())
    return InputError(f"format: {asked!r} is none", hint=hint, field="format")


def _as_asked(source: InputFile, form: Format) -> Recognised:
    """The format that was asked for, unless the file cannot be of it at all."""
    why = form.recognise(source)
    if source.kind not in form.kinds or (form.strict and why is None):
        raise InputError(
            f"{source.path} is not {form.about}",
            hint="leave --format out to see what it is",
            field="format",
        )
    return Recognised(source, form, why or "it was asked for")


def _unknown(source: InputFile) -> InputError:
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
        f"{source.path} is JSON of no shape that is known",
        hint=f"say what it is with --format: {', '.join(format_names()[1:])}",
        field="format",
    )


def _advice(source: InputFile) -> str:
    """What to do with a file that no format reads."""
    if source.kind == "sqlite" and {"chain", "tenants"} <= set(table_columns(source.path)):
        return "it is a store of Memoriter: memoriter export writes a file that can be imported"
    if source.head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "it is UTF-16: convert it to UTF-8"
    advice = (each.advise(source) for each in formats())
    return next(filter(None, advice), "import reads " + ", ".join(format_names()[1:]))
