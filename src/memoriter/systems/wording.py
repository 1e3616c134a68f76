"""A request in another system's words, and the answer in them, by the tables of its recipe.

The recipe says where each name leads (`names`), what its values are here (`values`) and which
numbers a hit carries (`scores`); here is no second list of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field

from memoriter.core.attributes import ATTRIBUTES
from memoriter.core.errors import Forbidden
from memoriter.core.times import iso
from memoriter.doors.requests import AskRequest, Request
from memoriter.doors.tenant_session import TenantSession
from memoriter.pipeline.load import recipe_of, value_at
from memoriter.pipeline.recipe import Recipe

Plain = dict[str, Any]
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
    """A request in our words: what a recall takes."""

    recipe: str
    query: str = ""
    limit: int | None = None
    options: Plain = field(default_factory=dict[str, Any])
    overrides: Plain = field(default_factory=dict[str, Any])
    tests: list[Plain] = field(default_factory=list[dict[str, Any]])
    """Tests of the filter that have no name in the recipe."""

    def ask(self, **more: object) -> Plain:
        """What the library takes beside text and limit."""
        where = {"where": {"all": self.tests}} if self.tests else {}
        overrides = {**self.overrides, **cast("Plain", more.pop("overrides", {}))}
        fixed = {"recipe": self.recipe, "overrides": overrides, **where}
        return {**fixed, **self.options, **more}


def recall_args(
    recipe: str, tenant_session: TenantSession, request: Request, *apart: str
) -> RecallArgs:
    """The request in our words; `apart` are fields that its tool reads by itself."""
    names = recipe_of(recipe).names
    out: Plain = {"options": {}, "overrides": {}}
    for name, value in request.sent_fields(*apart).items():
        leads = names[name]
        if value is None:
            continue
        match (leads if isinstance(leads, str) else leads[0]).partition("."):
            case ("ask", _, "query"):
                out["query"] = value
            case ("ask", _, option):
                out["options"][option] = value
            case ("final", _, "limit"):
                out["limit"] = value
            case ("open", _, "tenant"):
                own_tenant(tenant_session, name, value)
            case _:
                out["overrides"][name] = value
    return RecallArgs(recipe, **out)


def own_tenant(tenant_session: TenantSession, name: str, value: str) -> None:
    """Refuse a chain or brain that is not the caller's tenant."""
    if value != tenant_session.tenant:
        raise Forbidden(
            f"{name}: this credential is for another tenant",
            hint="leave it out: the tenant comes from the credential",
            field=name,
        )


# -- the schema ----------------------------------------------------------------------------------


def knobs(recipe: str, names: Iterable[str], **about: str) -> dict[str, Any]:
    """Fields of a request model for names of a recipe, each with its type and what it is here."""
    whole = recipe_of(recipe)
    data = whole.to_data()
    return {name: _knob(whole, data, name, about.get(name)) for name in names}


def _knob(recipe: Recipe, data: object, name: str, about: str | None) -> Any:
    leads = recipe.names[name]
    path = leads if isinstance(leads, str) else leads[0]
    usual = value_at(data, path)
    spelled = [key for key, ours in recipe.values.get(name, {}).items() if ours == usual]
    usual = spelled[0] if spelled else usual
    line = about or _line(path, usual, several=not isinstance(leads, str))
    return Annotated[_type(recipe, name, path, usual) | None, Field(description=line)], None


def _line(path: str, usual: object, *, several: bool) -> str:
    """What a knob is, in a line."""
    place, _, rest = path.partition(".")
    if place == "ask":
        return str(AskRequest.model_fields[rest].description)
    if place == "where":
        line = _TESTS[rest.rpartition(".")[2]]
        return f"{line}; a number is a position, a date a time." if several else f"{line}."
    spelled = str(usual).lower() if isinstance(usual, bool) else str(usual)
    return f"{path}, {spelled} unless told."


def _type(recipe: Recipe, name: str, path: str, usual: object) -> Any:
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
    return type(usual) if isinstance(usual, bool | int | str) else float


def _tested(path: str, *, several: bool) -> Any:
    attribute, _, op = path.rpartition(".")
    if op in _SETS:
        return list[str]
    if several:  # a number or a time
        return int | str
    return float if ATTRIBUTES.get(attribute) == "number" else str


# -- the answer ----------------------------------------------------------------------------------


def reached(start: object, path: str) -> Any:
    """What a path of names leads to, through attributes and keys; None where it ends early."""
    for key in path.split("."):
        if isinstance(start, Mapping):
            start = cast("Mapping[str, object]", start).get(key)
        else:
            start = getattr(start, key, None)
        if start is None:
            return None
    return start


def in_their_words(recipe: str, place: str, start: object) -> Plain:
    """Everything of a record, a hit or a result that the recipe's users have a name for."""
    out: Plain = {}
    for name, leads in recipe_of(recipe).names.items():
        if isinstance(leads, str) and leads.startswith(f"{place}."):
            out[name] = plain(reached(start, leads.removeprefix(f"{place}.")))
    return out


def plain(value: Any) -> Any:
    """Tuples as lists, times as ISO 8601, values as their data."""
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, tuple | list):
        return [plain(each) for each in cast("Iterable[object]", value)]
    return value.to_dict() if hasattr(value, "to_dict") else value
