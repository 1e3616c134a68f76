"""What may be asked through a door: one model per operation, closed, with a line on every field.

Types are checked here, values by the library: a door and a call in Python refuse the same things
with the same words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from memoriter.core.errors import InputError
from memoriter.core.options import Option, declared
from memoriter.core.other_words import right_word
from memoriter.core.where import parse_where
from memoriter.memory import options

Asked = TypeVar("Asked", bound="Request")
Time = str
Object = dict[str, Any]
Receipt = Annotated[
    str | Object,
    Field(description="The handle that recall answered with, or a whole receipt."),
]
Id = Annotated[str, Field(description="The id of a memory.")]
Key = Annotated[str | None, Field(description=declared(options.WriteOptions)["key"].option.about)]
_LIMIT: Final = declared(options.QuestionOptions)["limit"].option.about
_CHOSEN: Final = declared(options.SelectOptions)
KnownAt = Annotated[Time | None, Field(description=_CHOSEN["known_at"].option.about)]
_WHOSE: Final = declared(options.ScopeOptions)
_SCOPE: Final = tuple(_WHOSE)


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


def with_options(name: str, base: type[Asked], declared_in: type, *without: str) -> type[Asked]:
    """The model with a field for each option that a TypedDict declares, beside its own."""
    left_out = {*without, *base.model_fields}
    fields: dict[str, Any] = {
        name: (_optional(each.option), each.option.default)
        for name, each in declared(declared_in).items()
        if each.option.wire is not None and name not in left_out
    }
    return create_model(name, __base__=base, __doc__=base.__doc__, **fields)


def _optional(option: Option) -> Any:
    wire = option.wire if option.default is not None else option.wire | None
    return Annotated[wire, Field(description=option.about)]


class Nothing(Request):
    """No field."""


class Count(Request):
    """What to count by."""

    by: Annotated[str | None, Field(description="Count by this, for example agent.")] = None


class Scoped(Request):
    """One agent's, user's or session's memories alone."""

    agent: Annotated[str | None, Field(description=_WHOSE["agent"].option.about)] = None
    user: Annotated[str | None, Field(description=_WHOSE["user"].option.about)] = None
    session: Annotated[str | None, Field(description=_WHOSE["session"].option.about)] = None


class Question(Scoped):
    """A question; its options are those of `Memory.recall`."""

    query: Annotated[str, Field(description="What to look for, in plain words.")]
    limit: Annotated[int | None, Field(description=_LIMIT)] = None

    def options(self) -> dict[str, Any]:
        """What the library takes beside text and limit."""
        return {
            name: value
            for name, value in self.given("query", "limit", "detail", "offset").items()
            if value is not None
        }


Ask = with_options("Ask", Question, options.SearchKwargs)


class Detailed(Question):
    """A question, and how much to tell."""

    detail: Annotated[
        Literal["brief", "full"],
        Field(description="brief: texts and ranks; full: every number."),
    ] = "brief"


class Paged(Question):
    """A question, page by page."""

    offset: Annotated[int, Field(description="How many bundles to leave out.")] = 0


Recall = with_options("Recall", Detailed, options.SearchKwargs)
Bundles = with_options("Bundles", Paged, options.SearchKwargs)


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


class Sorted(Scoped):
    """A page of memories by date; its options are those of `Memory.browse`."""

    sort: Annotated[Literal["newest", "oldest"], Field(description="Which come first.")] = "newest"
    cursor: Annotated[str | None, Field(description="Where the page before ended.")] = None
    limit: Annotated[int, Field(description=_LIMIT)] = 20


Browse = with_options("Browse", Sorted, options.BrowseKwargs)


class Named(Scoped):
    """One memory."""

    id: Id


class Get(Named):
    """One memory, now or at a time."""

    known_at: KnownAt = None


class New(Request):
    """Something to remember; its fields are those of `Memory.remember`."""

    scoping = False
    text: Annotated[str, Field(description="What to remember, one fact in plain words.")]


Draft = with_options("Draft", New, options.RememberKwargs)


class Several(Request):
    """Many things to remember."""

    memories: list[New]


_MEMORIES: Any = Annotated[list[Draft], Field(description="In the order to keep them.")]
Drafts = create_model("Drafts", __base__=Several, memories=(_MEMORIES, ...))


class Changed(Request):
    """New values of some fields; null takes an optional one away."""

    scoping = False
    id: Id
    key: Key = None


Update = with_options("Update", Changed, options.UpdateKwargs, "refs")


class Expire(Named):
    """From when on."""

    at: Annotated[Time | None, Field(description="From when on (default: now).")] = None
    key: Key = None


class Ends(Scoped):
    """Two memories and what holds between them."""

    source: Annotated[str, Field(description="The id it goes from.")]
    target: Annotated[str, Field(description="The id it points to.")]
    kind: Annotated[str, Field(description="How they belong together.")] = "related_to"
    key: Key = None


Link = with_options("Link", Ends, options.LinkKwargs)


class Ids(Scoped):
    """Which memories: ids, or a test."""

    id: Annotated[str | list[str] | None, Field(description="One id, or several.")] = None


Forget = with_options("Forget", Ids, options.ForgetKwargs)


class Dry(Scoped):
    """How to sum up."""

    dry_run: Annotated[bool, Field(description="Say what would be written.")] = False


Reflect = with_options("Reflect", Dry, options.ReflectKwargs)


class OfRecipe(Request):
    """One recipe."""

    recipe: Annotated[str, Field(description="Its name.")]


class NamedAgent(Request):
    """What is known of an agent."""

    scoping = False
    agent: Annotated[str, Field(description="Its name.")]
    key: Key = None


OfAgent = with_options("OfAgent", NamedAgent, options.AgentFields)


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
        if any(problem["loc"][:1] == ("where",) for problem in error.errors()):
            parse_where(cast("Mapping[str, object]", data)["where"])  # says which form is meant
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


def unknown_field(path: str, name: str, known: Collection[str]) -> InputError:
    """What is said of a field that a request does not have."""
    hint = right_word(name, list(known)) if known else "it takes none"
    return InputError(f"{path}: there is no such field", hint=hint, field=path)


def _is_arm(part: str) -> bool:
    """Whether a step of a path names an arm of a union and not a field."""
    return part in _ARMS or "[" in part


_ARMS: Final = frozenset({"str", "int", "float", "bool", "dict", "list"})
