"""How a command declares its parameters, and how plain command lines are read.

A parameter is annotated with `CliOption` or `CliArgument`. `tree` hands them to typer, which reads
any command line, completes words in the shell and prints help and errors. To load typer takes
longer than most commands, so `plain_values` reads what needs none of that: known options, each once
and with its value, texts and whole numbers. It leaves everything else to typer.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Final, cast, get_args, get_origin

from memoriter.core.lazy_dataclass import dataclass


class CommandExit(Exception):
    """Ends a command with an exit code; what there is to say was printed."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class CliParam:
    """A parameter of a command: its names, and settings as typer takes them."""

    __slots__ = ("names", "settings")

    def __init__(self, *names: str, **settings: Any) -> None:
        self.names = names
        self.settings = settings


class CliOption(CliParam):
    """An option: `--name VALUE`, or a flag."""

    __slots__ = ()


class CliArgument(CliParam):
    """An argument: it has its place and no name."""

    __slots__ = ()


def param_of(annotation: Any) -> CliParam:
    """What a parameter is declared with."""
    return next(each for each in annotation.__metadata__ if isinstance(each, CliParam))


def kind_of(annotation: Any) -> Any:
    """The type of a parameter's value, without None."""
    kind = get_args(annotation)[0]
    arms = [each for each in get_args(kind) if each is not NoneType]
    return arms[0] if len(arms) == 1 and get_origin(kind) is not list else kind


_FOR_PEOPLE: Final = {"help", "metavar", "rich_help_panel", "show_default", "autocompletion"}
"""Settings that change nothing about the values."""


@dataclass(frozen=True, slots=True)
class _Plain:
    """A parameter that can be read without typer, and the value that a flag stands for."""

    name: str
    kind: Any
    flag: bool | None = None


class _NotPlain(Exception):
    """A command line that only typer can read, or refuse."""


def plain_values(
    parameters: Sequence[inspect.Parameter], argv: Sequence[str]
) -> dict[str, object] | None:
    """The values of all parameters on a plain command line; None if it is not plain."""
    try:
        values = _typed(parameters, argv)
    except _NotPlain:
        return None
    values = {each.name: values.get(each.name, each.default) for each in parameters}
    return None if inspect.Parameter.empty in values.values() else values


def _typed(parameters: Sequence[inspect.Parameter], argv: Sequence[str]) -> dict[str, object]:
    """The values that were typed, by the name of the parameter."""
    options, places = _table(parameters)
    values: dict[str, object] = {}
    words = iter(argv)
    for word in words:
        if word.startswith("-"):
            name, equals, text = word.partition("=")
            own = options.get(name)
            if own is None or (own.flag is not None and equals):
                raise _NotPlain
            if own.flag is None and not equals:
                text = next(words, "-")
                if text.startswith("-"):  # its value may have been left out
                    raise _NotPlain
        elif places:
            own, text = places.pop(0), word
        else:
            raise _NotPlain
        _add(values, own, _value(own, text))
    return values


def _table(
    parameters: Sequence[inspect.Parameter],
) -> tuple[Mapping[str, _Plain], list[_Plain]]:
    """(options by name, arguments in their order), as far as they can be read here."""
    options: dict[str, _Plain] = {}
    places: list[_Plain] = []
    for each in parameters:
        param, kind = param_of(each.annotation), kind_of(each.annotation)
        if not _FOR_PEOPLE.issuperset(param.settings):
            kind = None
        if isinstance(param, CliArgument):
            places.append(_Plain(each.name, kind if kind is str else None))
            continue
        for name in param.names:
            yes, _, no = name.partition("/")
            options[yes] = _Plain(each.name, kind, flag=True if kind is bool else None)
            if no:
                options[no] = _Plain(each.name, kind, flag=False)
    return options, places


def _value(own: _Plain, text: str) -> object:
    """The value of a parameter."""
    if own.flag is not None:
        return own.flag
    if own.kind is int and text.isascii() and text.isdigit():
        return int(text)
    if own.kind is str or own.kind == list[str]:
        return text
    raise _NotPlain


def _add(values: dict[str, object], own: _Plain, value: object) -> None:
    if own.kind == list[str]:
        cast("list[object]", values.setdefault(own.name, [])).append(value)
    elif own.name in values:
        raise _NotPlain
    else:
        values[own.name] = value
