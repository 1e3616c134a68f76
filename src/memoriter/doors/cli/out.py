"""Where output goes: one JSON document, or text for people, on stdout; the rest on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TextIO

from memoriter.text.safe import safe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

WIDTH: Final = 100
"""Columns where there is no terminal."""
NARROW: Final = 20
BROAD: Final = 1000


def show(data: object, text: Callable[[], RenderableType], *, as_json: bool) -> None:
    """Print the answer of a command: as one JSON document, or drawn for people."""
    if as_json:
        print_json(data)
    else:
        console().print(text(), crop=False)


def print_json(data: object) -> None:
    """One JSON document on stdout."""
    print(spelled(data, sys.stdout, indent=2))


def spelled(data: object, stream: TextIO, indent: int | None = None) -> str:
    """JSON that the stream can carry without loss: a stream that is not UTF-8 gets escapes."""
    return json.dumps(data, ensure_ascii=not _is_utf8(stream), allow_nan=False, indent=indent)


def _is_utf8(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "").replace("-", "").lower() == "utf8"


def console(*, stderr: bool = False) -> Console:
    """Where text for people is drawn: plain and 100 columns wide where there is no terminal."""
    from rich.console import Console  # noqa: PLC0415  # `--json` needs none of it

    stream = sys.stderr if stderr else sys.stdout
    if _is_terminal(stream):
        return Console(file=stream, highlight=False, markup=False, emoji=False)
    colours = bool(os.environ.get("FORCE_COLOR"))
    return Console(
        file=stream, highlight=False, markup=False, emoji=False,
        width=_columns(), force_terminal=colours, no_color=None if colours else True,
    )  # fmt: skip


def _columns() -> int:
    given = os.environ.get("COLUMNS", "")
    return (
        int(given)
        if given.isascii() and given.isdigit() and NARROW <= int(given) <= BROAD
        else WIDTH
    )


def note(text: str) -> None:
    """A line for people that is not part of the answer."""
    print(safe(text), file=sys.stderr)


def watched() -> bool:
    """Whether somebody looks at stderr, so that progress is worth drawing."""
    return _is_terminal(sys.stderr)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def speak_utf8() -> None:
    """Let any letter in and out, whatever the locale says.

    PYTHONIOENCODING may ask for another encoding; what that cannot say is replaced, never a crash.
    """
    asked = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding=None if asked else "utf-8", errors="replace")
