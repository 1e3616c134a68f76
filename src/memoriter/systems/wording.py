"""Translates requests and answers between another system's names and ours, for its tools.

The tables are in the recipe of the system: `names` maps each of its names to a path (such as
`where.tags.any` or `final.limit`) and `values` its values to ours. Nothing is listed twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from datetime import datetime
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field

from memoriter.core.attributes import ATTRIBUTES
from memoriter.core.errors import Forbidden
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import JsonObject
from memoriter.core.times import iso
from memoriter.doors.requests import AskRequest, Request
from memoriter.doors.tenant_session import TenantSession
from memoriter.pipeline.load import recipe_of, value_at
from memoriter.pipeline.recipe import Recipe

"""The JSON object of a request, an answer or a part of one."""
_TESTS: Final = {
    "in": "One of these",
    "in_fold": "One of these, in any case",
    "any_fold": "Has one of these, in any case",
    "all": "Has all of these",
    "eq": "Exactly this",
    "prefix": "Begins with this",
    "gte": "At least this",
    "lte": "At most this",
}
_SETS: Final = ("in", "in_fold", "any", "any_fold", "all", "all_fold")


@dataclass(frozen=True, slots=True)
class RecallArgs:
    """The arguments of a recall, translated from a request."""

    recipe: str
    query: str = ""
    limit: int | None = None
    options: JsonObject = field(default_factory=dict[str, Any])
    overrides: JsonObject = field(default_factory=dict[str, Any])
    tests: list[JsonObject] = field(default_factory=list[dict[str, Any]])
    """Filter tests that have no name in the recipe; all of them must hold."""

    def options_with(self, **more: object) -> JsonObject:
        """The keyword arguments of `recall` without query and limit; `more` goes on top."""
        where = {"where": {"all": self.tests}} if self.tests else {}
        overrides = {**self.overrides, **cast("JsonObject", more.pop("overrides", {}))}
        fixed = {"recipe": self.recipe, "overrides": overrides, **where}
        return {**fixed, **self.options, **more}


def recall_args(
    recipe: str, tenant_session: TenantSession, request: Request, *, apart: Collection[str] = ()
) -> RecallArgs:
    """The arguments of a recall for a request; fields in `apart` are left to the tool itself."""
    names = recipe_of(recipe).names
    out: JsonObject = {"options": {}, "overrides": {}}
    for name, value in request.sent_fields(*apart).items():
        target = names[name]
        if value is None:
            continue
        match (target if isinstance(target, str) else target[0]).partition("."):
            case ("ask", _, "query"):
                out["query"] = value
            case ("ask", _, option):
                out["options"][option] = value
            case ("final", _, "limit"):
                out["limit"] = value
            case ("open", _, "tenant"):
                require_own_tenant(tenant_session, name, value)
            case _:
                out["overrides"][name] = value
    return RecallArgs(recipe, **out)


def require_own_tenant(tenant_session: TenantSession, name: str, value: str) -> None:
    """Raise `Forbidden` if a chain or brain is not the tenant of the caller."""
    if value != tenant_session.tenant:
        raise Forbidden(
            f"{name}: this credential is for another tenant",
            hint=f"leave out {name}: the tenant comes from the credential",
            field=name,
        )


# -- schemas of requests -------------------------------------------------------------------------


def option_fields(recipe: str, names: Iterable[str], **about: str) -> dict[str, Any]:
    """Pydantic fields for names of a recipe, with type and description from the recipe.

    `about` replaces descriptions by name.
    """
    whole = recipe_of(recipe)
    data = whole.to_data()
    return {name: _option(whole, data, name, about.get(name)) for name in names}


def _option(recipe: Recipe, data: object, name: str, about: str | None) -> Any:
    target = recipe.names[name]
    path = target if isinstance(target, str) else target[0]
    default = value_at(data, path)
    spelled = [key for key, ours in recipe.values.get(name, {}).items() if ours == default]
    default = spelled[0] if spelled else default
    line = about or _line(path, default, several=not isinstance(target, str))
    return Annotated[_type(recipe, name, path, default) | None, Field(description=line)], None


def _line(path: str, default: object, *, several: bool) -> str:
    """The description of an option."""
    place, _, rest = path.partition(".")
    if place == "ask":
        return str(AskRequest.model_fields[rest].description)
    if place == "where":
        line = _TESTS[rest.rpartition(".")[2]]
        return f"{line}; a number is a position, a date a time." if several else f"{line}."
    spelled = str(default).lower() if isinstance(default, bool) else str(default)
    return f"{path}, {spelled} by default."


def _type(recipe: Recipe, name: str, path: str, default: object) -> Any:
    if name in recipe.values:
        words = [key for key in recipe.values[name] if key not in ("true", "false")]
        flag = bool if "true" in recipe.values[name] else None
        spelled = Literal[tuple(words)] if words else None
        return flag | spelled if flag and spelled else flag or spelled
    place, _, rest = path.partition(".")
    if place == "ask":
        return AskRequest.model_fields[rest].annotation
    if place == "where":
        return _tested(rest, several=not isinstance(recipe.names[name], str))
    return type(default) if isinstance(default, bool | int | str) else float


def _tested(path: str, *, several: bool) -> Any:
    attribute, _, op = path.rpartition(".")
    if op in _SETS:
        return list[str]
    if several:  # a number or a time
        return int | str
    return float if ATTRIBUTES.get(attribute) == "number" else str


# -- answers -------------------------------------------------------------------------------------


def value_by_path(start: object, path: str) -> Any:
    """The value at a dotted path of attributes and keys; None if a step has no value."""
    for key in path.split("."):
        if isinstance(start, Mapping):
            start = cast("Mapping[str, object]", start).get(key)
        else:
            start = getattr(start, key, None)
        if start is None:
            return None
    return start


def fields_by_name(recipe: str, place: str, start: object) -> JsonObject:
    """The parts of a record, a hit or a result that have a name in the recipe, by that name.

    `place` is the first step of their paths: `record`, `hit` or `result`.
    """
    out: JsonObject = {}
    for name, target in recipe_of(recipe).names.items():
        if isinstance(target, str) and target.startswith(f"{place}."):
            out[name] = json_value(value_by_path(start, target.removeprefix(f"{place}.")))
    return out


def json_value(value: Any) -> Any:
    """A value as JSON data: tuples as lists, times as ISO 8601, objects by `to_dict`."""
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, tuple | list):
        return [json_value(each) for each in cast("Iterable[object]", value)]
    return value.to_dict() if hasattr(value, "to_dict") else value
