"""Where output goes: the answer on stdout, as text or as one JSON document; the rest on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TextIO

from memoriter.text.safe import safe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_WIDTH: Final = 100
"""Columns where there is no terminal."""
_NARROWEST: Final = 20
_WIDEST: Final = 1000


def show(data: object, text: Callable[[], RenderableType], *, as_json: bool) -> None:
    """Print the answer of a command: as one JSON document, or as text for people."""
    if as_json:
        print_json(data)
    else:
        console().print(text(), crop=False)


def print_json(data: object) -> None:
    """Print one JSON document on stdout."""
    print(json_text(data, sys.stdout, indent=2))


def json_text(data: object, stream: TextIO, indent: int | None = None) -> str:
    """JSON for a stream; one that is not UTF-8 gets escapes, so that nothing is lost."""
    return json.dumps(data, ensure_ascii=not _is_utf8(stream), allow_nan=False, indent=indent)


def _is_utf8(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "").replace("-", "").lower() == "utf8"


def console(*, stderr: bool = False) -> Console:
    """The console that text is drawn on: without a terminal, plain and 100 columns wide."""
    from rich.console import Console  # noqa: PLC0415  # `--json` needs no rich

    stream = sys.stderr if stderr else sys.stdout
    if _is_terminal(stream):
        return Console(file=stream, highlight=False, markup=False, emoji=False)
    colours = bool(os.environ.get("FORCE_COLOR"))
    return Console(
        file=stream, highlight=False, markup=False, emoji=False,
        width=_columns(), force_terminal=colours, no_color=None if colours else True,
    )  # fmt: skip


def _columns() -> int:
    text = os.environ.get("COLUMNS", "")
    number = int(text) if text.isascii() and text.isdigit() else _WIDTH
    return number if _NARROWEST <= number <= _WIDEST else _WIDTH


def note(text: str) -> None:
    """Print a line for people that is not part of the answer, on stderr."""
    print(safe(text), file=sys.stderr)


def shows_progress() -> bool:
    """Whether stderr is a terminal, so that progress is worth drawing."""
    return _is_terminal(sys.stderr)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def use_utf8() -> None:
    """Read and write UTF-8 whatever the locale says.

    PYTHONIOENCODING may ask for another encoding; characters which that lacks are replaced.
    """
    other = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding=None if other else "utf-8", errors="replace")
