"""The MCP tools of jeffs-brain, on the recipe `jeffs-brain`: search, recall and ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field, create_model

from memoriter import Hit, Result
from memoriter.core.budget import FREE
from memoriter.core.errors import Unavailable
from memoriter.core.times import to_micros
from memoriter.doors.port import ForeignTool
from memoriter.doors.replies import Reply
from memoriter.doors.requests import Request
from memoriter.doors.tenant_session import TenantSession
from memoriter.systems.wording import (
    JsonObject,
    RecallArgs,
    fields_by_name,
    option_fields,
    recall_args,
    require_own_tenant,
)
from memoriter.why.context import block_of

NAME: Final = "jeffs-brain"
KNOBS: Final = (
    "mode", "candidateK", "rerankTopN", "rrfK", "rerank", "agreeMin", "skipRetryLadder", "aliases",
    "pathPrefix", "paths", "tags", "project", "questionDate",
)  # fmt: skip
FOLDERS: Final = {
    "global": "memory/global/", "project": "memory/project/", "agent": "memory/agent/",
}  # fmt: skip
"""The folder of the notes of each scope."""
NOTHING: Final = "No memory answers the question."
_MIN_COSINE: Final = 0.1
"""A lower cosine is noise: vectors of unrelated texts are not quite orthogonal."""
_NUMBERS: Final = ("rrfK", "candidateK", "rerankTopN")

Brain = Annotated[
    str | None,
    Field(description="The name of the brain; it must be the one that your credential is for."),
]
FolderScope = Annotated[
    Literal["all", "global", "project", "agent"],
    Field(
        description="Which notes to search: all, or those in the folder global, project or agent."
    ),
]
QueryField = Annotated[str, Field(min_length=1, max_length=8192, description="The question.")]
TopK = Annotated[int, Field(ge=1, le=50, description="How many passages at most.")]


class SearchFields(Request):
    """A search."""

    query: Annotated[str, Field(min_length=1, max_length=4096, description="What to look for.")]
    brain: Brain = None
    top_k: Annotated[int, Field(ge=1, le=100, description="How many hits at most.")] = 10
    scope: FolderScope = "all"
    sort: Annotated[
        Literal["relevance", "recency", "relevance_then_recency"],
        Field(description="The order of the hits."),
    ] = "relevance"


class RecallFields(Request):
    """A question whose passages go into a prompt."""

    query: QueryField
    brain: Brain = None
    top_k: TopK = 5
    scope: FolderScope = "all"


class QuestionFields(Request):
    """A question to be answered."""

    query: QueryField
    brain: Brain = None
    top_k: TopK = 10
    scope: FolderScope = "all"


_fields = option_fields(NAME, KNOBS, mode="auto, bm25, semantic, hybrid or hybrid-rerank.")
BrainSearch = create_model("BrainSearch", __base__=SearchFields, **_fields)
BrainRecall = create_model("BrainRecall", __base__=RecallFields, **_fields)
BrainQuestion = create_model("BrainQuestion", __base__=QuestionFields, **_fields)


class Chunks(Reply):
    """Passages, best first, with the trace of the search."""

    chunks: list[JsonObject]
    tookMs: int  # noqa: N815  # jeffs-brain's spelling
    trace: JsonObject
    attempts: list[JsonObject]


class Memories(Chunks):
    """The same, with the block for a prompt."""

    context: str


class CitedChunks(Chunks):
    """The same, with an answer written by a model or quoted from passages."""

    answer: str
    citations: list[JsonObject]
    model: str | None
    """Which model wrote the answer; None if it is quoted."""
    note: str | None
    """Why a configured model did not write it."""


def search(tenant_session: TenantSession, request: Any) -> JsonObject:
    """Passages in the requested order."""
    began = perf_counter()
    result = _recalled(tenant_session, request)
    hits = list(result)
    if request.sort != "relevance":
        exact = request.sort == "relevance_then_recency"
        hits.sort(key=lambda hit: (-hit.score if exact else 0.0, *_recency_key(hit)))
    return _reply(tenant_session, result, hits, request, began)


def recall(tenant_session: TenantSession, request: Any) -> JsonObject:
    """Passages, and the same as a block for a prompt."""
    began = perf_counter()
    result = _recalled(tenant_session, request)
    return {
        **_reply(tenant_session, result, list(result), request, began),
        "context": str(result.context()),
    }


def ask(tenant_session: TenantSession, request: Any) -> JsonObject:
    """An answer from the relevant passages, cited.

    The language model that the environment names writes it; without one, or if it fails, the
    passages are quoted.
    """
    began = perf_counter()
    result = _recalled(tenant_session, request)
    relevant = [hit for hit in result if _is_relevant(hit)]
    return {
        **_answer(request.query, relevant),
        **_reply(tenant_session, result, list(result), request, began),
    }


def _answer(question: str, relevant: list[Hit]) -> JsonObject:
    """The answer and its citations, who wrote it, and why a model did not."""
    from memoriter.models.language_model import configured_model  # noqa: PLC0415  # imports TLS
    from memoriter.systems.jeffs_brain.answering import write_answer  # noqa: PLC0415  # as above

    model, note = configured_model() if relevant else None, None
    if model is not None:
        try:
            made = write_answer(model, question, relevant)
        except Unavailable as failed:
            note = f"{failed.message}; the passages are quoted"
        else:
            text, cited = (NOTHING, ()) if made is None else made
            return {
                "answer": text, "citations": _citations(relevant, cited), "model": model.name,
                "note": None,
            }  # fmt: skip
    quoted = block_of([(hit.record, bool(hit.superseded_by)) for hit in relevant], FREE)
    every = range(1, len(relevant) + 1)
    return {
        "answer": str(quoted) if relevant else NOTHING,
        "citations": _citations(relevant, every), "model": None, "note": note,
    }  # fmt: skip


def _citations(hits: Sequence[Hit], numbers: Iterable[int]) -> list[JsonObject]:
    each = [(n, hits[n - 1].id, hits[n - 1].record) for n in numbers]
    return [
        {"number": n, "chunkId": id, "path": record.source.path, "title": record.title}
        for n, id, record in each
    ]


def _recalled(tenant_session: TenantSession, request: Any) -> Result:
    args = _args(tenant_session, request)
    return tenant_session.memory(request).recall(
        request.query, request.top_k, **args.options_with()
    )


def _args(tenant_session: TenantSession, request: Any) -> RecallArgs:
    if request.brain is not None:
        require_own_tenant(tenant_session, "brain", request.brain)
    apart = ("query", "brain", "top_k", "scope", "sort")
    args = recall_args(NAME, tenant_session, request, apart=apart)
    args.options.setdefault("mode", "auto")  # the default of jeffs-brain
    if request.scope in FOLDERS:
        args.tests.append({"source.path": {"prefix": FOLDERS[request.scope]}})
    return args


def _is_relevant(hit: Hit) -> bool:
    """Whether a hit is relevant: it matched words, or its vector is close enough."""
    near = hit.lanes.get("vector")
    return "words" in hit.lanes or (near is not None and near.score >= _MIN_COSINE)


def _recency_key(hit: Hit) -> tuple[int, int]:
    """Sort key: newest first, ties by the latest write."""
    record = hit.record
    when = record.created if record.occurred is None else record.occurred
    return -to_micros(when), -record.position


def _reply(
    tenant_session: TenantSession, result: Result, hits: list[Hit], request: Any, began: float
) -> JsonObject:
    trace = _trace(result)
    return {
        "chunks": [{**fields_by_name(NAME, "hit", hit), "documentId": hit.id} for hit in hits],
        "tookMs": round((perf_counter() - began) * 1000),
        "trace": trace,
        "attempts": [
            {
                "rung": attempt.rung,
                "mode": trace["effectiveMode"],
                "topK": request.top_k,
                "reason": attempt.name,
                "query": attempt.query,
                "chunks": attempt.hits,
            }
            for attempt in result.attempts
        ],
        "receipt": tenant_session.handle(result),
    }


def _trace(result: Result) -> JsonObject:
    words = fields_by_name(NAME, "result", result)
    numbers = cast("JsonObject", result.trace["numbers"])
    skipped = words["rerankSkipReason"]
    return {
        **{name: value for name, value in words.items() if name not in ("trace", "attempts")},
        **{name: words[name] or 0 for name in ("bm25Hits", "vectorHits", "fusedHits")},
        "unanimitySkipped": skipped == "unanimity",
        **{name: numbers[name] for name in _NUMBERS},
    }


TOOLS: Final = (
    ForeignTool("memory_search", NAME, BrainSearch, Chunks, search,
           "jeffs-brain: find passages by words and vectors, with the trace of the search."),
    ForeignTool("memory_recall", NAME, BrainRecall, Memories, recall,
           "jeffs-brain: recall passages as a block for a prompt."),
    ForeignTool("memory_ask", NAME, BrainQuestion, CitedChunks, ask,
           "jeffs-brain: answer a question from the passages that bear on it, cited."),
)  # fmt: skip
