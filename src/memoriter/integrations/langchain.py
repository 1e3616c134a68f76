"""LangChain: `MemoriterRetriever(memory=…)` and `MemoriterVectorStore(memory)`.

The retriever gives memories of any kind, with score, relevance and the handle of the receipt in the
metadata. The vector store keeps documents of its own as records; its searches rank by words and
meaning, as `recall` does. With `explain=True` their metadata has the same under `memoriter`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self, cast

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict, PrivateAttr

import memoriter
from memoriter.core.errors import NotFound
from memoriter.core.record import Record
from memoriter.integrations.answers import Answers, adapter_id, every_record
from memoriter.memory.facade import Memory
from memoriter.why.receipt import Receipt
from memoriter.why.result import Hit

KIND: Final = "document"
_OWN: Final = "langchain"
_K: Final = 4
_MOST: Final = 1000


class MemoriterRetriever(BaseRetriever):
    """Memories that answer a query, as documents; tenant and scope are those of the memory."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Memory
    k: int = _K
    """How many memories at most."""
    options: dict[str, Any] = {}  # noqa: RUF012  # pydantic copies it
    """Further options of `Memory.recall`, for example `{"recipe": "lexical"}`."""
    _answers: Answers = PrivateAttr(default_factory=Answers)

    def receipt(self, handle: str) -> Receipt:
        """The receipt of an answer whose documents have this handle."""
        return self._answers.receipt(handle)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        del run_manager
        answer = self.memory.recall(query, k or self.k, **self.options)
        handle = self._answers.handle(answer)
        return [
            Document(hit.record.text, id=hit.id, metadata=_explained(hit, handle)) for hit in answer
        ]


class MemoriterVectorStore(VectorStore):
    """Documents in a memory; tenant and scope are those of the memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._answers = Answers()

    def receipt(self, handle: str) -> Receipt:
        """The receipt of a search with `explain=True`."""
        return self._answers.receipt(handle)

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Write documents; one whose id is known becomes a new version."""
        del kwargs
        listed = list(texts)
        given = [each or str(uuid.uuid4()) for each in ids or [""] * len(listed)]
        news: dict[str, dict[str, Any]] = {}
        for text, meta, id in zip(listed, metadatas or [{}] * len(listed), given, strict=True):
            own = adapter_id(self._memory, KIND, id)
            fields = {"text": text, "metadata": {_OWN: {"id": id, "metadata": dict(meta)}}}
            if self._get(id) is None:
                news[own] = {**fields, "id": own, "kind": KIND}
            else:
                self._memory.update(own, **cast("Any", fields))
        self._memory.remember_many(cast("Any", list(news.values())))
        return given

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Forget documents, all of them without ids; unknown ids are no error."""
        del kwargs
        records = self._all() if ids is None else filter(None, map(self._get, ids))
        gone = [record.id for record in records]
        if gone:
            self._memory.forget(gone)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids; unknown ones are left out."""
        return [_document(record) for record in map(self._get, ids) if record is not None]

    def similarity_search(self, query: str, k: int = _K, **kwargs: Any) -> list[Document]:
        """The k documents that fit best."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(
        self, query: str, k: int = _K, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The k documents that fit best, with their scores; 0 for those that match in nothing.

        `filter` holds values that the metadata must have; `explain=True` adds the receipt.
        """
        wanted: Mapping[str, Any] = kwargs.get("filter") or {}
        answer = self._memory.recall(query, _MOST if wanted else k, where={"kind": KIND})
        handle = self._answers.handle(answer) if kwargs.get("explain") else None
        ranked = {hit.id: (_document(hit.record), hit.score) for hit in answer}
        if handle is not None:
            for hit in answer:
                ranked[hit.id][0].metadata["memoriter"] = _explained(hit, handle)
        if wanted or len(ranked) < k:
            for record in self._all():
                ranked.setdefault(record.id, (_document(record), 0.0))
        passing = [
            pair
            for pair in ranked.values()
            if all(pair[0].metadata.get(key) == value for key, value in wanted.items())
        ]
        return passing[:k]

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
            options: dict[str, Any] = {}
            if embedding is not None:
                options["embedder"] = embedding.embed_documents
            memory = memoriter.open(":memory:", **options)
        made = cls(memory)
        made.add_texts(texts, metadatas, ids=ids)
        return made

    def _get(self, id: str) -> Record | None:
        try:
            return self._memory.get(adapter_id(self._memory, KIND, id))
        except NotFound:
            return None

    def _all(self) -> Iterator[Record]:
        return every_record(self._memory, where={"kind": KIND})


def _document(record: Record) -> Document:
    own = cast("dict[str, Any]", record.metadata[_OWN])
    return Document(record.text, id=own["id"], metadata=dict(own["metadata"]))


def _explained(hit: Hit, handle: str) -> dict[str, Any]:
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
