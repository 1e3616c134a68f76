"""A usage error in plain words, with the command or option that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

from memoriter.core.other_words import NEAR, command_meant, right_word

_COMMANDS: Final = {
    "remember_many": "import", "import_file": "import", "count": "status", "ls": "browse",
    "rm": "forget", "show": "get", "cat": "get", "gc": "maintain", "server": "serve",
    "recall(query)[0].explanation": "explain", "create": "init",
}  # fmt: skip
"""Verbs of the library whose command has another name, and commands of other tools."""
_BARE: Final = str.maketrans({"{": "", "}": "", '"': "", ":": "=", " ": ""})


class Usage(NamedTuple):
    """What is wrong with a command line, and what to do next."""

    message: str
    hint: str


def guess(error: Any) -> Usage:
    """What a usage error says, and the nearest command or option."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "memoriter"
    see = f"see {path} --help"
    plain = str(error.message).rstrip(".")
    option = getattr(error, "option_name", None)
    if option and plain.startswith("No such option"):
        known = _options(context)
        hint = _option_meant(str(option), known, path) or _near(str(option), known)
        return Usage(f"there is no option {option}", hint or see)
    if plain.startswith("No such command"):
        typed = plain.split("'")[1] if "'" in plain else ""
        commands = getattr(getattr(context, "command", None), "commands", ())
        hint = _command_meant(typed, commands) or _near(typed, commands)
        return Usage(f"there is no command {typed!r}", hint or see)
    if context and "unexpected extra argument" in plain:
        usage = " ".join((path, *context.command.collect_usage_pieces(context)))
        quoted = "a text of several words needs quotes, the file of the store is --store FILE"
        return Usage(_lower(plain), f"usage: {usage}; {quoted}")
    return Usage(_lower(str(error.format_message()).rstrip(".")), see)


def _options(context: Any) -> list[str]:
    parameters = context.command.get_params(context) if context else ()
    return [
        name for p in parameters for name in (*p.opts, *p.secondary_opts) if name.startswith("-")
    ]


def _option_meant(typed: str, options: Iterable[str], path: str) -> str:
    """What an option of another program is called here."""
    known = {each.lstrip("-").replace("-", "_"): each for each in options}
    if "override" in known:  # the library takes all of them at once
        known["overrides"] = known["override"]
    if "tag" in known:
        known["tags"] = known["tag"]
    known["place"] = known.get("store", "")
    hint = right_word(typed.lstrip("-").replace("-", "_"), known, "none")
    right = hint.removeprefix("it is called ").removesuffix(" here")
    if right == "place" and not known["place"]:  # every command has it, the root has not
        return f"it stands after the command: {path} recall --store FILE …"
    if right in known or typed.lstrip("-") in known:
        return f"it is called {known.get(right) or known[typed.lstrip('-')]} here"
    form, _, value = hint.removeprefix("use ").partition("=")
    if form == "overrides":
        value = value.translate(_BARE)
    return f"use {known[form]} '{value}'" if form in known and value else ""


def _command_meant(typed: str, commands: Collection[str]) -> str:
    """What a verb of another program is called here."""
    verb = command_meant(typed) or typed
    name = _COMMANDS.get(verb, verb).replace("_", "-")
    return f"it is called {name} here" if name in commands else ""


def _near(typed: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(typed, list(known), 1, NEAR)
    return f"did you mean {close[0]}?" if close else ""


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
