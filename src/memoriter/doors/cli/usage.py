"""What a wrong command line means: the command or option that was probably meant.

`output.report` prints it. The words of other tools are in `core.other_names`.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

from memoriter.core.foreign import snake
from memoriter.core.other_names import CALLS, INSTEAD, OPTIONS
from memoriter.core.other_words import NEAR, command_meant, name_meant, right_word
from memoriter.doors.cli.output import ExtraArguments, UnknownCommand

_COMMANDS: Final = {
    "remember_many": "import", "import_file": "import", "verify_receipt": "verify",
    "compare": "diff", "ls": "browse",
    "rm": "forget", "show": "get", "cat": "get", "gc": "maintain", "server": "serve",
    "create": "init", "open": "init", "new": "init", "load": "import", "restore": "import",
    "dump": "export", "edit": "update",
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
    see = f"see {context.command_path if context else 'memoriter'} --help"
    if isinstance(error, UnknownCommand):
        hint = _whole(_command_hint(error.typed, context, argv), context, argv)
        return Usage(f"there is no command {error.typed!r}", hint or see)
    if isinstance(error, ExtraArguments):
        word = "argument" if len(error.typed) == 1 else "arguments"
        return Usage(f"unexpected {word}: {shlex.join(error.typed)}", _extra_hint(context, argv))
    # By name: some versions of typer take these classes from click, others have their own.
    kind = type(error).__name__
    if kind == "NoSuchOption":
        option = str(error.option_name)
        hint = _whole(_option_hint(option, context, argv), context, argv)
        return Usage(f"there is no option {option}", hint or see)
    message = str(error.format_message()).rstrip(".")
    message = message[:1].lower() + message[1:]
    if kind == "MissingParameter" and context and error.param.param_type_name == "argument":
        return Usage(message, f"usage: {_usage(context)}; {see}")
    if kind == "BadParameter" and context and error.param:
        wanted = _number_wanted(error.param, context, argv)
        message = message.replace(str(error.message).rstrip("."), wanted) if wanted else message
    return Usage(message, see)


def _number_wanted(parameter: Any, context: Any, argv: Sequence[str]) -> str:
    """What to type for a parameter that takes a number; empty if a number was typed."""
    wanted = context.command.numbers.get(parameter.name)
    values = [value for name in parameter.opts if (value := _value_of(name, argv)) is not None]
    if wanted is None or any(value.lstrip("-").isdecimal() for value in values):
        return ""
    return "expected a whole number" if wanted is int else "expected a number"


def _option_hint(option: str, context: Any, argv: Sequence[str]) -> str:
    """The hint for an option that a command does not have; empty if unknown."""
    return (
        _json_meant(option, context, argv)
        or _argument_meant(option, context)
        or _option_meant(option, context, _value_of(option, argv))
        or _option_elsewhere(option, context)
        or _near(option, _options(context))
    )


def _command_hint(typed: str, context: Any, argv: Sequence[str]) -> str:
    """The hint for a command that does not exist; empty if unknown."""
    commands = _commands_of(context)
    if _is_store(typed) and typed in argv[:-1]:
        rest = shlex.join(argv[argv.index(typed) + 1 :])
        return f"the command comes first: memoriter {rest} --store {typed}"
    return _command_meant(typed, commands) or _near(typed, commands)


def _extra_hint(context: Any, argv: Sequence[str]) -> str:
    """The hint for more arguments than a command takes."""
    path, options = context.command_path, _options(context)
    if "--query" in options:  # explain and why-not: the argument is an id
        return f'the query is an option: {path} ID --query "…"'
    if moved := _with_store(argv, context):
        return f"--store names the file: {moved}"
    if "--text" in options:
        return f'fields are options: {path} ID --text "…"'
    quoted = "put quotes around a text of several words; " if _arguments(context) else ""
    return f"usage: {_usage(context)}; {quoted}--store FILE names the store"


_STORES: Final = (".db", ".sqlite", ".sqlite3")
_OUTPUT: Final = frozenset({"format", "output", "output_format", "o", "f", "out"})
_RENAMED: Final = {"place": "--store", "limit": "--limit", "where": "--where"}
"""The flags of options that people often type under another name, several at once."""


def _is_store(argument: str) -> bool:
    return argument.endswith(_STORES) and not argument.startswith("-")


def _with_store(argv: Sequence[str], context: Any) -> str:
    """The command line with the file of a store after `--store`, if it was typed as an argument."""
    files = [at for at, each in enumerate(argv) if _is_store(each)]
    if len(files) != 1 or "--store" in argv or "--store" not in _options(context):
        return ""
    rest = [*argv[: files[0]], *argv[files[0] + 1 :]]
    options = len(context.command_path.split()) - 1 + len(_arguments(context))
    words = [each for each in rest if not each.startswith("-")]
    if len(words) == len(rest) and len(words) > options > 1:  # a text without quotes
        rest = [*rest[: options - 1], " ".join(rest[options - 1 :])]
    return f"memoriter {shlex.join([*rest, '--store', argv[files[0]]])}"


def _json_meant(typed: str, context: Any, argv: Sequence[str]) -> str:
    """The hint for `--format json` and its like."""
    if "--json" not in _options(context) or snake(typed.lstrip("-")) not in _OUTPUT:
        return ""
    as_json = (_value_of(typed, argv) or "json").startswith("json")
    return "use --json" if as_json else "the output is text, or JSON with --json"


def _whole(hint: str, context: Any, argv: Sequence[str]) -> str:
    """The hint with the whole command line, if several words of it have another name here."""
    root = context
    while getattr(root, "parent", None) is not None:
        root = root.parent
    commands = _commands_of(root)
    typed, *rest = argv or ("",)
    command = typed if typed in commands else _renamed_command(typed, commands)
    if not command:
        return hint
    known, right = {*_options_of(commands[command], root), "--"}, [command]
    for each in rest:
        name, equals, value = each.partition("=")
        if name.startswith("-") and name not in known:
            name = _RENAMED.get(OPTIONS.get(snake(name.lstrip("-")), ""), "")
            if name not in known:  # another hint is needed for this one
                return hint
        right.append(f"{name}{equals}{value}")
    changed = sum(before != after for before, after in zip(argv, right, strict=True))
    return f"{hint}: memoriter {shlex.join(right)}" if changed > 1 else hint


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
        name = name_meant(name, arguments)
    if not name:
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
    if after:
        return after
    own = context.command_path
    other = f"; {own}-store checks one" if own.endswith(" verify") else ""
    return f"{own} opens no store{other}"


def _option_meant(typed: str, context: Any, value: str | None = None) -> str:
    """The hint for an option under the name it has in the library or in another system."""
    known = {each.lstrip("-").replace("-", "_"): each for each in _options(context)}
    if "override" in known:  # the library takes all of them in one option
        known["overrides"] = known["override"]
    if "tag" in known:
        known["tags"] = known["tag"]
    known["place"] = known.get("store", "")
    name = typed.lstrip("-").replace("-", "_")
    name = _LETTERS.get(name, name)
    right = name_meant(name, known)
    if right == "place" and not known["place"]:
        return _store_hint(context)
    if right or typed.lstrip("-") in known:
        return f"it is called {known[right or typed.lstrip('-')]} here"
    hint = right_word(name, known, "none", value)
    if any(hint in INSTEAD[own].values() for own in ("cursor", "as_of")):
        return typed_hint(hint)
    form, _, right = hint.removeprefix("use ").partition("=")
    if form == "overrides":
        right = right.translate(_BARE)
    return f"use {known[form]} '{right}'" if form in known and right else ""


def _command_meant(typed: str, commands: Collection[str]) -> str:
    """The hint for a command under the name it has in the library or in another system."""
    own = snake(typed)
    if own in CALLS and "link" in commands:
        return typed_hint(f"use {CALLS[own]}")
    if own == "count" and {"status", "browse"} <= set(commands):
        return _COUNTED
    name = _renamed_command(typed, commands)
    return f"it is called {name} here" if name else ""


def _renamed_command(typed: str, commands: Collection[str]) -> str:
    """Our name of a command; empty if there is none."""
    own = snake(typed)
    verb = own if own in _COMMANDS else command_meant(typed) or typed
    name = _COMMANDS.get(verb, verb).replace("_", "-")
    return name if name in commands else ""


def _near(typed: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(typed, list(known), 1, NEAR)
    return f"did you mean {close[0]}?" if close else ""


def typed_hint(hint: str) -> str:
    """A hint of the library in words of the command line."""
    from memoriter.doors.hints import in_commands  # noqa: PLC0415  # imports request models

    return in_commands(hint)
