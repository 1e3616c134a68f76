"""Options of the command line that follow from what a verb of the library takes.

A command takes a group with a field `Annotated[dict[str, Any], Flags(Ask)]`; the command line gets
an option for every option that the TypedDict declares, and the field holds what was given, by the
library's names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import typer

from memoriter.core.options import Declared, Option, declared
from memoriter.doors.cli import completing
from memoriter.doors.cli.values import aliases_of, json_object, lists_of, overrides_of, where_of

PARSED: Final[Mapping[str, Callable[[Any], object]]] = {
    "where": where_of,
    "overrides": overrides_of,
    "aliases": aliases_of,
    "lists": lists_of,
}
"""Options whose value is written in a way of its own."""
COMPLETED: Final[Mapping[str, Callable[[str], list[str]]]] = {"recipe": completing.recipes}
ELSEWHERE: Final = ("agent", "user", "session")
"""Said by the options of the place."""
_PARTS: Final = ("who", "channel", "path")


@dataclass(frozen=True, slots=True)
class Flags:
    """The options that a TypedDict declares, but for some."""

    options: type
    without: Collection[str] = ()
    panel: str | None = None

    def parameters(self) -> list[inspect.Parameter]:
        """One parameter for each option, annotated as typer wants it."""
        return [each for one in self._taken() for each in self._parameters(one)]

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What was given, by the names that the library uses."""
        out: dict[str, Any] = {}
        for each in self._taken():
            value = _value(each, values)
            if value is not None:
                out[each.name] = value
        return out

    def _taken(self) -> list[Declared]:
        return [
            each
            for name, each in declared(self.options).items()
            if each.option.wire is not None
            and each.option.flag is not None
            and name not in (*self.without, *ELSEWHERE)
        ]

    def _parameters(self, each: Declared) -> list[inspect.Parameter]:
        if each.name == "source":
            return [self._source(part) for part in _PARTS]
        spelled = each.option.flag or f"--{each.name.replace('_', '-')}"
        kind, names = _kind(each.option, spelled)
        repeated = get_origin(kind) is list
        about = each.option.about
        told = typer.Option(
            *names,
            help=f"{about[:-1]}; may be repeated." if repeated else about,
            metavar=_metavar(each.option, each.type),
            rich_help_panel=self.panel,
            show_default=False,
            autocompletion=COMPLETED.get(each.name),
        )
        return [_parameter(each.name, Annotated[kind | None, told])]

    def _source(self, part: str) -> inspect.Parameter:
        """A source is an object; each of its parts has an option."""
        about = {"who": "Who said it.", "channel": "Where it was said.", "path": "In which file."}
        told = typer.Option(
            f"--source-{part}", help=about[part], rich_help_panel=self.panel, show_default=False
        )
        return _parameter(f"source_{part}", Annotated[str | None, told])


def _parameter(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _kind(option: Option, spelled: str) -> tuple[Any, tuple[str, ...]]:
    """The type that typer reads, and the names of the option."""
    wire = option.wire
    if get_origin(wire) is Literal and set(get_args(wire)) == {"hide", "show"}:
        return bool, (f"{spelled}/--no-{spelled[2:]}",)
    if wire is bool:
        return bool, (f"{spelled}/--no-{spelled[2:]}",)
    if wire in (int, float, str):
        return wire, (spelled,)
    pairs = "=" in (option.metavar or "")
    lists = any(get_origin(arm) is list for arm in (wire, *get_args(wire)))
    return list[str] if pairs or lists else str, (spelled,)


def _metavar(option: Option, given: str) -> str | None:
    if option.metavar is not None:
        return option.metavar
    if "TimeLike" in given:
        return "TIME"
    return "JSON" if get_origin(option.wire) is dict else None


def _value(each: Declared, values: Mapping[str, Any]) -> Any:
    if each.name == "source":
        parts = {part: values[f"source_{part}"] for part in _PARTS}
        return {part: told for part, told in parts.items() if told is not None} or None
    value = values[each.name]
    if value is None or value == []:
        return None
    if each.name in PARSED:
        return PARSED[each.name](value)
    if get_origin(each.option.wire) is Literal:
        return "show" if value else "hide"
    if get_origin(each.option.wire) is dict:
        return json_object(value, each.name)
    return value
