"""The request of each operation: a pydantic model with a description of every field.

Models check types only. Values are checked by the library, so that a request over the network and
a call in Python fail with the same message. A model `…Base` holds the fields that a handler reads
by name; `request_model` adds those that only pass through to the library, from the TypedDict in
which the library declares them. Its first argument, with `Request` appended, is the name of the
schema in OpenAPI, which clients may use: it does not change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    create_model,
)
from pydantic_core import CoreSchema

from memoriter.core.errors import InputError
from memoriter.core.names import JsonObject
from memoriter.core.options import Option, declared
from memoriter.core.similar import OnSimilar
from memoriter.core.where import parse_where
from memoriter.doors.refusals import misfit
from memoriter.doors.sizes import check_sizes
from memoriter.memory import options, writing_options

RequestT = TypeVar("RequestT", bound="Request")
Time = str
ReceiptField = Annotated[
    str | JsonObject,
    Field(description="The handle that recall returned, or a whole receipt."),
]
IdField = Annotated[str, Field(description="The id of a memory.")]
KeyField = Annotated[
    str | None, Field(description=declared(options.WriteOptions)["key"].option.about)
]
_LIMIT: Final = declared(options.QuestionOptions)["limit"].option.about
_CHOSEN: Final = declared(options.SelectOptions)
KnownAtField = Annotated[Time | None, Field(description=_CHOSEN["known_at"].option.about)]
_WHOSE: Final = declared(options.ScopeOptions)
_SCOPE: Final = tuple(_WHOSE)
_OWN: Final = ("query", "limit", "detail", "offset", "include")
"""The fields of questions that are no options of `Memory.recall`."""
_OVERRIDES: Final = declared(options.SearchKwargs)["overrides"].option.about
DetailField = Annotated[
    Literal["brief", "full", "drawn"],
    Field(description="`brief`: texts, scores; `full`: how scores add up; `drawn`: also charts."),
]


def _fail_fast(schema: Any) -> Any:
    """A core schema in which every list stops at its first error; only that one is reported."""
    if isinstance(schema, dict):
        parts = cast("dict[str, Any]", schema)
        more = {"fail_fast": True} if parts.get("type") == "list" else {}
        kept = ("default", "metadata", "config")  # data, not schemas
        inner = {k: v if k in kept else _fail_fast(v) for k, v in parts.items()}
        return {**inner, **more}
    if isinstance(schema, list):
        return [_fail_fast(each) for each in cast("list[Any]", schema)]
    return schema


class Request(BaseModel):
    """The fields of one request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The schema of pydantic, with validation of lists that stops at the first wrong entry."""
        return cast("CoreSchema", _fail_fast(handler(source)))

    scoping: ClassVar[bool] = True
    """Whether agent, user and session narrow the memories; else they are fields of a record."""

    def scope_names(self) -> dict[str, str]:
        """The agent, user and session to narrow the memory to, as far as they are named."""
        names = {key: getattr(self, key, None) for key in _SCOPE} if self.scoping else {}
        return {key: value for key, value in names.items() if value is not None}

    def sent_fields(self, *without: str) -> dict[str, Any]:
        """The fields that the caller sent, those with null too; without scope and `without`.

        A field that was left out is absent here, so that the library applies its own default.
        """
        left_out = {*without, *(_SCOPE if self.scoping else ())}
        sent = self.model_fields_set - left_out
        return {name: getattr(self, name) for name in type(self).model_fields if name in sent}


def request_model(name: str, base: type[RequestT], declared_in: type) -> type[RequestT]:
    """A subclass of `base` with a field for each option that the TypedDict `declared_in` has.

    Options that cannot travel as JSON (`wire` is None) and fields that the base has itself are left
    out.
    """
    fields: dict[str, Any] = {
        name: (_optional(each.option), each.option.default)
        for name, each in declared(declared_in).items()
        if each.option.wire is not None and name not in base.model_fields
    }
    return create_model(name, __base__=base, __doc__=base.__doc__, **fields)


def _optional(option: Option) -> Any:
    wire = option.wire if option.default is not None else option.wire | None
    return Annotated[wire, Field(description=option.about)]


class EmptyRequest(Request):
    """A request without fields."""


class StatusRequest(Request):
    """What to count and to look for."""

    by: Annotated[str | None, Field(description="Also count by a field, such as agent.")] = None
    repeats: Annotated[bool, Field(description="Also list texts that nearly repeat.")] = False


class ScopedRequest(Request):
    """Fields that narrow a request to one agent, user or session."""

    agent: Annotated[str | None, Field(description=_WHOSE["agent"].option.about)] = None
    user: Annotated[str | None, Field(description=_WHOSE["user"].option.about)] = None
    session: Annotated[str | None, Field(description=_WHOSE["session"].option.about)] = None


class QuestionRequest(ScopedRequest):
    """A question; its options are those of `Memory.recall`."""

    query: Annotated[str, Field(description="What to look for, in plain words.")]
    limit: Annotated[int | None, Field(description=_LIMIT)] = None

    def options(self) -> dict[str, Any]:
        """The keyword options for the library, without query and limit."""
        return {name: value for name, value in self.sent_fields(*_OWN).items() if value is not None}


AskRequest = request_model("Ask", QuestionRequest, options.SearchKwargs)


class ContextQuestion(QuestionRequest):
    """A question that is answered with a block for a prompt."""

    include: Annotated[
        Literal["relevant", "all"],
        Field(description="Which hits: `relevant` (those that seem relevant) or `all`."),
    ] = "relevant"


class DetailedQuestion(QuestionRequest):
    """A question, and how detailed the answer is to be."""

    detail: DetailField = "brief"


class PagedQuestion(QuestionRequest):
    """A question, answered page by page."""

    offset: Annotated[int, Field(description="How many hits to skip.")] = 0


ContextRequest = request_model("Context", ContextQuestion, options.SearchKwargs)
RecallRequest = request_model("Recall", DetailedQuestion, options.SearchKwargs)
BundlesRequest = request_model("Bundles", PagedQuestion, options.SearchKwargs)


class WhyNotRequest(ScopedRequest):
    """A memory, and the answer that it is or is not in."""

    receipt: ReceiptField
    id: IdField


class ExplainRequest(WhyNotRequest):
    """The same; and another hit of the answer to compare it with."""

    versus: Annotated[str | None, Field(description="Another hit's id: which ranks higher.")] = None


class OfReceiptRequest(ScopedRequest):
    """The receipt of one answer."""

    receipt: ReceiptField


class WhatIfRequest(Request):
    """An answer, and numbers of its recipe to change."""

    receipt: ReceiptField
    overrides: Annotated[JsonObject, Field(description=_OVERRIDES)]
    detail: DetailField = "brief"


class DifferRequest(Request):
    """The receipts of two answers."""

    before: ReceiptField
    after: ReceiptField


class BrowseArguments(ScopedRequest):
    """A page of memories by date; its options are those of `Memory.browse`."""

    sort: Annotated[Literal["newest", "oldest"], Field(description="By creation date.")] = "newest"
    cursor: Annotated[str | None, Field(description="The cursor of the page before.")] = None
    limit: Annotated[int, Field(description=_LIMIT)] = 20


BrowseRequest = request_model("Browse", BrowseArguments, options.BrowseKwargs)


class RecordRequest(ScopedRequest):
    """One memory."""

    id: IdField


class GetRequest(RecordRequest):
    """One memory, as it is now or as it was known at a time."""

    known_at: KnownAtField = None


class HistoryRequest(GetRequest):
    """The newest versions of a memory."""

    limit: Annotated[int, Field(description="At most this many versions.")] = 50
    upto: Annotated[int | None, Field(description="Only versions up to this row.")] = None


class DraftArguments(Request):
    """A new memory; its fields are those of `Memory.remember`."""

    scoping = False
    text: Annotated[str, Field(description="What to remember, one fact in plain words.")]


DraftEntry = request_model("DraftEntry", DraftArguments, options.RememberKwargs)
_ON_SIMILAR: Any = Annotated[OnSimilar, Field(description=options.ARGUMENTS["on_similar"])]
DraftRequest = create_model("Draft", __base__=DraftEntry, on_similar=(_ON_SIMILAR, "keep"))


class SimilarRequest(ScopedRequest):
    """A text that may be remembered."""

    text: Annotated[str, Field(description=options.ARGUMENTS["similar.text"])]
    limit: Annotated[int, Field(description=options.ARGUMENTS["similar.limit"])] = 20


class DraftsArguments(Request):
    """Several new memories."""

    memories: list[str | DraftArguments]


_MEMORIES: Any = Annotated[
    list[str | DraftEntry],
    Field(description="The memories as texts or objects, in the order in which they are stored."),
]
DraftsRequest = create_model("Drafts", __base__=DraftsArguments, memories=(_MEMORIES, ...))


class MessagesArguments(Request):
    """The messages of a conversation; its options are those of `Memory.remember_messages`."""

    scoping = False
    messages: Annotated[list[JsonObject], Field(description=options.ARGUMENTS["messages"])]


MessagesRequest = request_model("Messages", MessagesArguments, writing_options.MessagesKwargs)


class UpdateArguments(Request):
    """New values of some fields; null removes an optional one."""

    scoping = False
    id: IdField
    key: KeyField = None


UpdateRequest = request_model("Update", UpdateArguments, options.UpdateKwargs)


class ExpireRequest(RecordRequest):
    """A memory, and when it expires."""

    at: Annotated[Time | None, Field(description="When the memory expires (default: now).")] = None
    key: KeyField = None


class LinkArguments(ScopedRequest):
    """A link between two memories."""

    source: Annotated[str, Field(description="The id of the memory that the link starts at.")]
    target: Annotated[str, Field(description="The id of the memory that the link points to.")]
    kind: Annotated[str, Field(description="How the source relates to the target.")] = "related_to"
    key: KeyField = None


LinkRequest = request_model("Link", LinkArguments, options.LinkKwargs)


class ForgetArguments(ScopedRequest):
    """Which memories to erase: ids, or a filter."""

    id: Annotated[str | list[str] | None, Field(description="One id, or a list of ids.")] = None


ForgetRequest = request_model("Forget", ForgetArguments, options.ForgetKwargs)


class ReflectArguments(ScopedRequest):
    """How to cluster memories, and whether to write."""

    dry_run: Annotated[bool, Field(description="Only report what would be written.")] = False


ReflectRequest = request_model("Reflect", ReflectArguments, writing_options.ReflectKwargs)


class ReviewRequest(ScopedRequest):
    """How much of the review list."""

    limit: Annotated[int, Field(description="How many claims to return at most.")] = 100


class DecideRequest(ScopedRequest):
    """A claim of the review list, and the decision."""

    source: Annotated[str, Field(description="The id of the memory that makes the claim.")]
    target: Annotated[
        str | list[str], Field(description="The id of the memory that it is about, or several.")
    ]
    accept: Annotated[
        bool, Field(description="true: the claim takes effect; false: the claim is withdrawn.")
    ]


class RecipeRequest(Request):
    """The name of a recipe, and values of it to change."""

    recipe: Annotated[str, Field(description="Its name.")]
    overrides: Annotated[JsonObject | None, Field(description=_OVERRIDES)] = None


class AgentArguments(Request):
    """The registry entry of an agent."""

    scoping = False
    agent: Annotated[str, Field(description="Its name.")]
    key: KeyField = None


OfAgentRequest = request_model("OfAgent", AgentArguments, options.AgentFields)


class MaintainRequest(Request):
    """How much pending work to do at once."""

    limit: Annotated[int, Field(description="How many memories to embed at most.")] = 10_000


class CalibrateRequest(Request):
    """Which vector space to calibrate."""

    space: Annotated[
        str | None,
        Field(description="Name of a vector space, or of its embedder (default: the one in use)."),
    ] = None


def parse_request(model: type[RequestT], data: object, *, spelled: bool = False) -> RequestT:
    """The data as a request of the model; raises InputError that names the first wrong field.

    With `spelled`, values arrived as text (the query string of a URL): "5" is then taken for 5.
    """
    if not isinstance(data, Mapping):
        lists = [name for name in model.model_fields if name == "memories"]
        example = f': {{"{lists[0]}": […]}}' if lists and isinstance(data, list) else ""
        raise InputError("expected a JSON object", hint=f"send the fields in one object{example}")
    fields = dict(cast("Mapping[str, Any]", data))
    check_sizes(fields)
    try:
        return model.model_validate(fields, strict=not spelled)
    except ValidationError as error:
        problems = cast("list[Mapping[str, Any]]", error.errors(include_url=False))
        if any(problem["loc"][:1] == ("where",) for problem in problems):
            # The library's own parser explains a wrong filter better than a union of types does.
            parse_where(fields["where"])
        raise misfit(model, problems) from None
