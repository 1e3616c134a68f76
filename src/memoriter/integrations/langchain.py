"""A LangChain retriever: `MemoriterRetriever(memory=…)` gives memories of any kind as documents.

Score, relevance and the handle of the receipt are in the metadata of each.
"""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, PrivateAttr

from memoriter.doors.tenant_session import Receipts
from memoriter.integrations.answers import recalled
from memoriter.memory.facade import Memory
from memoriter.why.receipt import Receipt
from memoriter.why.result import Hit


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
            Document(hit.record.text, id=hit.id, metadata=hit_metadata(hit, handle))
            for hit in answer
        ]


def hit_metadata(hit: Hit, handle: str) -> dict[str, Any]:
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
