"""A reranker behind any server with `POST {base}/rerank`. It sends queries and texts over HTTP."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import copy
from typing import Final, Literal, Self, TypedDict, Unpack, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import InputError, Unavailable
from memoriter.core.names import choice, integer, name, number
from memoriter.models.http_client import Post, ServerRole, check_options, key_for, parse_base_url
from memoriter.models.parse_json import parse_json
from memoriter.models.texts import encodable

Shape = Literal["cohere", "tei"]
"""The JSON of requests and responses. Cohere, Jina, vLLM, LiteLLM, Infinity and llama.cpp use the
first, Hugging Face Text Embeddings Inference the second."""

SHAPES: Final = ("cohere", "tei")
_ROLE: Final = ServerRole(
    "reranker",
    "MEMORITER_RERANK_KEY",
    {"api.cohere.com": "CO_API_KEY", "api.jina.ai": "JINA_API_KEY"},
    "api.cohere.com/v2",
)
_TRIES: Final = 2
_BATCH: Final[dict[Shape, int]] = {"cohere": 1000, "tei": 32}
"""Texts per request that a server accepts in its default configuration."""


class HttpRerankerOptions(TypedDict, total=False):
    """Further options of `HttpReranker`."""

    shape: Shape
    key: str | None
    """Sent as a bearer token. None: taken from the environment. Empty: no key is sent."""
    seconds: float
    """Timeout of a call. A search with a shorter deadline shortens it."""
    batch_texts: int
    """Texts per request; more are sent in several requests, one after the other."""


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    index: int
    score: float = Field(validation_alias=AliasChoices("relevance_score", "score"))


class _Answer(BaseModel):
    results: list[_Row]


class HttpReranker:
    """Reranks with a server; satisfies `Reranker` and `DeadlineAware`. Thread-safe.

    Args:
        model: The server's name of the model; a server with one model ignores it.
        base: Its URL up to `/rerank`, for example `http://localhost:8080`.
        **options: See `HttpRerankerOptions`.

    Raises InputError for an unknown option or an invalid value.

    """

    def __init__(self, model: str, base: str, **options: Unpack[HttpRerankerOptions]) -> None:
        check_options(options, HttpRerankerOptions, "a reranker on a server")
        shape = choice(options.get("shape", "cohere"), "shape", SHAPES, InputError)
        self._shape = cast("Shape", shape)
        self._model = name(model, "model", InputError, 256)
        self._server = parse_base_url(base, _ROLE)
        self._key = key_for(self._server, options.get("key"), _ROLE)
        self._seconds = number(options.get("seconds", 5), "seconds", 0.01, 1e5, InputError)
        most = options.get("batch_texts", _BATCH[self._shape])
        self._texts = integer(most, "batch_texts", 1, 100_000, InputError)
        identity = canonical([self._model, str(self._server), self._shape])
        self._fingerprint = "rerank-http/1:" + digest("rerank-http", identity).hex()[:16]

    @property
    def name(self) -> str:
        """The display name: model and server."""
        return f"http:{self._model}@{self._server}"

    @property
    def fingerprint(self) -> str:
        """Identifies model, server and shape; never the key."""
        return self._fingerprint

    def within(self, seconds: float) -> Self:
        """A copy whose timeout is at most `seconds`."""
        limited = copy(self)
        limited._seconds = min(self._seconds, seconds)
        return limited

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order; raises Unavailable."""
        safe = [encodable(text) for text in texts]
        parts = [safe[at : at + self._texts] for at in range(0, len(safe), self._texts)]
        # One `Post` for all parts: the deadline covers the whole call, not each request.
        with Post(self._server, self._key, self._seconds, _TRIES) as post:
            return [score for part in parts for score in self._ask(post, encodable(query), part)]

    def _ask(self, post: Post, query: str, texts: list[str]) -> list[float]:
        content = post.send("/rerank", json.dumps(self._request(query, texts)).encode())
        try:
            rows = (
                parse_json(content, list[_Row])
                if self._shape == "tei"
                else parse_json(content, _Answer).results
            )
            return _in_order(rows, len(texts))
        except ValueError as wrong:
            raise Unavailable(
                f"{self._server}: the answer of the server is not usable: {wrong}",
                hint=f"check that {self._model!r} is a reranker on this server, and that the"
                f" server's API has the format {self._shape!r} (option `shape`)",
            ) from None

    def _request(self, query: str, texts: list[str]) -> dict[str, object]:
        if self._shape == "tei":
            return {"query": query, "texts": texts, "truncate": True}
        return {"model": self._model, "query": query, "documents": texts, "top_n": len(texts)}


def _in_order(rows: Sequence[_Row], count: int) -> list[float]:
    """The scores in the order of the texts; raises ValueError if not each text has one score.

    Servers return the best first and give the index of each text.
    """
    by_index = {row.index: row.score for row in rows}
    if len(rows) != len(by_index):
        raise ValueError("two scores for one text")
    if missing := set(range(count)) - set(by_index):
        raise ValueError(f"no score for {len(missing)} of {count} texts")
    if len(by_index) > count:
        raise ValueError(f"{len(by_index)} scores for {count} texts")
    return [by_index[at] for at in range(count)]
