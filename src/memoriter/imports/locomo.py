"""Dialogs in the format of LoCoMo: dated sessions of turns, each turn with a speaker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from memoriter.imports.fields import FieldMap, parse_time
from memoriter.imports.port import Extracted, Format, Lost, rows_unknown
from memoriter.imports.source import (
    JSON,
    BadRow,
    InputFile,
    is_list,
    is_object,
    read_rows,
    sample_objects,
)

NAME: Final = "locomo"
_SESSION: Final = re.compile(r"session_(\d+)")
_DATE: Final = "%I:%M %p on %d %B, %Y"


def recognise(source: InputFile) -> str | None:
    """Why this is LoCoMo: its rows are dialogs of numbered sessions. None if it is not."""
    if any(_sessions(_dialog_of(row)) for row in sample_objects(source)):
        return "its rows are dialogs with session_1, session_2 …"
    return None


def _dialog_of(row: dict[str, Any]) -> dict[str, Any]:
    inner = row.get("conversation")
    return inner if is_object(inner) else row


def _sessions(dialog: dict[str, Any]) -> list[str]:
    return [key for key in dialog if _SESSION.fullmatch(key) and is_list(dialog[key])]


def read(source: InputFile) -> Iterator[Extracted]:
    """Every turn of every dialog."""
    nth = 0
    for item in read_rows(source):
        if isinstance(item, BadRow):
            yield item
        elif not is_object(item.value) or not _sessions(_dialog_of(item.value)):
            yield BadRow(item.where, "expected a dialog with session_1, session_2 …")
        else:
            yield from _turns(item.where, item.value, f"{source.path.stem}-{nth}")
            nth += 1


def _turns(where: str, row: dict[str, Any], named: str) -> Iterator[Extracted]:
    dialog = _dialog_of(row)
    name = str(row.get("sample_id") or named)
    for session in _sessions(dialog):
        date = dialog.get(f"{session}_date_time")
        for number, turn in enumerate(dialog[session]):
            place = f"{where}.{session}[{number}]"
            if is_object(turn):
                yield from _turn(place, turn, (name, session, number), date)
            else:
                yield BadRow(place, "expected a turn, an object")
    # What a sample has beside its dialog (questions, summaries) is not imported.
    for called in row:
        if called not in ("conversation", "sample_id") and dialog is not row:
            yield Lost(called, f"of {name}")


def _turn(
    where: str, turn: dict[str, Any], at: tuple[str, str, int], date: object
) -> Iterator[Extracted]:
    name, session, number = at
    turn_id = turn.get("dia_id") or f"{session}.{number}"
    record = FieldMap(NAME, where, f"{name}/{turn_id}")
    text, speaker = turn.get("text"), turn.get("speaker")
    # The caption of a shared picture becomes part of the text, so that it can be found.
    caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
    if not isinstance(text, str) or not (text.strip() or caption):
        yield BadRow(where, "text: is missing, empty or no text")
        return
    record.put("text", f"{speaker}: {text}{caption}" if speaker else f"{text}{caption}")
    record.put("source", {"who": str(speaker)} if speaker else None)
    record.put("kind", "message")
    record.put("memory_type", "episodic")
    record.put("session", f"{name}/{session.removeprefix('session_')}")
    record.put_time("created", _time(date), f"{session}_date_time")
    record.keep_rest(turn, "dia_id", "text", "speaker", "blip_caption")
    yield from record.finish(f"{name} {turn_id} {text}")


def _time(date: object) -> object:
    """The date of a session as ISO text if LoCoMo's notation parses, else unchanged."""
    if not isinstance(date, str) or parse_time(date) is not None:
        return date
    try:
        return datetime.strptime(date, _DATE).replace(tzinfo=UTC).isoformat()
    except ValueError:
        return date


FORMAT: Final = Format(
    NAME, "dialogs in LoCoMo's shape (JSON)", JSON, recognise, read, rows_unknown
)
