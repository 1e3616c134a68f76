"""The log of a server: a line per request, as text or as JSON, without any text of a memory.

What a line says is in the `fields` of its record: operation, token id, status, milliseconds. Of
records of other modules only the constant message is written, not what it is filled with, which may
hold an id, a file or a question; of an exception only its type.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, TextIO, cast

from memoriter.core.errors import InputError

LogFormat = Literal["off", "text", "json"]
FORMATS: Final[tuple[LogFormat, ...]] = ("off", "text", "json")
_LOGGERS: Final = ("memoriter", "uvicorn.error")
REQUESTS: Final = logging.getLogger("memoriter.http")


def log_event(level: int, event: str, **fields: object) -> None:
    """Write an event of the server; the fields must not hold text of a memory or a question."""
    if REQUESTS.isEnabledFor(level):
        line = " ".join(f"{key}={value}" for key, value in fields.items() if value is not None)
        REQUESTS.log(level, "%s %s", event, line, extra={"event": event, "fields": fields})


def log_format(name: str) -> LogFormat:
    """The name, if it is that of a format; else raises InputError."""
    if name not in FORMATS:
        raise InputError(
            f"log: there is no log format {name[:80]!r}",
            hint=f"known: {', '.join(FORMATS)}",
            field="log",
        )
    return name


def start_logging(kind: LogFormat, stream: TextIO) -> None:
    """Write the log to a stream from now on."""
    if kind == "off":
        logging.getLogger("memoriter").addHandler(logging.NullHandler())
        return
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter(kind))
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False


class LineFormatter(logging.Formatter):
    """One line per record, as JSON or as text."""

    def __init__(self, kind: LogFormat) -> None:
        super().__init__()
        self._json = kind == "json"

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        fields = cast("Mapping[str, Any]", getattr(record, "fields", {}))
        kept = {key: value for key, value in fields.items() if value is not None}
        if record.exc_info and record.exc_info[0] is not None:
            kept["exception"] = record.exc_info[0].__name__
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": getattr(record, "event", str(record.msg)),
            **kept,
        }
        if self._json:
            return json.dumps(line, ensure_ascii=False)
        head = f"{line['time']} {line['level']} {line['logger']}: {line['event']}"
        return " ".join([head, *(f"{key}={value}" for key, value in kept.items())])
