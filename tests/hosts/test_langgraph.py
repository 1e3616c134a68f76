"""The LangGraph store beside langgraph's own `InMemoryStore`."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from tests.hosts.counts import count, host, run_page

host("langgraph")

from langgraph.store.base import (  # noqa: E402  # after the check that it is there
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)  # fmt: skip
from langgraph.store.memory import InMemoryStore  # noqa: E402

import memoriter  # noqa: E402
from memoriter.integrations.langgraph import MemoriterStore  # noqa: E402

WORDS = ["port", "ssh", "tea", "Ann", "Tom", "deploy", "friday", "cache", "dawn", "café"]
SPACES = [("a",), ("a", "b"), ("a", "b", "c"), ("a", "d"), ("e",), ("e", "b")]
KEYS = ["k1", "k2", "k3", "k 4"]


def value(rng: random.Random) -> dict[str, Any]:
    out: dict[str, Any] = {"text": " ".join(rng.choices(WORDS, k=rng.randint(1, 5)))}
    if rng.random() < 0.6:
        out["n"] = rng.randint(0, 4)
    if rng.random() < 0.3:
        out["deep"] = {"tag": rng.choice(WORDS), "list": [1, 2.5, None, True]}
    return out


def filters(rng: random.Random) -> dict[str, Any] | None:
    return rng.choice([
        None, None, {"n": rng.randint(0, 4)}, {"deep": {"tag": rng.choice(WORDS)}},
        {"n": {"$ne": 2}}, {"text": {"$eq": "tea"}}, {"missing": None},
    ])  # fmt: skip


class Both:
    """Our store and theirs, given the same operations; the order of items as they were written."""

    def __init__(self) -> None:
        self.ours = MemoriterStore(memoriter.open(":memory:"))
        self.theirs = InMemoryStore()
        self.written: dict[tuple[tuple[str, ...], str], None] = {}

    def step(self, rng: random.Random) -> None:
        kind = rng.random()
        space, key = rng.choice(SPACES), rng.choice(KEYS)
        if kind < 0.35:
            given = value(rng)
            for store in (self.ours, self.theirs):
                store.put(space, key, given)
            self.written.setdefault((space, key))
        elif kind < 0.5:
            for store in (self.ours, self.theirs):
                store.delete(space, key)
            self.written.pop((space, key), None)
        elif kind < 0.7:
            assert plain(self.ours.get(space, key)) == plain(self.theirs.get(space, key))
        elif kind < 0.9:
            self.search(rng)
        else:
            self.namespaces(rng)

    def search(self, rng: random.Random) -> None:
        prefix = rng.choice([(), *SPACES])
        options: dict[str, Any] = {"filter": filters(rng)}
        limit, offset = rng.choice([1, 3, 10]), rng.choice([0, 0, 2])
        got = self.ours.search(prefix, limit=limit, offset=offset, **options)
        every = self.theirs.search(prefix, limit=1000, **options)
        # Documented: without a query, items come in the order of their first write.
        order = list(self.written)
        every.sort(key=lambda item: order.index((item.namespace, item.key)))
        assert [plain(each) for each in got] == [plain(e) for e in every[offset : offset + limit]]

    def namespaces(self, rng: random.Random) -> None:
        options: dict[str, Any] = rng.choice([
            {}, {"prefix": ("a",)}, {"suffix": ("b",)}, {"prefix": ("*", "b")}, {"max_depth": 1},
            {"max_depth": 2, "limit": 2}, {"offset": 1},
        ])  # fmt: skip
        got = self.ours.list_namespaces(**options)
        page = slice(options.get("offset", 0), options.get("offset", 0) + options.get("limit", 100))
        rest = {k: v for k, v in options.items() if k not in ("offset", "limit", "max_depth")}
        # Documented: a namespace without items is not listed; theirs lists it for ever.
        filled = {space for space, _ in self.written}
        known = [each for each in self.theirs.list_namespaces(limit=1000, **rest) if each in filled]
        assert got == sorted({each[: options.get("max_depth")] for each in known})[page]


def plain(item: Any) -> tuple[Any, ...] | None:
    return None if item is None else (item.namespace, item.key, item.value)


def test_the_store_answers_as_the_one_in_memory_does() -> None:
    both, rng = Both(), random.Random(23)
    for _ in range(count(10_000)):
        both.step(rng)


def test_a_batch_reads_before_it_writes_and_keeps_the_last_write() -> None:
    for store in (MemoriterStore(memoriter.open(":memory:")), InMemoryStore()):
        ops = [
            PutOp(("a",), "k", {"n": 1}), GetOp(("a",), "k"), PutOp(("a",), "k", {"n": 2}),
            SearchOp(("a",)), ListNamespacesOp((MatchCondition("prefix", ("x",)),)),
        ]  # fmt: skip
        assert store.batch(ops) == [None, None, None, [], []]
        item = store.get(("a",), "k")
        assert item is not None
        assert item.value == {"n": 2}
        assert asyncio.run(store.aget(("a",), "k")) is not None


def test_a_query_ranks_and_the_receipt_explains() -> None:
    store = MemoriterStore(memoriter.open(":memory:"))
    store.put(("u1",), "port", {"text": "The prod SSH port is 49222"})
    store.put(("u1",), "tea", {"text": "Ann drinks green tea"})
    store.put(("u1",), "hidden", {"text": "ssh port of nobody"}, index=False)
    store.put(("u2",), "other", {"text": "ssh port of another user is 22"})
    items = store.search(("u1",), query="which port for ssh?")
    assert items[0].key == "port"
    assert {item.key for item in items} == {"port", "tea", "hidden"}
    assert (items[0].score or 0) > 0
    assert items[-1].score is None
    assert memoriter.verify(store.receipt(items[0].receipt)).ok


def test_items_that_are_copies_are_ranked_each() -> None:
    store = MemoriterStore(memoriter.open(":memory:"))
    for user in ("ann", "bob"):
        store.put(("users", user), "port", {"text": "The prod SSH port is 49222"})
    items = store.search(("users",), query="which prod ssh port?")
    assert [each.score is not None for each in items] == [True, True]


def test_an_item_keeps_its_versions() -> None:
    memory = memoriter.open(":memory:")
    store = MemoriterStore(memory)
    store.put(("a",), "k", {"text": "one"})
    store.put(("a",), "k", {"text": "two"})
    (record,) = memory.browse().records
    assert [each.text for each in memory.history(record.id)] == ["one", "two"]
    store.delete(("a",), "k")
    assert len(memory) == 0


def test_two_scopes_of_one_tenant_do_not_meet() -> None:
    memory = memoriter.open(":memory:")
    ann, tom = (MemoriterStore(memory.scoped(user=name)) for name in ("ann", "tom"))
    ann.put(("a",), "k", {"text": "of Ann"})
    tom.put(("a",), "k", {"text": "of Tom"})
    assert (ann.get(("a",), "k").value, len(tom.search(("a",)))) == ({"text": "of Ann"}, 1)


def test_a_query_without_words_ranks_nothing() -> None:
    store = MemoriterStore(memoriter.open(":memory:"))
    store.put(("a",), "k", {"text": "tea"})
    assert [(each.key, each.score) for each in store.search(("a",), query="🙂")] == [("k", None)]


def test_what_the_framework_refuses_is_refused() -> None:
    store = MemoriterStore(memoriter.open(":memory:"))
    with pytest.raises(InvalidNamespaceError):
        store.put((), "k", {"a": 1})
    with pytest.raises(NotImplementedError):
        store.put(("a",), "k", {"a": 1}, ttl=5)


def test_a_record_of_the_same_kind_that_is_not_ours_is_left_alone() -> None:
    memory = memoriter.open(":memory:")
    store = MemoriterStore(memory)
    store.put(("a",), "k", {"text": "tea"})
    memory.remember("tea of somebody else", kind="langgraph-item")
    memory.remember("more tea", kind="langgraph-item", metadata={"langgraph": {"at": []}})
    assert [each.key for each in store.search(())] == ["k"]
    assert [each.key for each in store.search((), query="tea", limit=1)] == ["k"]
    assert store.list_namespaces() == [("a",)]


def test_an_item_is_written_although_another_writer_is_faster() -> None:
    faster: list[str] = []

    def embed(texts: list[str]) -> list[list[float]]:  # runs between reading and writing
        if faster:
            if faster.pop() == "delete":
                store.delete(("a",), "k")
            else:
                store.put(("a",), "k", {"x": "theirs"})
        return [[1.0, 0.0] for _ in texts]

    store = MemoriterStore(memoriter.open(":memory:", embedder=embed))
    faster += ["put", "delete", "put", "put", "put", "put", "put"]
    store.put(("a",), "k", {"x": "ours"})
    assert not faster
    assert plain(store.get(("a",), "k")) == (("a",), "k", {"x": "ours"})


def test_writers_of_one_key_in_many_threads_all_succeed() -> None:
    store = MemoriterStore(memoriter.open(":memory:"))

    async def race() -> None:
        puts = [store.aput(("a",), "k", {"n": n}) for n in range(20)]
        await asyncio.gather(*puts, *(store.adelete(("a",), "k") for _ in range(10)))

    asyncio.run(race())
    assert len(store.search(("a",))) <= 1


def test_a_batch_of_which_one_value_is_refused_writes_nothing() -> None:
    store = MemoriterStore(memoriter.open(":memory:"))
    store.put(("a",), "k", {"n": 1})
    ops = [
        PutOp(("a",), "k", {"n": 2}),
        PutOp(("a",), "new", {"n": 3}),
        PutOp(("a",), "x", {"n": {1}}),
    ]
    with pytest.raises(memoriter.BadRecord, match="type set"):
        store.batch(ops)
    assert [each.value for each in store.search(("a",))] == [{"n": 1}]


def deep(levels: int, leaf: object) -> dict[str, Any]:
    value: Any = leaf
    for _ in range(levels):
        value = {"in": value}
    return value


def test_deep_values_and_large_integers_come_back() -> None:
    store = MemoriterStore(memoriter.open(":memory:"))
    values: list[dict[str, Any]] = [
        deep(6, "leaf"), deep(7, [1, None, "é"]), deep(90, -0.5), {"id": 1208925819614629174},
        {"id": [-(2**53) - 1, 2**80, 2**53]},
    ]  # fmt: skip
    for n, given in enumerate(values):
        store.put(("a",), str(n), given)
        assert store.get(("a",), str(n)).value == given
    assert store.search(("a",), filter={"id": 1208925819614629174})[0].key == "3"
    refused: list[Any] = [
        deep(3000, 1), {"id": 2**60, "at": float("nan")}, {"id": 2**60, "at": {1: 2}},
        {"id": 2**60, "at": {3}},
    ]  # fmt: skip
    for given in refused:
        with pytest.raises(memoriter.BadRecord) as caught:
            store.put(("a",), "0", given)
        assert caught.value.hint
    assert store.get(("a",), "0").value == values[0]


def test_a_lone_surrogate_is_refused_with_a_hint_and_nothing_is_written() -> None:
    store = MemoriterStore(memoriter.open(":memory:"))
    bad = "\ud800"
    calls = [
        lambda: store.put(("a",), bad, {"n": 1}),
        lambda: store.put((bad,), "k", {"n": 1}),
        lambda: store.get(("a",), bad),
        lambda: store.delete((bad,), "k"),
        lambda: store.search(("a", bad)),
        lambda: store.batch([PutOp(("a",), "k", {"n": 1}), PutOp(("a",), bad, {"n": 2})]),
    ]
    for call in calls:
        with pytest.raises(memoriter.InputError, match="lone surrogate") as refused:
            call()
        assert refused.value.hint
    assert store.search(("a",)) == []


def test_the_examples_of_the_page_run() -> None:
    run_page("langgraph")
