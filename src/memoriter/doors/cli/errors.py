"""What a person sees when a command fails: a message, a hint, an exit code; no traceback."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import sys
import traceback
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import typer

from memoriter.core.errors import InputError, MemoriterError
from memoriter.core.foreign import snake
from memoriter.core.other_names import CALLS, INSTEAD
from memoriter.core.other_words import NEAR, command_meant, right_word
from memoriter.doors.cli.output import json_text, note

INTERRUPTED: Final = 130
_FAILED: Final = 1
_USAGE: Final = 2
_DEBUG: Final = "MEMORITER_DEBUG"
_HOOK: Final = ("hooks", "recall")

# --- arguments --------------------------------------------------------------------------------


def arguments(argv: Sequence[str] | None) -> list[str]:
    """The arguments, decoded as UTF-8: a terminal sends it whatever the locale says."""
    return [_decoded(each) for each in (sys.argv[1:] if argv is None else argv)]


def _decoded(argument: str) -> str:
    try:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        return argument


def check_arguments(argv: Sequence[str]) -> None:
    """Refuse arguments that are not text."""
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
                f"argument {at} contains a NUL character", hint="pass it through stdin, as -"
            )


# --- failures ---------------------------------------------------------------------------------


def report(error: Exception, argv: Sequence[str]) -> int:
    """Print what went wrong; returns the exit code.

    A coding agent that runs a hook drops the prompt at exit code 2: there it is 1.
    """
    code = _report(error, argv)
    return _FAILED if code == _USAGE and tuple(argv[:2]) == _HOOK else code


def _report(error: Exception, argv: Sequence[str]) -> int:
    as_json = _wants_json(argv)
    if isinstance(error, BrokenPipeError):
        _discard_output()
        return _FAILED
    if isinstance(error, typer.Abort):
        note("")
        return INTERRUPTED
    if isinstance(error, MemoriterError):
        _print_error({**error.to_dict(), "hint": _typed(error.hint)}, as_json=as_json)
        return error.exit_code
    if type(error).__name__ == "NoArgsIsHelpError":
        note(str(error)) if str(error) else None
        return _USAGE
    if hasattr(error, "format_message"):  # a usage error, from whichever package typer takes it
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
        note(message)
        note(f"hint: {hint}")


def _plain(name: str, message: str, hint: str) -> dict[str, object]:
    return {"error": name, "message": message, "hint": hint, "field": None, "retryable": False}


def _print_error(error: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        print(json_text(error, sys.stderr), file=sys.stderr)
        return
    note(f"error: {error['message']}")
    if error["hint"]:
        note(f"hint: {error['hint']}")


def _discard_output() -> None:
    """Send the rest of stdout to nowhere: its reader is gone, and the flush at exit would fail."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


def exit_process(code: int) -> NoReturn:
    """Flush stdout and end the process."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        code = code or _FAILED
    sys.exit(code)


# --- usage errors -----------------------------------------------------------------------------

_COMMANDS: Final = {
    "remember_many": "import", "import_file": "import", "verify_receipt": "verify",
    "compare": "diff", "ls": "browse",
    "rm": "forget", "show": "get", "cat": "get", "gc": "maintain", "server": "serve",
    "create": "init", "open": "init", "new": "init",
}  # fmt: skip
"""Verbs of the library whose command has another name, and commands of other tools."""
_COUNTED: Final = (
    "memoriter status counts all memories; memoriter browse --limit 1 --where JSON prints how many"
    " pass a filter"
)
_BARE: Final = str.maketrans({"{": "", "}": "", '"': "", ":": "=", " ": ""})


_LETTERS: Final = {
    "t": "tags", "s": "store", "d": "store", "w": "where", "r": "recipe", "l": "limit", "u": "user",
}  # fmt: skip
"""Options that people type as one letter."""


class Usage(NamedTuple):
    """What is wrong with a command line, and what to do next."""

    message: str
    hint: str


def usage_error(error: Any, argv: Sequence[str] = ()) -> Usage:
    """What a usage error means, with the command or option that was probably meant."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "memoriter"
    see = f"see {path} --help"
    plain = str(error.message).rstrip(".")
    option = getattr(error, "option_name", None)
    if option and plain.startswith("No such option"):
        hint = (
            _argument_meant(str(option), context)
            or _option_meant(str(option), context, _value_of(str(option), argv))
            or _option_elsewhere(str(option), context)
            or _near(str(option), _options(context))
        )
        return Usage(f"there is no option {option}", hint or see)
    if plain.startswith("No such command"):
        typed = plain.split("'")[1] if "'" in plain else ""
        commands = getattr(getattr(context, "command", None), "commands", ())
        hint = _command_meant(typed, commands) or _near(typed, commands)
        return Usage(f"there is no command {typed!r}", hint or see)
    if context and "unexpected extra argument" in plain:
        if "--query" in _options(context):  # explain and why-not: the argument is an id
            return Usage(_lower(plain), f'the query is an option: {path} ID --query "…"')
        quoted = "put quotes around a text of several words; --store FILE names the store"
        if not _arguments(context) or plain.endswith(".db)"):
            quoted = "--store FILE names the store"
        return Usage(_lower(plain), f"usage: {_usage(context)}; {quoted}")
    message = _lower(str(error.format_message()).rstrip("."))
    for foreign, plain in _VALUES:
        message = re.sub(foreign, plain, message)
    if context and message.startswith("missing argument"):
        return Usage(message, f"usage: {_usage(context)}; {see}")
    return Usage(message, see)


_VALUES: Final = (
    (r"Input should be a valid integer.*|\S+ is not a valid integer.*", "expected a whole number"),
    (r"Input should be a valid number.*|\S+ is not a valid float.*", "expected a number"),
)
"""What the parser says about a value, and plain words for it."""


def _value_of(option: str, argv: Sequence[str]) -> str | None:
    """What was typed after an option; None if nothing was."""
    for at, each in enumerate(argv):
        name, equals, value = each.partition("=")
        if name == option:
            return value if equals else next(iter(argv[at + 1 :]), None)
    return None


def _usage(context: Any) -> str:
    return " ".join((context.command_path, *context.command.collect_usage_pieces(context)))


def _options(context: Any) -> list[str]:
    return _options_of(context.command, context) if context else []


def _options_of(command: Any, context: Any) -> list[str]:
    parameters = command.get_params(context)
    return [
        name for p in parameters for name in (*p.opts, *p.secondary_opts) if name.startswith("-")
    ]


def _commands_of(context: Any) -> dict[str, Any]:
    return getattr(getattr(context, "command", None), "commands", {})


def _arguments(context: Any) -> list[str]:
    parameters = context.command.params if context else ()
    return [p.name for p in parameters if p.param_type_name == "argument"]


def _argument_meant(typed: str, context: Any) -> str:
    """The hint for an argument that was typed as an option: `recall --query x`."""
    arguments = _arguments(context)
    name = typed.lstrip("-").replace("-", "_")
    if name not in arguments:
        name = right_word(name, arguments, "").removeprefix("it is called ").removesuffix(" here")
    if name not in arguments:
        return ""
    return f"it is an argument, not an option: {context.command_path} {name.upper()}"


def _option_elsewhere(typed: str, context: Any) -> str:
    """The hint for an option that this command does not have, and a command below it or recall has.

    Only a command that takes a query, as recall does, is led to recall.
    """
    if context is None or context.parent is None:
        return ""
    if after := _after_the_command(typed, context):
        return after
    recall = _commands_of(context.parent).get("recall")
    if recall is not None and typed in _options_of(recall, context):
        if "query" in _arguments(context):
            return "it is an option of recall"
        path = context.command_path
        return f"{path} has no such option; see {path} --help"
    return ""


def _after_the_command(option: str, context: Any, value: str = "") -> str:
    """The hint for an option of the commands below a group; empty if none of them has it."""
    commands = _commands_of(context)
    having = [name for name, each in commands.items() if option in _options_of(each, context)]
    if not having:
        return ""
    after = "recall" if "recall" in having else having[0]
    return f"it comes after the command: {context.command_path} {after} {option}{value}"


def _store_hint(context: Any) -> str:
    """The hint for `--store` where it is no option."""
    after = _after_the_command("--store", context, " FILE …")
    return after or f"{context.command_path} opens no store"


def _option_meant(typed: str, context: Any, value: str | None = None) -> str:
    """The hint for an option under the name it has in the library or in another system."""
    known = {each.lstrip("-").replace("-", "_"): each for each in _options(context)}
    if "override" in known:  # the library takes all of them in one option
        known["overrides"] = known["override"]
    if "tag" in known:
        known["tags"] = known["tag"]
    known["place"] = known.get("store", "")
    name = typed.lstrip("-").replace("-", "_")
    hint = right_word(_LETTERS.get(name, name), known, "none", value)
    right = hint.removeprefix("it is called ").removesuffix(" here")
    if right == "place" and not known["place"]:
        return _store_hint(context)
    if right in known or typed.lstrip("-") in known:
        return f"it is called {known.get(right) or known[typed.lstrip('-')]} here"
    if any(hint in INSTEAD[own].values() for own in ("cursor", "as_of")):
        return _typed(hint)
    form, _, right = hint.removeprefix("use ").partition("=")
    if form == "overrides":
        right = right.translate(_BARE)
    return f"use {known[form]} '{right}'" if form in known and right else ""


def _command_meant(typed: str, commands: Collection[str]) -> str:
    """The hint for a command under the name it has in the library or in another system."""
    own = snake(typed)
    if own in CALLS and "link" in commands:
        return _typed(f"use {CALLS[own]}")
    if own == "count" and {"status", "browse"} <= set(commands):
        return _COUNTED
    verb = own if own in _COMMANDS else command_meant(typed) or typed
    name = _COMMANDS.get(verb, verb).replace("_", "-")
    return f"it is called {name} here" if name in commands else ""


def _typed(hint: str) -> str:
    """A hint of the library in words of the command line."""
    from memoriter.doors.hints import in_commands  # noqa: PLC0415  # imports request models

    return in_commands(hint)


def _near(typed: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(typed, list(known), 1, NEAR)
    return f"did you mean {close[0]}?" if close else ""


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
