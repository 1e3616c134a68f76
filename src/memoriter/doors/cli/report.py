"""What a person sees when something goes wrong: a line, a hint, an exit code; no traceback."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import typer

from memoriter.core.errors import InputError, MemoriterError
from memoriter.doors.cli.guess import guess
from memoriter.doors.cli.out import note, spelled

INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 1
USAGE: Final = 2
_DEBUG: Final = "MEMORITER_DEBUG"
_HOOK: Final = ("hooks", "recall")


def arguments(given: Sequence[str] | None) -> list[str]:
    """What stands behind the name of the program."""
    return [_read(each) for each in (sys.argv[1:] if given is None else given)]


def _read(argument: str) -> str:
    """The argument as it was typed: a terminal sends UTF-8 also where the locale says nothing."""
    try:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        return argument


def wants_json(argv: Sequence[str]) -> bool:
    """Whether `--json` stands among the options; read by hand, as parsing may be what failed."""
    options = argv[: argv.index("--")] if "--" in argv else argv
    return "--json" in options


def check(argv: Sequence[str]) -> None:
    """Refuse arguments that are no text."""
    for at, argument in enumerate(argv, start=1):
        try:
            argument.encode("utf-8")
        except UnicodeEncodeError:
            raise InputError(
                f"argument {at} is not valid UTF-8: {argument!a}",
                hint="type it again, or set the terminal to UTF-8",
            ) from None
        if "\0" in argument:
            raise InputError(
                f"argument {at} holds a NUL character", hint="give it through stdin, as -"
            )


def failed(error: Exception, argv: Sequence[str]) -> int:
    """Say what went wrong; the exit code.

    A coding agent that runs a hook drops the prompt at exit code 2, so a hook has another one.
    """
    code = _failed(error, argv)
    return 1 if code == USAGE and tuple(argv[:2]) == _HOOK else code


def _failed(error: Exception, argv: Sequence[str]) -> int:
    if isinstance(error, BrokenPipeError):
        hush()
        return BROKEN_PIPE
    if isinstance(error, typer.Abort):
        note("")
        return INTERRUPTED
    if isinstance(error, MemoriterError):
        _tell(error.to_dict(), as_json=wants_json(argv))
        return error.exit_code
    if type(error).__name__ == "NoArgsIsHelpError":
        note(str(error)) if str(error) else None
        return USAGE
    if hasattr(error, "format_message"):  # a usage error, from whichever package typer takes it
        return _misused(error, argv)
    return _unexpected(error, argv)


def _misused(error: Exception, argv: Sequence[str]) -> int:
    told = guess(error)
    _tell(_plain("UsageError", told.message, told.hint), as_json=wants_json(argv))
    return USAGE


def _unexpected(error: Exception, argv: Sequence[str]) -> int:
    if os.environ.get(_DEBUG):
        import traceback  # noqa: PLC0415  # rarely needed

        traceback.print_exception(error)
    message = f"internal error: {type(error).__name__}: {error}"
    hint = f"this is a bug: please report it with the traceback that {_DEBUG}=1 shows"
    if wants_json(argv):
        _tell(_plain("InternalError", message, hint), as_json=True)
    else:
        note(message)
        note(f"hint: {hint}")
    return 1


def _plain(name: str, message: str, hint: str) -> dict[str, object]:
    return {"error": name, "message": message, "hint": hint, "field": None, "retryable": False}


def _tell(error: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        print(spelled(error, sys.stderr), file=sys.stderr)
        return
    note(f"error: {error['message']}")
    if error["hint"]:
        note(f"hint: {error['hint']}")


def hush() -> None:
    """Nobody reads any more: let the interpreter flush into nothing."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())


def leave(code: int) -> NoReturn:
    """Flush and end the process."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        hush()
        code = code or BROKEN_PIPE
    sys.exit(code)
