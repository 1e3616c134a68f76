"""Options in groups: a command takes a dataclass, the command line sees one option per field."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, TypeVar, cast, get_type_hints

Command = TypeVar("Command", bound=Callable[..., object])


def spread(command: Command) -> Command:
    """The command with each dataclass among its parameters spread into options of their own.

    The fields are annotated as typer wants parameters: `Annotated[str, typer.Option(…)]`.
    """
    plain = inspect.signature(command, eval_str=True).parameters.values()
    groups = {p.name: cast("type[Any]", p.annotation) for p in plain if is_dataclass(p.annotation)}
    flat = [p.replace(kind=p.KEYWORD_ONLY) for p in plain if p.name not in groups]
    owner: dict[str, str] = {}
    for name, group in groups.items():
        parameters = _parameters(group)
        owner.update({p.name: name for p in parameters})
        flat += parameters

    @wraps(command)
    def run(**given: object) -> object:
        gathered: dict[str, dict[str, object]] = {name: {} for name in groups}
        rest = {k: v for k, v in given.items() if k not in owner}
        for key, name in owner.items():
            gathered[name][key] = given[key]
        return command(**rest, **{name: group(**gathered[name]) for name, group in groups.items()})

    run.__signature__ = inspect.Signature(flat)  # pyright: ignore[reportAttributeAccessIssue]  # how a function tells another signature
    run.__annotations__ = {p.name: p.annotation for p in flat}
    return cast("Command", run)


def _parameters(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default(each),
            annotation=hints[each.name],
        )
        for each in fields(group)
    ]


def _default(each: Field[Any]) -> object:
    return inspect.Parameter.empty if each.default is MISSING else each.default
