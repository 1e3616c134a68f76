"""Any server that speaks `POST {base}/rerank`: question and candidates leave the machine for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import copy
from typing import Final, Literal, Self, TypedDict, Unpack, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import InputError, Unavailable
from memoriter.core.names import choice, integer, name, number
from memoriter.models.http_client import Post, Want, key_for, server_of
from memoriter.models.parsed import parsed
from memoriter.models.texts import encodable

Shape = Literal["cohere", "tei"]
"""How a server is asked. Cohere, Jina, vLLM, LiteLLM, Infinity and llama.cpp share the first."""

SHAPES: Final = ("cohere", "tei")
_WANT: Final = Want(
    "reranker",
    "MEMORITER_RERANK_KEY",
    {"api.cohere.com": "CO_API_KEY", "api.jina.ai": "JINA_API_KEY"},
    "api.cohere.com/v2",
)
_TRIES: Final = 2
_BATCH: Final[dict[Shape, int]] = {"cohere": 1000, "tei": 32}
"""Texts that a server takes at a time unless it is set up otherwise."""


class HttpRerankerOptions(TypedDict, total=False):
    """What `HttpReranker` takes beside the model and the base URL."""

    shape: Shape
    key: str | None
    """Sent as a bearer token. None: from the environment. Empty: none."""
    seconds: float
    """When a server is given up, at the latest: a question that waits less gives it up earlier."""
    batch_texts: int
    """Texts in one request; more go in several, one after the other."""


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    index: int
    score: float = Field(validation_alias=AliasChoices("relevance_score", "score"))


class _Answer(BaseModel):
    results: list[_Row]


class HttpReranker:
    """Reranks over the network; it satisfies `Reranker` and `Hasty` and is safe to share.

    Args:
        model: The name by which the server knows its model; a server of one model does not read it.
        base: Its URL up to `/rerank`, for example `http://localhost:8080`.
        **options: See `HttpRerankerOptions`.

    """

    def __init__(self, model: str, base: str, **options: Unpack[HttpRerankerOptions]) -> None:
        if unknown := set(options) - set(HttpRerankerOptions.__annotations__):
            raise InputError(f"{min(unknown)}: no such option", field=min(unknown))
        shape = choice(options.get("shape", "cohere"), "shape", SHAPES, InputError)
        self._shape = cast("Shape", shape)
        self._model = name(model, "model", InputError, 256)
        self._server = server_of(base, _WANT)
        self._key = key_for(self._server, options.get("key"), _WANT)
        self._seconds = number(options.get("seconds", 5), "seconds", 0.01, 1e5, InputError)
        most = options.get("batch_texts", _BATCH[self._shape])
        self._texts = integer(most, "batch_texts", 1, 100_000, InputError)
        named = canonical([self._model, str(self._server), self._shape])
        self._fingerprint = "rerank-http/1:" + digest("rerank-http", named).hex()[:16]

    @property
    def name(self) -> str:
        """What a person calls it."""
        return f"http:{self._model}@{self._server}"

    @property
    def fingerprint(self) -> str:
        """Names the model, the server and how it is asked; never the key."""
        return self._fingerprint

    def within(self, seconds: float) -> Self:
        """The same server, given up after so many seconds."""
        made = copy(self)
        made._seconds = min(self._seconds, seconds)
        return made

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score per text, in order; it raises `Unavailable`."""
        asked = [encodable(text) for text in texts]
        parts = [asked[at : at + self._texts] for at in range(0, len(asked), self._texts)]
        with Post(self._server, self._key, self._seconds, _TRIES) as post:
            return [score for part in parts for score in self._ask(post, encodable(query), part)]

    def _ask(self, post: Post, query: str, texts: list[str]) -> list[float]:
        content = post.send("/rerank", json.dumps(self._question(query, texts)).encode())
        try:
            rows = (
                parsed(content, list[_Row])
                if self._shape == "tei"
                else parsed(content, _Answer).results
            )
            return _in_order(rows, len(texts))
        except ValueError as wrong:
            raise Unavailable(
                f"{self._server}: the answer is not usable: {wrong}",
                hint=f"does {self._model!r} rerank there, and is {self._shape} its shape?",
            ) from None

    def _question(self, query: str, texts: list[str]) -> dict[str, object]:
        if self._shape == "tei":
            return {"query": query, "texts": texts, "truncate": True}
        return {"model": self._model, "query": query, "documents": texts, "top_n": len(texts)}


def _in_order(rows: Sequence[_Row], count: int) -> list[float]:
    """The scores in the order of the texts: servers answer best first and say which is which."""
    found = {row.index: row.score for row in rows}
    if len(rows) != len(found):
        raise ValueError("a text was scored twice")
    if missing := set(range(count)) - set(found):
        raise ValueError(f"{len(missing)} of {count} texts were not scored")
    if len(found) > count:
        raise ValueError(f"{len(found)} scores came back for {count} texts")
    return [found[at] for at in range(count)]
