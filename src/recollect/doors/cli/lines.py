"""The lines of a file to import, each checked: a memory, or what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, cast

from recollect.core.draft import Draft
from recollect.core.errors import BadRecord
from recollect.doors.cli.values import read_text

_JSON: Final = frozenset({".jsonl", ".ndjson", ".json"})


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
    text = read_text(path)
    is_json = path.suffix.lower() in _JSON or text.lstrip().startswith("{")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _line(f"{path}:{number}", line.strip(), is_json=is_json)


def _line(where: str, line: str, *, is_json: bool) -> Good | Bad:
    try:
        data = json.loads(line, parse_constant=_refuse) if is_json else line
        Draft.of(data)
    except BadRecord as error:
        return Bad(where, error.message, error.hint, error.field)
    except (ValueError, RecursionError) as error:
        return Bad(where, f"not JSON: {error}", "each line must be one JSON value", None)
    return Good(where, {"text": data} if isinstance(data, str) else cast("dict[str, Any]", data))


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
