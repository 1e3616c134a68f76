"""What may be asked through a door: one model per operation, closed, with a line on every field.

Types are checked here, values by the library: a door and a call in Python refuse the same things
with the same words.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memoriter.core.errors import InputError

Asked = TypeVar("Asked", bound="Request")
Time = str | int
Object = dict[str, Any]
Receipt = Annotated[
    str | Object,
    Field(description="The handle that recall answered with, or a whole receipt."),
]
Id = Annotated[str, Field(description="The id of a memory.")]
Key = Annotated[
    str | None, Field(description="Asked twice under one key, the second time changes nothing.")
]
Where = Annotated[
    Object | None,
    Field(description='A test, for example {"tags": "ops"}.'),
]
AsOf = Annotated[Time | None, Field(description="What was valid then (ISO 8601).")]
KnownAt = Annotated[Time | None, Field(description="What was known then (ISO 8601).")]
_SCOPE: Final = ("agent", "user", "session")


class Request(BaseModel):
    """A question or an order. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    scoping: ClassVar[bool] = True
    """Whether agent, user and session say whose memories are meant, not fields of a record."""

    def whose(self) -> dict[str, str]:
        """Whose memories are meant within the tenant."""
        told = {key: getattr(self, key, None) for key in _SCOPE} if self.scoping else {}
        return {key: value for key, value in told.items() if value is not None}

    def given(self, *without: str) -> dict[str, Any]:
        """The fields that were given, null included, as the library takes them."""
        left_out = {*without, *(_SCOPE if self.scoping else ())}
        told = self.model_fields_set - left_out
        return {name: getattr(self, name) for name in type(self).model_fields if name in told}


class Nothing(Request):
    """No field."""


class Count(Request):
    """What to count by."""

    by: Annotated[str | None, Field(description="Count by this, for example agent.")] = None


class Scoped(Request):
    """One agent's, user's or session's memories alone."""

    agent: Annotated[str | None, Field(description="Of this agent alone.")] = None
    user: Annotated[str | None, Field(description="Of this user alone.")] = None
    session: Annotated[str | None, Field(description="Of this session alone.")] = None


class Ask(Scoped):
    """A question."""

    query: Annotated[str, Field(description="What to look for, in plain words.")]
    limit: Annotated[int | None, Field(description="How many at most.")] = None
    recipe: Annotated[
        str | Object | None, Field(description="A recipe's name, or a recipe as data.")
    ] = None
    where: Where = None
    as_of: AsOf = None
    known_at: KnownAt = None
    now: Annotated[Time | None, Field(description="Answer as if it were then.")] = None
    vector: Annotated[list[float] | None, Field(description="Your own query vector.")] = None
    overrides: Annotated[
        Object | None, Field(description="Numbers of the recipe to change, by path.")
    ] = None
    require: Annotated[list[str] | None, Field(description="Lanes that must run.")] = None
    mode: Annotated[str | None, Field(description="A mode of the recipe.")] = None
    aliases: Annotated[
        dict[str, list[str]] | None, Field(description="Other words for a word.")
    ] = None
    seeds: Annotated[
        list[str] | dict[str, list[str]] | None, Field(description="Where graph lanes start.")
    ] = None
    lists: Annotated[Object | None, Field(description="Ranked lists of your own, by label.")] = None
    cycle: Annotated[int | None, Field(description="The present cycle.")] = None
    budget_tokens: Annotated[int | None, Field(description="What fits into so many tokens.")] = None
    budget_chars: Annotated[int | None, Field(description="What fits into so many characters.")] = (
        None
    )

    def options(self) -> dict[str, Any]:
        """What the library takes beside text and limit."""
        return {
            name: value
            for name, value in self.given("query", "limit", "detail", "offset").items()
            if value is not None
        }


class Recall(Ask):
    """A question, and how much to tell."""

    detail: Annotated[
        Literal["brief", "full"],
        Field(description="brief: texts and ranks; full: every number."),
    ] = "brief"


class Bundles(Ask):
    """A question, page by page."""

    offset: Annotated[int, Field(description="How many bundles to leave out.")] = 0


class Explain(Scoped):
    """One memory and an answer."""

    receipt: Receipt
    id: Id


class OfReceipt(Scoped):
    """One answer."""

    receipt: Receipt


class Differ(Request):
    """Two answers."""

    before: Receipt
    after: Receipt


class Browse(Scoped):
    """A page of memories by date."""

    sort: Annotated[Literal["newest", "oldest"], Field(description="Which come first.")] = "newest"
    cursor: Annotated[str | None, Field(description="Where the page before ended.")] = None
    limit: Annotated[int, Field(description="How many at most.")] = 20
    offset: Annotated[int, Field(description="How many to leave out.")] = 0
    where: Where = None
    as_of: AsOf = None
    known_at: KnownAt = None
    archived: Annotated[Literal["hide", "show"], Field(description="Archived ones.")] = "hide"
    expired: Annotated[Literal["hide", "show"], Field(description="Expired ones.")] = "hide"
    superseded: Annotated[Literal["hide", "show"], Field(description="Replaced ones.")] = "show"


class Named(Scoped):
    """One memory."""

    id: Id


class Get(Named):
    """One memory, now or at a time."""

    known_at: KnownAt = None


class Fields(Request):
    """The fields of a memory but its text."""

    scoping = False
    title: Annotated[str | None, Field(description="A short title.")] = None
    summary: Annotated[str | None, Field(description="The text in brief.")] = None
    kind: Annotated[
        str | None, Field(description="note, fact, decision, task or your own word.")
    ] = None
    role: Annotated[str | None, Field(description="The part it plays.")] = None
    memory_type: Annotated[
        str | None, Field(description="working, episodic, semantic or procedural.")
    ] = None
    tags: Annotated[list[str] | None, Field(description="Labels.")] = None
    concepts: Annotated[list[str] | None, Field(description="What it is about.")] = None
    entities: Annotated[list[str] | None, Field(description="Whom or what it names.")] = None
    entity_type: Annotated[str | None, Field(description="What its entities are.")] = None
    source_episode: Annotated[str | None, Field(description="The episode it came from.")] = None
    importance: Annotated[float | None, Field(description="0 to 1.")] = None
    confidence: Annotated[float | None, Field(description="0 to 1.")] = None
    priority: Annotated[str | None, Field(description="P1, P2, P3 or P4.")] = None
    trust: Annotated[str | None, Field(description="system, learned or external.")] = None
    source: Annotated[dict[str, str | None] | None, Field(description="who, channel, path.")] = None
    agent: Annotated[str | None, Field(description="Who learned it.")] = None
    user: Annotated[str | None, Field(description="Whom it concerns.")] = None
    session: Annotated[str | None, Field(description="The conversation.")] = None
    created: Annotated[Time | None, Field(description="When it was made.")] = None
    occurred: Annotated[Time | None, Field(description="When it happened.")] = None
    valid_from: Annotated[Time | None, Field(description="When it begins to hold.")] = None
    valid_until: Annotated[Time | None, Field(description="When it no longer holds.")] = None
    expires: Annotated[Time | None, Field(description="When it leaves all answers.")] = None
    cycle: Annotated[int | None, Field(description="The cycle it belongs to.")] = None
    metadata: Annotated[Object | None, Field(description="Fields of your own.")] = None
    archived: Annotated[bool | None, Field(description="Keep it out of recalls.")] = None
    pinned: Annotated[bool | None, Field(description="Mark it as pinned.")] = None


class Draft(Fields):
    """Something to remember."""

    text: Annotated[str, Field(description="What to remember, one fact in plain words.")]
    id: Annotated[str | None, Field(description="An id of your own.")] = None
    key: Key = None
    vector: Annotated[list[float] | None, Field(description="Its vector.")] = None
    links: Annotated[list[Object] | None, Field(description="Objects with target and kind.")] = None
    supersedes: Annotated[
        str | list[str] | None, Field(description="The id of what this replaces.")
    ] = None
    corrects: Annotated[
        str | list[str] | None, Field(description="The id of what this corrects.")
    ] = None
    invalidates: Annotated[
        str | list[str] | None, Field(description="The id of what this makes void.")
    ] = None
    refs: Annotated[list[int] | None, Field(description="Positions of memories it refers to.")] = (
        None
    )


class Drafts(Request):
    """Many things to remember."""

    memories: Annotated[list[Draft], Field(description="In the order to keep them.")]


class Update(Fields):
    """New values of some fields; null takes an optional one away."""

    id: Id
    text: Annotated[str | None, Field(description="What it says now.")] = None
    key: Key = None


class Expire(Named):
    """From when on."""

    at: Annotated[Time | None, Field(description="From when on (default: now).")] = None
    key: Key = None


class Link(Scoped):
    """Two memories and what holds between them."""

    source: Annotated[str, Field(description="The id it goes from.")]
    target: Annotated[str, Field(description="The id it points to.")]
    kind: Annotated[str, Field(description="How they belong together.")] = "related_to"
    weight: Annotated[float | None, Field(description="How strongly (default: 1).")] = None
    valid_from: Annotated[Time | None, Field(description="When it begins to hold.")] = None
    valid_until: Annotated[Time | None, Field(description="When it no longer holds.")] = None
    metadata: Annotated[Object | None, Field(description="Fields of your own.")] = None
    key: Key = None


class Forget(Scoped):
    """Which memories: ids, or a test."""

    id: Annotated[str | list[str] | None, Field(description="One id, or several.")] = None
    where: Where = None
    key: Key = None


class Reflect(Scoped):
    """How to sum up."""

    dry_run: Annotated[bool, Field(description="Say what would be written.")] = False
    algorithm: Annotated[str | None, Field(description="How clusters are found.")] = None
    similarity: Annotated[float | None, Field(description="How near members are.")] = None
    min_size: Annotated[int | None, Field(description="Members at least.")] = None
    max_size: Annotated[int | None, Field(description="Members at most.")] = None
    candidates: Annotated[int | None, Field(description="How many newest are compared.")] = None
    cycle: Annotated[int | None, Field(description="The present cycle.")] = None


class OfRecipe(Request):
    """One recipe."""

    recipe: Annotated[str, Field(description="Its name.")]


class OfAgent(Request):
    """What is known of an agent."""

    scoping = False
    agent: Annotated[str, Field(description="Its name.")]
    display_name: Annotated[str | None, Field(description="How people call it.")] = None
    owner: Annotated[str | None, Field(description="Whose it is.")] = None
    description: Annotated[str | None, Field(description="What it does.")] = None
    aliases: Annotated[list[str] | None, Field(description="Its other names.")] = None
    key: Key = None


class Maintain(Request):
    """How much upkeep at once."""

    limit: Annotated[int, Field(description="How many vectors to make at most.")] = 10_000


def parsed(model: type[Asked], data: object, *, spelled: bool = False) -> Asked:
    """The request that the data says; `spelled` values are all text, as in an address."""
    if not isinstance(data, Mapping):
        raise InputError("expected an object", hint="send the fields as one JSON object")
    try:
        return model.model_validate(dict(cast("Mapping[str, Any]", data)), strict=not spelled)
    except ValidationError as error:
        raise _refused(model, cast("list[Mapping[str, Any]]", error.errors())) from None


def _refused(model: type[Request], problems: list[Mapping[str, Any]]) -> InputError:
    first = problems[0]
    *above, last = [str(part) for part in first["loc"]] or [""]
    extra = first["type"] == "extra_forbidden"  # then the last is what somebody wrote
    names = [part for part in above if not _is_arm(part)]
    names += [last] if extra or not _is_arm(last) else []
    field = ".".join(names) or "request"
    if extra:
        return unknown_field(field, last, model.model_fields)
    if first["type"] == "missing":
        return InputError(f"{field}: is required", hint="give it a value", field=field)
    message = str(first["msg"]).removeprefix("Input should be ")
    message = message.replace("String should have", "a string of", 1)
    return InputError(f"{field}: expected {message}", hint="check its type", field=field)


def unknown_field(path: str, name: str, known: Iterable[str]) -> InputError:
    """What is said of a field that a request does not have."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names) or 'none'}"
    return InputError(f"{path}: there is no such field", hint=hint, field=path)


def _is_arm(part: str) -> bool:
    """Whether a step of a path names an arm of a union and not a field."""
    return part in _ARMS or "[" in part


_ARMS: Final = frozenset({"str", "int", "float", "bool", "dict", "list"})
