"""A LangChain vector store: `MemoriterVectorStore(memory)` keeps documents of its own as records.

Searches rank by words and meaning, as `recall` does. With `explain=True` the metadata of a document
has score, relevance and the handle of the receipt under `memoriter`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self, cast

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

import memoriter
from memoriter.core.record import Record
from memoriter.integrations.answers import (
    Adapter,
    adapter_id,
    checked_filter,
    every_record,
    only,
    recalled,
)
from memoriter.integrations.langchain import hit_metadata

KIND: Final = "document"
_OWN: Final = "langchain"


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
        """Write documents; one whose id is known becomes a new version."""
        del kwargs
        listed = list(texts)
        for name, row in (("ids", ids), ("metadatas", metadatas)):
            if row and len(row) != len(listed):
                raise ValueError(f"{name}: has {len(row)} entries for {len(listed)} texts")
        given = [each or str(uuid.uuid4()) for each in ids or [""] * len(listed)]
        # Ids and new documents first: one that is not valid must not leave half of them written.
        owns = [adapter_id(self._memory, KIND, id) for id in given]
        news: dict[str, dict[str, Any]] = {}
        changed: list[tuple[str, dict[str, Any]]] = []
        rows = zip(listed, metadatas or [{}] * len(listed), given, owns, strict=True)
        for text, meta, id, own in rows:
            fields = {"text": text, "metadata": {_OWN: {"id": id, "metadata": dict(meta)}}}
            if self._get(own) is None:
                news[own] = {**fields, "id": own, "kind": KIND}
            else:
                changed.append((own, fields))
        self._memory.remember_many(cast("Any", list(news.values())))
        for own, fields in changed:
            self._memory.update(own, **cast("Any", fields))
        return given

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Forget documents, all of them without ids; unknown ids are no error."""
        del kwargs
        self._forget([record.id for record in (self._all() if ids is None else self._some(ids))])
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """The documents with these ids; unknown ones are left out."""
        return [_document(record) for record in self._some(ids)]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The k documents that fit best."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The k documents that fit best, with their scores; 0 for those that match in nothing.

        `filter` holds values that the metadata must have; `explain=True` adds the receipt.
        """
        wanted = checked_filter(kwargs.get("filter"))
        passing = [each for each in self._all() if _passes(wanted, each)] if wanted else None
        where = {"kind": KIND} if passing is None else only(passing)
        answer = recalled(self._memory, query, k, where=where)
        ranked = {hit.id: (_document(hit.record), hit.score) for hit in answer or ()}
        if answer is not None and kwargs.get("explain"):
            handle = self._receipts.keep(answer)
            for hit in answer:
                ranked[hit.id][0].metadata["memoriter"] = hit_metadata(hit, handle)
        if len(ranked) < k:
            for record in self._all() if passing is None else passing:
                ranked.setdefault(record.id, (_document(record), 0.0))
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
            options = {} if embedding is None else {"embedder": embedding.embed_documents}
            memory = memoriter.open(":memory:", **options)
        made = cls(memory)
        made.add_texts(texts, metadatas, ids=ids)
        return made

    def _some(self, ids: Iterable[str]) -> Iterator[Record]:
        return filter(None, (self._get(adapter_id(self._memory, KIND, id)) for id in ids))

    def _all(self) -> Iterator[Record]:
        return every_record(self._memory, where={"kind": KIND})


def _passes(wanted: Mapping[str, Any], record: Record) -> bool:
    metadata = _document(record).metadata
    return all(metadata.get(key) == value for key, value in wanted.items())


def _document(record: Record) -> Document:
    own = cast("dict[str, Any]", record.metadata[_OWN])
    return Document(record.text, id=own["id"], metadata=dict(own["metadata"]))
