"""A usage error in plain words, with what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, NamedTuple


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
        near = _near(str(option), _options(context))
        return Told(f"there is no option {option}", near or f"see {help_line}")
    if plain.startswith("No such command"):
        typed = plain.split("'")[1] if "'" in plain else ""
        near = _near(typed, getattr(getattr(context, "command", None), "commands", ()))
        return Told(f"there is no command {typed!r}", near or f"see {help_line}")
    return Told(_lower(str(error.format_message()).rstrip(".")), f"see {help_line}")


def _options(context: Any) -> list[str]:
    parameters = context.command.get_params(context) if context else ()
    return [
        name for p in parameters for name in (*p.opts, *p.secondary_opts) if name.startswith("-")
    ]


def _near(typed: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(typed, list(known), 1)
    return f"did you mean {found[0]}?" if found else ""


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
