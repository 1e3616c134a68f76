"""A usage error in plain words, with the command or option that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from memoriter.core.foreign import attribute_meant, snake
from memoriter.core.other_words import OPTIONS

COMMANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("list", "ls", "all", "show-all", "records"), "browse"),
    **dict.fromkeys(("search", "query", "find", "ask", "retrieve"), "recall"),
    **dict.fromkeys(("add", "save", "store", "put", "insert", "note", "new"), "remember"),
    **dict.fromkeys(("delete", "rm", "remove", "erase", "drop", "clear"), "forget"),
    **dict.fromkeys(("stats", "info", "count", "health"), "status"),
    **dict.fromkeys(("show", "cat", "view"), "get"),
    **dict.fromkeys(("edit", "set", "change"), "update"),
    **dict.fromkeys(("load", "restore", "ingest"), "import"),
    **dict.fromkeys(("backup", "dump"), "export"),
    **dict.fromkeys(("check", "fsck"), "verify-store"),
    **dict.fromkeys(("compact", "vacuum", "optimize", "gc"), "maintain"),
    **dict.fromkeys(("server", "start", "run"), "serve"),
    **dict.fromkeys(("why",), "explain"),
    **dict.fromkeys(("versions", "log"), "history"),
    **dict.fromkeys(("create",), "init"),
}
"""Commands of other tools, and what they are called here."""
_FLAGS: Final[Mapping[str, str]] = {"place": "store", "d": "store", "f": "store", "t": "tag"}
"""Options of the library that the command line spells otherwise, and short ones of other tools."""


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
        return Usage(f"there is no option {option}", _option_meant(str(option), known, path) or see)
    if plain.startswith("No such command"):
        typed = plain.split("'")[1] if "'" in plain else ""
        known = list(getattr(getattr(context, "command", None), "commands", ()))
        meant = COMMANDS.get(typed.lower())
        hint = f"use {path} {meant}" if meant in known else _near(typed, known)
        return Usage(f"there is no command {typed!r}", hint or see)
    if "unexpected extra argument" in plain:
        usage = " ".join((path, *context.command.collect_usage_pieces(context)))
        quoted = "a text of several words needs quotes, the file of the store is --store FILE"
        return Usage(_lower(plain), f"usage: {usage}; {quoted}")
    return Usage(_lower(str(error.format_message()).rstrip(".")), see)


def _option_meant(typed: str, known: list[str], path: str) -> str:
    """The option that another tool calls so, or the nearest one."""
    word = snake(typed.lstrip("-"))
    names = (OPTIONS.get(word), attribute_meant(word), word, word.removesuffix("s"))
    for name in names:
        flag = f"--{_FLAGS.get(name, name).replace('_', '-')}" if name else ""
        for spelled in (flag, flag.removesuffix("s")):
            if spelled in known:
                return f"use {spelled}"
        if flag == "--store":  # every command has it, the root has not
            return (
                f"the file of the store is {flag}, after the command: {path} recall {flag} FILE …"
            )
    return _near(typed, known)


def _options(context: Any) -> list[str]:
    parameters = context.command.get_params(context) if context else ()
    return [
        name for p in parameters for name in (*p.opts, *p.secondary_opts) if name.startswith("-")
    ]


def _near(typed: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(typed, list(known), 1)
    return f"did you mean {close[0]}?" if close else ""


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
