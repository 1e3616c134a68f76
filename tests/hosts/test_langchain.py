"""LangChain's own suites for retrievers and vector stores, and what they do not ask."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from tests.hosts.counts import host, run_page

host("langchain_tests")

from langchain_core.documents import Document  # noqa: E402
from langchain_core.embeddings import DeterministicFakeEmbedding  # noqa: E402
from langchain_core.vectorstores import VectorStore  # noqa: E402
from langchain_tests.integration_tests import (  # noqa: E402
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)

import memoriter  # noqa: E402
from memoriter.integrations.langchain import MemoriterRetriever  # noqa: E402
from memoriter.integrations.langchain_store import MemoriterVectorStore  # noqa: E402


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Generator[VectorStore, None, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        with memoriter.open(":memory:") as memory:
            yield MemoriterVectorStore(memory)


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[MemoriterRetriever]:
        return MemoriterRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        memory = memoriter.open(":memory:")
        memory.remember_many([f"Note {n} about the ssh port of server {n}" for n in range(12)])
        return {"memory": memory}

    @property
    def retriever_query_example(self) -> str:
        return "which port for ssh?"


def test_a_document_of_the_retriever_leads_to_its_receipt() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("Prod SSH port is 49222", id="port", tags=["ops"])
    retriever = MemoriterRetriever(memory=memory, k=3)
    document = retriever.invoke("which port for ssh?")[0]
    assert (document.id, document.metadata["strength"]) == ("port", "strong")
    assert memoriter.verify(retriever.receipt(document.metadata["receipt"])).ok


def test_documents_are_filtered_and_explained() -> None:
    store = MemoriterVectorStore(memoriter.open(":memory:"))
    store.add_documents([
        Document("Prod SSH port is 49222", id="a", metadata={"env": "prod"}),
        Document("Staging SSH port is 22", id="b", metadata={"env": "staging"}),
    ])  # fmt: skip
    (found_one,) = store.similarity_search("ssh port", k=5, filter={"env": "staging"}, explain=True)
    assert found_one.id == "b"
    assert memoriter.verify(store.receipt(found_one.metadata["memoriter"]["receipt"])).ok
    assert store.get_by_ids(["a", "nope"])[0].metadata == {"env": "prod"}
    store.delete()
    assert store.similarity_search("ssh") == []


def test_a_query_without_words_matches_nothing() -> None:
    store = MemoriterVectorStore.from_texts(["tea"], ids=["t"])
    assert [score for _, score in store.similarity_search_with_score("🙂")] == [0.0]
    assert MemoriterRetriever(memory=memoriter.open(":memory:")).invoke("") == []


def test_a_store_of_texts_may_bring_its_own_embedding() -> None:
    store = MemoriterVectorStore.from_texts(
        ["tea for Ann", "port 49222"], DeterministicFakeEmbedding(size=8), ids=["t", "p"]
    )
    assert store.similarity_search("port", k=1)[0].id == "p"


def test_other_memories_of_the_store_are_not_touched() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("a memory of somebody else about ssh")
    store = MemoriterVectorStore(memory)
    store.add_texts(["ssh"])
    assert len(store.similarity_search("ssh", k=9)) == 1
    store.delete()
    assert len(memory) == 1


def test_a_lone_surrogate_is_refused_with_a_hint_and_nothing_is_written() -> None:
    store = MemoriterVectorStore.from_texts(["tea"], ids=["t"])
    bad = "\ud800"
    calls = [
        lambda: store.add_texts(["coffee", "x"], ids=["t", bad]),
        lambda: store.add_texts(["coffee", "x"], [{}, {"k": bad}], ids=["t", "u"]),
        lambda: store.get_by_ids([bad]),
        lambda: store.delete([bad]),
    ]
    for call in calls:
        with pytest.raises(memoriter.InputError, match="lone surrogate") as refused:
            call()
        assert refused.value.hint
    assert [each.page_content for each in store.get_by_ids(["t", "u"])] == ["tea"]


def test_the_examples_of_the_page_run() -> None:
    run_page("langchain")
