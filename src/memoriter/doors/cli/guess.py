"""A usage error in plain words, with what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

from memoriter.core.other_words import command_meant, right_word

_COMMANDS: Final = {"remember_many": "import", "import_file": "import", "count": "status"}
"""Verbs of the library whose command has another name."""


class Told(NamedTuple):
    """A message and what to do next."""

    message: str
    hint: str


def guess(error: Any) -> Told:
    """What a usage error says, and the nearest command or option."""
    context = getattr(error, "ctx", None)
    help_line = f"{context.command_path if context else 'memoriter'} --help"
    plain = str(error.message).rstrip(".")
    option = getattr(error, "option_name", None)
    if option and plain.startswith("No such option"):
        near = _option_meant(str(option), context) or _near(str(option), _options(context))
        return Told(f"there is no option {option}", near or f"see {help_line}")
    if plain.startswith("No such command"):
        typed = plain.split("'")[1] if "'" in plain else ""
        known = getattr(getattr(context, "command", None), "commands", ())
        near = _command_meant(typed, known) or _near(typed, known)
        return Told(f"there is no command {typed!r}", near or f"see {help_line}")
    return Told(_lower(str(error.format_message()).rstrip(".")), f"see {help_line}")


def _options(context: Any) -> list[str]:
    parameters = context.command.get_params(context) if context else ()
    return [
        name for p in parameters for name in (*p.opts, *p.secondary_opts) if name.startswith("-")
    ]


def _option_meant(typed: str, context: Any) -> str:
    """What an option of another program is called here."""
    known = {each.lstrip("-").replace("-", "_"): each for each in _options(context)}
    if "override" in known:  # the library takes all of them at once
        known["overrides"] = known["override"]
    hint = right_word(typed.lstrip("-").replace("-", "_"), known, "none")
    right = hint.removeprefix("it is called ").removesuffix(" here")
    if right in known:
        return f"it is called {known[right]} here"
    form, _, value = hint.removeprefix("use ").partition("=")
    if form == "overrides":
        value = value.translate(str.maketrans({"{": "", "}": "", '"': "", ":": "="})).replace(
            " ", ""
        )
    return f"use {known[form]} '{value}'" if form in known and value else ""


def _command_meant(typed: str, known: Collection[str]) -> str:
    """What a verb of another program is called here."""
    verb = command_meant(typed) or typed
    meant = _COMMANDS.get(verb, verb)
    name = meant.replace("_", "-")
    return f"it is called {name} here" if name in known else ""


def _near(typed: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(typed, list(known), 1)
    return f"did you mean {found[0]}?" if found else ""


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
