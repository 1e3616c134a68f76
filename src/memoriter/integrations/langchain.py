"""LangChain: `MemoriterRetriever(memory=…)` and `MemoriterVectorStore(memory)`.

The retriever gives memories of any kind as documents; score, relevance and the handle of the
receipt are in the metadata of each. The vector store keeps documents of its own as records. Its
searches rank by words and meaning, as `recall` does; with `explain=True` the metadata of a document
has score, relevance and the handle of the receipt under `memoriter`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Self, cast

import numpy as np
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from numpy.typing import NDArray
from pydantic import ConfigDict, PrivateAttr

import memoriter
from memoriter.core.query import LIMIT_LIMIT
from memoriter.core.record import Record
from memoriter.doors.tenant_session import Receipts
from memoriter.embed.callable import FunctionEmbedder
from memoriter.embed.port import Side
from memoriter.integrations.answers import (
    Adapter,
    adapter_id,
    checked_filter,
    every_record,
    only,
    recalled,
)
from memoriter.integrations.values import is_value, kept_value, read_value
from memoriter.memory.facade import Memory
from memoriter.why.hit import Hit
from memoriter.why.receipt import Receipt

KIND: Final = "langchain-document"
_OWN: Final = "langchain"
_MOST: Final = 10_000
"""How many documents an MMR search picks from at most."""


class MemoriterRetriever(BaseRetriever):
    """Memories that answer a query, as documents; tenant and scope are those of the memory."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Memory
    k: int = 4
    """How many memories at most."""
    options: dict[str, Any] = {}  # noqa: RUF012  # pydantic copies it
    """Further options of `Memory.recall`, for example `{"recipe": "lexical"}`."""
    _receipts: Receipts = PrivateAttr(default_factory=Receipts)

    def receipt(self, handle: str) -> Receipt:
        """The receipt of an answer whose documents have this handle."""
        return self._receipts.find(handle)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        answer = recalled(self.memory, query, self.k if k is None else k, **self.options)
        if answer is None:
            return []
        handle = self._receipts.keep(answer)
        return [
            Document(hit.record.text, id=hit.id, metadata=_hit_metadata(hit, handle))
            for hit in answer
        ]


class MemoriterVectorStore(Adapter, VectorStore):
    """Documents in a memory; tenant and scope are those of the memory."""

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Write documents, none if one is refused; one whose id is known becomes a new version.

        Of more than a thousand, each thousand is written at once.
        """
        del kwargs
        listed = list(texts)
        for name, row in (("ids", ids), ("metadatas", metadatas)):
            if row and len(row) != len(listed):
                raise ValueError(f"{name}: has {len(row)} entries for {len(listed)} texts")
        given = [each or str(uuid.uuid4()) for each in ids or [""] * len(listed)]
        rows = zip(listed, metadatas or [{}] * len(listed), given, strict=True)
        self._put(
            {adapter_id(self._memory, KIND, id): _fields(text, id, meta) for text, meta, id in rows}
        )
        return given

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Forget documents, all of them without ids; unknown ids are no error."""
        del kwargs
        self._forget(record.id for record in (self._all() if ids is None else self._some(ids)))
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids; unknown ones are left out."""
        return [_document(record) for record in self._some(ids)]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The k documents that fit best."""
        return [each.document for each in self._search(query, k, kwargs)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The k documents that fit best, with their scores; 0 for those that match in nothing.

        `filter` holds values that the metadata must have; `explain=True` adds the receipt.
        """
        return [(each.document, each.score) for each in self._search(query, k, kwargs)]

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        return [(each.document, each.relevance) for each in self._search(query, k, kwargs)]

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """The k documents of the best fetch_k that fit well and are unlike those before them.

        A lambda_mult of 1 counts the fit alone, of 0 the difference alone.
        """
        head = min(max(fetch_k, k, 1), _MOST)
        order = {"kind": "mmr", "trade": lambda_mult, "head": head, "drop": True}
        return [each.document for each in self._search(query, k, kwargs, {"order": [order]})]

    def _search(
        self,
        query: str,
        k: int,
        options: Mapping[str, Any],
        overrides: Mapping[str, object] | None = None,
    ) -> list[_RankedDocument]:
        """The k documents that fit best, then others; none for a k below 1."""
        wanted = checked_filter(options.get("filter"))
        if k < 1:
            return []
        passing = [each for each in self._all() if _passes(wanted, each)] if wanted else None
        where = {"kind": KIND} if passing is None else only(passing)
        answer = self._recalled(query, min(k, LIMIT_LIMIT), where, _is_own, overrides=overrides)
        ranked = {
            hit.id: _RankedDocument(_document(hit.record), hit.score, hit.relevance or 0.0)
            for hit in answer or ()
        }
        if answer is not None and options.get("explain"):
            handle = self._receipts.keep(answer)
            for hit in answer:
                ranked[hit.id].document.metadata["memoriter"] = _hit_metadata(hit, handle)
        if len(ranked) < k:
            for record in self._all() if passing is None else passing:
                ranked.setdefault(record.id, _RankedDocument(_document(record), 0.0, 0.0))
        return list(ranked.values())[:k]

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """A store with these documents, in `memory=…` or in a new one with this embedding."""
        memory = kwargs.get("memory")
        if memory is None:
            options = {} if embedding is None else {"embedder": _BothSides(embedding)}
            memory = memoriter.open(":memory:", **options)
        made = cls(memory)
        made.add_texts(texts, metadatas, ids=ids)
        return made

    def _some(self, ids: Iterable[str]) -> Iterator[Record]:
        return filter(None, (self._get(adapter_id(self._memory, KIND, id)) for id in ids))

    def _all(self) -> Iterator[Record]:
        return filter(_is_own, every_record(self._memory, where={"kind": KIND}))


class _BothSides(FunctionEmbedder):
    """An embedding of LangChain: documents and queries go through a method of their own."""

    def __init__(self, embedding: Embeddings) -> None:
        super().__init__(embedding.embed_documents)

        def queries(texts: list[str]) -> list[list[float]]:
            return [embedding.embed_query(text) for text in texts]

        self._queries = FunctionEmbedder(queries, self.name, self.dimension)

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        if side == "query":
            return self._queries.embed(texts, side)
        return super().embed(texts, side)


class _RankedDocument(NamedTuple):
    """A document that a search found."""

    document: Document
    score: float
    relevance: float


def _fields(text: str, id: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a document; one without words is known by its id and kept out of recalls."""
    own = {"id": id, **kept_value(dict(metadata))}
    if text.strip():
        return {"text": text, "kind": KIND, "archived": False, "metadata": {_OWN: own}}
    blank = {**own, "text": text}
    return {"text": id.strip() or KIND, "kind": KIND, "archived": True, "metadata": {_OWN: blank}}


def _is_own(record: Record) -> bool:
    """Whether a record of our kind is a document of this adapter, and nobody else's."""
    own = record.metadata.get(_OWN)
    return isinstance(own, dict) and isinstance(own.get("id"), str) and is_value(own)


def _passes(wanted: Mapping[str, Any], record: Record) -> bool:
    metadata = _document(record).metadata
    return all(metadata.get(key) == value for key, value in wanted.items())


def _document(record: Record) -> Document:
    own = cast("dict[str, Any]", record.metadata[_OWN])
    return Document(own.get("text", record.text), id=own["id"], metadata=dict(read_value(own)))


def _hit_metadata(hit: Hit, handle: str) -> dict[str, Any]:
    """What is known about a hit; `receipt` leads to the whole arithmetic."""
    record = hit.record
    return {
        "id": hit.id,
        "kind": record.kind,
        "created": record.created.isoformat(),
        "trust": record.trust,
        "tags": list(record.tags),
        "score": hit.score,
        "relevance": hit.relevance,
        "strength": hit.strength,
        "receipt": handle,
    }
