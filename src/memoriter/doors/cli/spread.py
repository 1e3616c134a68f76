"""Options in groups: a command takes a dataclass, the command line sees one option per field."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, TypeVar, cast, get_type_hints

from memoriter.doors.cli.flags import Flags

Command = TypeVar("Command", bound=Callable[..., object])


def spread(command: Command) -> Command:
    """The command with each dataclass among its parameters spread into options of their own.

    The fields are annotated as typer wants parameters: `Annotated[str, typer.Option(…)]`, or
    with `Flags`, which stand for many options.
    """
    plain = inspect.signature(command, eval_str=True).parameters.values()
    groups = {
        p.name: _Group(cast("type[Any]", p.annotation)) for p in plain if is_dataclass(p.annotation)
    }
    own = [p.replace(kind=p.KEYWORD_ONLY) for p in plain if p.name not in groups]
    flat = [*own, *(p for group in groups.values() for p in group.parameters)]

    @wraps(command)
    def run(**given: object) -> object:
        rest = {p.name: given[p.name] for p in own}
        return command(**rest, **{name: group.gather(given) for name, group in groups.items()})

    run.__signature__ = inspect.Signature(flat)  # pyright: ignore[reportAttributeAccessIssue]  # how a function tells another signature
    run.__annotations__ = {p.name: p.annotation for p in flat}
    return cast("Command", run)


class _Group:
    """A dataclass of options: what the command line sees, and how its values are gathered."""

    def __init__(self, group: type[Any]) -> None:
        hints = get_type_hints(group, include_extras=True)
        self._group = group
        self._flags = {each.name: _flags(hints[each.name]) for each in fields(group)}
        self.parameters: list[inspect.Parameter] = []
        for each in fields(group):
            flags = self._flags[each.name]
            self.parameters += (
                [_parameter(each, hints[each.name])] if flags is None else flags.parameters()
            )

    def gather(self, given: Mapping[str, object]) -> object:
        """The dataclass that was given."""
        return self._group(
            **{
                name: given[name] if flags is None else flags.given(given)
                for name, flags in self._flags.items()
            }
        )


def _flags(hint: Any) -> Flags | None:
    found = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Flags)]
    return found[0] if found else None


def _parameter(each: Field[Any], hint: Any) -> inspect.Parameter:
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, default=_default(each), annotation=hint
    )


def _default(each: Field[Any]) -> object:
    return inspect.Parameter.empty if each.default is MISSING else each.default
