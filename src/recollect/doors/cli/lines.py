"""The lines of a file to import, each checked: a memory, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from recollect.core.draft import Draft
from recollect.core.errors import BadRecord
from recollect.doors.cli.values import json_of, read_text


class Good(NamedTuple):
    """A line that can be written."""

    where: str
    data: dict[str, Any]


class Bad(NamedTuple):
    """A line that cannot, and why."""

    where: str
    reason: str
    hint: str
    field: str | None


def read_lines(path: Path) -> Iterator[Good | Bad]:
    """Every line of a file that is not empty; which file and line it is stands beside it."""
    is_json = path.suffix.lower() in {".jsonl", ".json", ".ndjson"}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield _line(f"{path}:{number}", line.rstrip("\r"), is_json=is_json)


def _line(where: str, line: str, *, is_json: bool) -> Good | Bad:
    try:
        data = json_of(line, "line", BadRecord) if is_json else line.strip()
        Draft.of(data)
    except BadRecord as error:
        hint = "" if error.message.startswith("line: not JSON") else error.hint
        return Bad(where, error.message.removeprefix("line: "), hint, error.field)
    return Good(where, {"text": data} if isinstance(data, str) else cast("dict[str, Any]", data))
