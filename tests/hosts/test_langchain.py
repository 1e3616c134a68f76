"""LangChain's own suites for retrievers and vector stores, and what they do not ask."""

from __future__ import annotations

from collections.abc import Generator
from datetime import date
from typing import Any

import pytest
from tests.hosts.counts import host, run_page

host("langchain_tests")

from langchain_core.documents import Document  # noqa: E402
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings  # noqa: E402
from langchain_core.vectorstores import VectorStore  # noqa: E402
from langchain_tests.integration_tests import (  # noqa: E402
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)

import memoriter  # noqa: E402
from memoriter.integrations.langchain import MemoriterRetriever, MemoriterVectorStore  # noqa: E402


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


class _Sided(Embeddings):
    """Another model for queries than for documents."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] if text == "apple" else [0.0, 1.0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0, 0.0] if text == "Obst" else [0.0, 0.0]


def test_queries_go_through_the_embedding_of_queries() -> None:
    store = MemoriterVectorStore.from_texts(["train", "apple"], _Sided(), ids=["t", "a"])
    ((first, score),) = store.similarity_search_with_score("Obst", k=1)
    assert first.id == "a"
    assert score > 0


def test_documents_that_are_copies_are_found_each_with_its_score() -> None:
    memory = memoriter.open(":memory:")
    store = MemoriterVectorStore(memory)
    texts = ["The prod SSH port is 49222"] * 2 + ["the moon is far"]
    store.add_texts(texts, ids=["handbook", "wiki", "moon"])
    ranked = store.similarity_search_with_score("which port for prod ssh?", k=3)
    assert [(each.id, score > 0) for each, score in ranked[:2]] in (
        [("handbook", True), ("wiki", True)], [("wiki", True), ("handbook", True)],
    )  # fmt: skip
    assert len(MemoriterRetriever(memory=memory).invoke("which port for prod ssh?")) == 2
    chosen = MemoriterRetriever(memory=memory, options={"recipe": "memoriter"})
    assert len(chosen.invoke("which port for prod ssh?")) == 1


def test_other_memories_of_the_store_are_not_touched() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("a memory of somebody else about ssh")
    store = MemoriterVectorStore(memory)
    store.add_texts(["ssh"])
    assert len(store.similarity_search("ssh", k=9)) == 1
    store.delete()
    assert len(memory) == 1


def test_a_record_of_the_same_kind_that_is_not_ours_is_left_alone() -> None:
    memory = memoriter.open(":memory:")
    store = MemoriterVectorStore(memory)
    store.add_texts(["Ann drinks tea"], ids=["t"])
    for kind in ("document", "langchain-document"):
        memory.remember(f"tea, a {kind} of somebody else", kind=kind)
    memory.remember("tea", kind="langchain-document", metadata={"langchain": "yes"})
    assert [each.id for each in store.similarity_search("tea", k=9)] == ["t"]
    assert store.similarity_search("tea", filter={"a": 1}) == []
    assert [each.id for each in store.similarity_search("tea", k=1)] == ["t"]
    store.delete()
    assert len(memory) == 3


def test_a_document_is_written_although_another_writer_is_faster() -> None:
    faster = [0]

    def embed(texts: list[str]) -> list[list[float]]:  # runs between reading and writing
        if faster[0]:
            faster[0] -= 1
            store.add_texts(["theirs"], ids=["x"])
        return [[1.0, 0.0] for _ in texts]

    store = MemoriterVectorStore(memoriter.open(":memory:", embedder=embed))
    faster[0] = 3
    store.add_texts(["ours"], ids=["x"])
    assert faster == [0]
    assert [each.page_content for each in store.get_by_ids(["x"])] == ["ours"]


def test_a_document_without_text_is_kept_and_nothing_is_half_written() -> None:
    store = MemoriterVectorStore.from_texts(["tea", "port"], ids=["a", "b"])
    store.add_texts(["", " \n"], [{"n": 1}, {"n": 2}], ids=["b", " "])
    assert [(each.page_content, each.metadata) for each in store.get_by_ids(["b", " "])] == [
        ("", {"n": 1}), (" \n", {"n": 2}),
    ]  # fmt: skip
    scores = {each.id: score for each, score in store.similarity_search_with_score("b")}
    assert (scores["b"], scores[" "]) == (0.0, 0.0)
    store.add_texts(["words again"], ids=["b"])
    assert store.similarity_search("words", k=1)[0].page_content == "words again"
    with pytest.raises(memoriter.BadRecord, match="date"):
        store.add_texts(["changed", "x"], [{}, {"at": date(2024, 1, 1)}], ids=["a", "b"])
    assert [each.page_content for each in store.get_by_ids(["a"])] == ["tea"]


def test_deep_metadata_and_large_integers_come_back() -> None:
    store = MemoriterVectorStore(memoriter.open(":memory:"))
    given = {"id": 1208925819614629174, "deep": {"a": {"b": {"c": {"d": {"e": {"f": [1.5]}}}}}}}
    store.add_texts(["tea"], [given], ids=["t"])
    assert store.similarity_search("tea", filter={"id": given["id"]})[0].metadata == given


def test_searches_with_a_threshold_use_the_relevance() -> None:
    store = MemoriterVectorStore.from_texts(
        ["Prod SSH port is 49222", "Ann likes tea"], ids=["p", "t"]
    )
    ranked = store.similarity_search_with_relevance_scores("prod ssh port")
    both = {each.id: score for each, score in ranked}
    assert 1.0 >= both["p"] > 0.5 > both["t"] >= 0.0
    options = {
        "search_type": "similarity_score_threshold",
        "search_kwargs": {"score_threshold": 0.5},
    }
    kept = store.as_retriever(**options).invoke("prod ssh port")
    assert [each.id for each in kept] == ["p"]
    assert store.similarity_search("port", k=0) == []


def test_a_search_by_mmr_leaves_out_what_repeats_a_better_document() -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.1] if "ssh" in text.lower() else [0.1, 1.0] for text in texts]

    store = MemoriterVectorStore(memoriter.open(":memory:", embedder=embed))
    texts = ["SSH port of prod: 49222", "For SSH the port of prod is 49222", "port of the harbour"]
    store.add_texts(texts, [{"n": n} for n in range(3)], ids=["a", "b", "c"])
    query = "ssh port of prod"
    assert "c" not in {each.id for each in store.similarity_search(query, k=2)}
    picked = store.max_marginal_relevance_search(query, k=2, lambda_mult=0.3, explain=True)
    assert picked[0].id in ("a", "b")
    assert picked[1].id == "c"
    assert memoriter.verify(store.receipt(picked[0].metadata["memoriter"]["receipt"])).ok
    alike = store.max_marginal_relevance_search(query, k=2, lambda_mult=1.0)
    assert {each.id for each in alike} == {"a", "b"}
    near = store.max_marginal_relevance_search(query, k=2, fetch_k=2, lambda_mult=0.3)
    assert {each.id for each in near} == {"a", "b"}
    options = {"search_type": "mmr", "search_kwargs": {"k": 3, "filter": {"n": 2}}}
    assert [each.id for each in store.as_retriever(**options).invoke(query)] == ["c"]
    assert store.max_marginal_relevance_search(query, k=0) == []
    assert len(store.max_marginal_relevance_search(query, k=10**6)) == 3
    with pytest.raises(memoriter.InputError, match="trade"):
        store.max_marginal_relevance_search(query, lambda_mult=2.0)


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
