"""What a command prints, and how it ends.

Its answer goes to stdout, as text or one JSON document, the rest to stderr. An error is a message,
a hint and an exit code; never a traceback.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn, TextIO

from memoriter.core.errors import InputError, MemoriterError
from memoriter.text.safe import safe, safe_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_INTERRUPTED: Final = 130
_FAILED: Final = 1
_USAGE: Final = 2
_DEBUG: Final = "MEMORITER_DEBUG"
_HOOKS: Final = (("hooks", "recall"), ("hooks", "capture"))
_WIDTH: Final = 100
"""Columns where there is no terminal."""
_NARROWEST: Final = 20
_WIDEST: Final = 1000


class CommandExit(Exception):
    """Ends a command with an exit code; what there is to say was printed."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class UnknownCommand(Exception):
    """A name was typed that is no command."""

    def __init__(self, typed: str, ctx: Any) -> None:
        super().__init__(typed)
        self.typed = typed
        self.ctx = ctx


class ExtraArguments(Exception):
    """More arguments were typed than the command takes."""

    def __init__(self, typed: Sequence[str], ctx: Any) -> None:
        super().__init__(*typed)
        self.typed = typed
        self.ctx = ctx


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
    """JSON for a stream: escapes stand for characters that cannot be seen.

    A stream that is not UTF-8 gets escapes for all that is not ASCII, so that nothing is lost.
    """
    made = json.dumps(data, ensure_ascii=not _is_utf8(stream), allow_nan=False, indent=indent)
    return safe_json(made)


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


def print_note(text: str) -> None:
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


# --- errors -----------------------------------------------------------------------------------


def report(error: Exception, argv: Sequence[str]) -> int:
    """Print what went wrong; returns the exit code.

    A coding agent that runs a hook drops the prompt at exit code 2: there it is 1.
    """
    code = _report(error, argv)
    return _FAILED if code == _USAGE and tuple(argv[:2]) in _HOOKS else code


def _report(error: Exception, argv: Sequence[str]) -> int:
    from memoriter.doors.cli.usage import (  # noqa: PLC0415  # most runs print no error
        typed_hint,
        usage_error,
    )

    as_json = _wants_json(argv)
    if isinstance(error, BrokenPipeError):
        _discard_output()
        return _FAILED
    if type(error).__name__ == "Abort":  # of typer, which this module does not load
        print_note("")
        return _INTERRUPTED
    if isinstance(error, MemoriterError):
        _print_error({**error.to_dict(), "hint": typed_hint(error.hint)}, as_json=as_json)
        return error.exit_code
    if type(error).__name__ == "NoArgsIsHelpError":
        print_note(str(error)) if str(error) else None
        return _USAGE
    if hasattr(error, "format_message") or isinstance(error, UnknownCommand | ExtraArguments):
        usage = usage_error(error, argv)
        _print_error(_plain("UsageError", usage.message, usage.hint), as_json=as_json)
        return _USAGE
    _print_bug(error, as_json=as_json)
    return _FAILED


def _wants_json(argv: Sequence[str]) -> bool:
    """Whether `--json` is among the options; read by hand, since parsing may be what failed."""
    options = argv[: argv.index("--")] if "--" in argv else argv
    return "--json" in options


def _print_bug(error: Exception, *, as_json: bool) -> None:
    if os.environ.get(_DEBUG):
        traceback.print_exception(error)
    message = f"internal error: {type(error).__name__}: {error}"
    hint = f"this is a bug: please report it with the traceback that {_DEBUG}=1 shows"
    if as_json:
        _print_error(_plain("InternalError", message, hint), as_json=True)
    else:
        print_note(message)
        print_note(f"hint: {hint}")


def _plain(name: str, message: str, hint: str) -> dict[str, object]:
    return {"error": name, "message": message, "hint": hint, "field": None, "retryable": False}


def _print_error(error: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        print(json_text(error, sys.stderr), file=sys.stderr)
        return
    print_note(f"error: {error['message']}")
    if error["hint"]:
        print_note(f"hint: {error['hint']}")


def _discard_output() -> None:
    """Send the rest of stdout to nowhere: its reader is gone, and the flush at exit would fail."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


# --- start and end of a process ----------------------------------------------------------------


def run_and_exit(args: Sequence[str] | None, run: Callable[[list[str]], object]) -> NoReturn:
    """Run a command and end the process; an error becomes a message and an exit code."""
    argv = _arguments(args)
    _use_utf8()
    _print_warnings()
    try:
        _check_arguments(argv)
        code = run(argv)
    except CommandExit as end:
        code = end.code
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except Exception as error:
        code = report(error, argv)
    _exit_process(code if isinstance(code, int) else 0)


def _use_utf8() -> None:
    """Read and write UTF-8 whatever the locale says.

    PYTHONIOENCODING may ask for another encoding; characters which that lacks are replaced.
    """
    other = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding=None if other else "utf-8", errors="replace")


class _Warnings(logging.Handler):
    """Prints each warning as a line on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        print_note(f"warning: {' '.join(record.getMessage().split())}")


def _print_warnings() -> None:
    """Print the warnings of the package, unless the command writes a log."""
    package = logging.getLogger("memoriter")
    for handler in list(package.handlers):
        if isinstance(handler, logging.NullHandler):
            package.removeHandler(handler)
    logging.lastResort = _Warnings(logging.WARNING)


def _arguments(argv: Sequence[str] | None) -> list[str]:
    """The arguments, decoded as UTF-8: a terminal sends it whatever the locale says."""
    return [_decoded(each) for each in (sys.argv[1:] if argv is None else argv)]


def _decoded(argument: str) -> str:
    try:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        return argument


def _check_arguments(argv: Sequence[str]) -> None:
    """Refuse arguments that are not text."""
    for at, argument in enumerate(argv, start=1):
        try:
            argument.encode("utf-8")
        except UnicodeEncodeError:
            quoted = "" if "://" in argument else f": {argument!a}"  # may hold a password
            raise InputError(
                f"argument {at} is not valid UTF-8{quoted}",
                hint="type it again, or set the terminal to UTF-8",
            ) from None
        if "\0" in argument:
            raise InputError(
                f"argument {at} contains a NUL character",
                hint="pass the text on stdin, and `-` as the argument",
            )


def _exit_process(code: int) -> NoReturn:
    """Flush stdout and end the process."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        code = code or _FAILED
    sys.exit(code)
