"""An embedder behind any server with `POST {base}/embeddings` (the OpenAI API).

The only embedder of this package that sends texts to another machine.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from typing import Final, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import InputError, Unavailable
from memoriter.core.names import integer, name, number, text
from memoriter.embed.answers import checked_vectors, place_vectors, prepare_texts
from memoriter.embed.port import Side
from memoriter.models.http_client import Post, ServerRole, check_options, key_for, parse_base_url
from memoriter.models.parse_json import parse_json

_ROLE: Final = ServerRole(
    "embedder", "MEMORITER_EMBED_KEY", {"api.openai.com": "OPENAI_API_KEY"}, "api.openai.com/v1"
)
_TRIES: Final[dict[Side, int]] = {"record": 4, "query": 2}
"""Attempts per request. Fewer for a query: without its vector the other lanes still answer."""


class HttpEmbedderOptions(TypedDict, total=False):
    """Further options of `HttpEmbedder`."""

    key: str | None
    """Sent as a bearer token. None: taken from the environment. Empty: no key is sent."""
    dimension: int | None
    """Length of the vectors; None: learned from the server's first answer."""
    query_prefix: str
    record_prefix: str
    window: int | None
    """Words per part of a long text; None: texts are not split."""
    record_seconds: float
    query_seconds: float
    batch_texts: int
    batch_bytes: int


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    embedding: list[float]
    index: int | None = None


class _Answer(BaseModel):
    data: list[_Row]


class HttpEmbedder:
    """Embeds with a server; satisfies `Embedder`. Thread-safe.

    Args:
        model: The server's name of the model.
        base: Its URL up to `/embeddings`, for example `http://localhost:11434/v1`.
        **options: See `HttpEmbedderOptions`.

    Raises InputError for an unknown option or an invalid value.

    """

    timely = True
    """It keeps a deadline itself, so `embed.call` needs no thread."""

    def __init__(self, model: str, base: str, **options: Unpack[HttpEmbedderOptions]) -> None:
        check_options(options, HttpEmbedderOptions, "an embedder on a server")
        self._model = name(model, "model", InputError, 256)
        self._server = parse_base_url(base, _ROLE)
        self._key = key_for(self._server, options.get("key"), _ROLE)
        self._prefixes: dict[Side, str] = {
            "record": text(options.get("record_prefix", ""), "record_prefix", InputError, 4096),
            "query": text(options.get("query_prefix", ""), "query_prefix", InputError, 4096),
        }
        self._seconds: dict[Side, float] = {
            "record": number(options.get("record_seconds", 30), "seconds", 0.01, 1e5, InputError),
            "query": number(options.get("query_seconds", 5), "seconds", 0.01, 1e5, InputError),
        }
        self._texts = integer(options.get("batch_texts", 100), "batch_texts", 1, 2048, InputError)
        self._bytes = integer(
            options.get("batch_bytes", 2**18), "batch_bytes", 1, 2**30, InputError
        )
        self.window = _size(options.get("window"), "window")
        self._lock = threading.Lock()
        self._dimension = _size(options.get("dimension"), "dimension")
        identity = canonical([self._model, str(self._server), self._prefixes])
        self._fingerprint = "http/1:" + digest("http", identity).hex()[:16]

    @property
    def name(self) -> str:
        """The display name: model and server."""
        return f"http:{self._model}@{self._server}"

    @property
    def fingerprint(self) -> str:
        """Identifies the model, the server and the prefixes; never the key."""
        return self._fingerprint

    @property
    def known_dimension(self) -> int | None:
        """Length of every vector; None until the server has answered once."""
        return self._dimension

    @property
    def dimension(self) -> int:
        """Length of every vector; sends a request if it is unknown, and may raise Unavailable."""
        if self._dimension is None:
            self.embed(["length"], "query")
        return self._dimension or 0

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text, in order, None for a blank one; raises Unavailable."""
        at, prepared = prepare_texts(texts, self._prefixes[side])
        if not prepared:
            return [None] * len(texts)
        # One `Post` for all batches: the deadline covers the whole call, not each request.
        with Post(self._server, self._key, self._seconds[side], _TRIES[side]) as post:
            tables = [self._request(post, batch) for batch in self._batches(prepared)]
        return place_vectors(np.concatenate(tables), at, len(texts))

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Texts in requests of limited count and bytes; one text may exceed the bytes alone."""
        batch: list[str] = []
        size = 0
        for each in texts:
            own = len(each.encode())
            if batch and (len(batch) == self._texts or size + own > self._bytes):
                yield batch
                batch, size = [], 0
            batch.append(each)
            size += own
        yield batch

    def _request(self, post: Post, texts: list[str]) -> NDArray[np.floating]:
        body = json.dumps({"model": self._model, "input": texts}).encode()
        content = post.send("/embeddings", body)
        try:
            rows = _in_order(parse_json(content, _Answer).data)
            table = checked_vectors(rows, len(texts), self._dimension)
        except ValueError as wrong:
            raise self._unusable(str(wrong)) from None
        self._learn(table.shape[1])
        return table

    def _learn(self, dimension: int) -> None:
        # Two threads may get the first answers at once; both must see the same dimension.
        with self._lock:
            if self._dimension not in {None, dimension}:
                raise self._unusable(
                    f"the vectors had {self._dimension} dimensions before and have {dimension} now"
                )
            self._dimension = dimension

    def _unusable(self, why: str) -> Unavailable:
        return Unavailable(
            f"{self._server}: the answer is not usable: {why}",
            hint=f"check that {self._model!r} is an embedding model on this server",
        )


def _size(value: int | None, field: str) -> int | None:
    return None if value is None else integer(value, field, 1, 65_536, InputError)


def _in_order(rows: Sequence[_Row]) -> list[list[float]]:
    """The vectors in the order of the texts; raises ValueError if one is empty or misplaced.

    Servers may return them in any order and give the index of each; some give no index at all.
    """
    if not all(any(row.embedding) for row in rows):
        raise ValueError("a vector of the reply is empty or all zeros")
    places = [row.index for row in rows]
    if all(place is None for place in places):
        return [row.embedding for row in rows]
    if sorted(-1 if place is None else place for place in places) != list(range(len(rows))):
        raise ValueError("the indexes of the vectors in the reply are not 0, 1, 2 and so on")
    return [row.embedding for row in sorted(rows, key=lambda row: row.index or 0)]
