"""What people call a thing elsewhere: every guess is answered with the word that we have."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

import memoriter
from memoriter import InputError

opened: Any = partial(memoriter.open, ":memory:")


@pytest.fixture
def memory() -> Any:
    with memoriter.open(":memory:") as held:
        held.remember("Prod SSH port is 49222", id="port", tags=["ops"])
        held.remember("The standup is at 9:30", id="standup", tags=["team"])
        yield held


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda m: m.recall("port", top_k=3), "limit"),
        (lambda m: m.recall("port", tenant="acme"), "memoriter.open(…, tenant=…)"),
        (lambda m: m.recall("port", reranker=len), "memoriter.open(…, reranker=…)"),
        (lambda m: m.recall("port", kind="note"), 'where={"kind": "note"}'),
        (lambda m: m.recall("port", since="2d"), 'where={"created": {"gte": "2d"}}'),
        (lambda m: m.remember("x", tenant="acme"), "memoriter.open(…, tenant=…)"),
        (lambda m: m.remember("x", created_at="2026-01-01"), "created"),
        (lambda m: m.forget(tags=["ops"]), 'where={"tags": ["ops"]}'),
        (lambda m: m.link("port", "standup", type="about"), "kind"),
        (lambda m: m.why_not("port", "standup", tags=["ops"]), "why_not(memory.recall(…), …)"),
        (lambda m: m.reflect("why?"), "reflect(dry_run=…)"),
        (lambda m: m.update("port", "new text"), "update(id, text=…)"),
        (lambda m: m.link("port", "standup", "about", 0.5), "link(source, target, kind, weight=…)"),
        (lambda m: m.recall("port").context(100), "context(budget_tokens=…)"),
        (lambda m: m.recall("port").context(max_tokens=100), "budget_tokens"),
        (lambda m: m.recall("port", include=["documents"]), "every hit has its whole record"),
        (lambda m: m.recall(query_texts=["port"]), "it is called query here"),
        (lambda m: m.recall("port", hybrid=True), 'mode="hybrid"'),
        (lambda m: m.remember("x", color="red"), 'metadata={"color": "red"}'),
        (lambda _: opened(persist_directory="x"), "it is called place here"),
        (lambda _: opened(dim=3), 'embedder="given:384"'),
        (lambda m: m.recall("port", metadata={"a": 1}), 'where={"metadata": {"a": 1}}'),
        (lambda m: m.recall("port", explain=True), "result[0].explanation"),
        (lambda m: m.browse(page=2), "cursor"),
        (lambda m: m.get("port", as_of="2h"), "known_at"),
        (lambda _: opened(user="u"), "memory.scoped(user=…"),
        (lambda m: m.agents.upsert("a", "b"), "upsert(agent, "),
        (lambda m: m.recall(text="port"), "it is called query here"),
        (lambda m: m.recall(content="port"), "it is called query here"),
        (lambda m: m.recall(), "call it as recall(query)"),
        (lambda m: m.link("port"), "call it as link(source, target)"),
        (lambda m: m.why_not("port", "standup"), "why_not(memory.recall('port'), 'standup')"),
        (lambda m: m.why_not("standup", m.recall("port")), "why_not(result, id)"),
        (lambda m: m.replay("port"), "replay(memory.recall('port'))"),
        (lambda m: m.get(m.recall("port")[0]), "pass its id: .id"),
        (lambda m: m.forget(m.recall("port")[0]), "hit.id"),
        (lambda m: m.remember(["a", "b"]), "remember_many"),
        (lambda m: m.remember({"text": "a"}), "remember_many"),
        (lambda m: m.recall("port", as_of="last year"), 'did you mean "1y"?'),
        (lambda m: m.remember("x", expires="tomorrow"), 'did you mean "+1d"?'),
        (lambda m: m.recall("port", recipe="bm25"), "did you mean lexical?"),
        (lambda m: m.recall("port", lanes=["words"]), 'mode="bm25"'),
        (lambda m: m.recall("port", overrides={"words.k1": 1}), '{"lanes.words.k1": 1}'),
        (lambda _: opened(in_memory=True), 'memoriter.open(":memory:")'),
        (lambda m: m.forget(), "forget(where="),
        (list, "memory.browse()"),
        (lambda m: m["port"], "get('port') reads the memory with this id"),
        (lambda m: m[0], "get(id) reads one memory"),
        (lambda m: "port" in m, "get raises NotFound"),
    ],
)
def test_an_option_of_another_library_is_answered_with_ours(
    memory: Any, call: Callable[[Any], object], right: str
) -> None:
    with pytest.raises(InputError) as caught:
        call(memory)
    assert right in str(caught.value)


@pytest.mark.parametrize(
    ("look", "right"),
    [
        (lambda m: m.recall("port")[0].content, "use text"),
        (lambda m: m.recall("port")[0].page_content, "use text"),
        (lambda m: m.recall("port").text, "hits[0].text"),
        (lambda m: m.recall("port").ids, "[hit.id for hit in result]"),
        (lambda m: m.recall("port").texts, "[hit.text for hit in result]"),
        (lambda m: m.recall("port").documents, "[hit.text for hit in result]"),
        (lambda m: m.query, "recall(query)"),
        (lambda m: m.add_many, "remember_many([…])"),
        (lambda m: m.search_by_vector, "recall(query, vector=[…])"),
        (lambda m: m.similarity_search_with_score, "recall(query)"),
        (lambda m: m.latest, "browse()"),
        (lambda m: m.exists, "get(id)"),
        (lambda m: m.agents.add, "upsert(agent)"),
        (lambda m: m.embedding.model, "status()"),
        (lambda m: m.users, 'status(by="user")'),
        (lambda m: m.recall("port")[0].metadata, "hit.record.metadata"),
        (lambda m: m.recall("port")[0].importance, "hit.record.importance"),
        (lambda m: m.recall("port")[0].expires_at, "hit.record.expires"),
        (lambda m: m.recall("port").why_not, "memory.why_not(result, id)"),
        (lambda m: m.recall("port").save, "receipt.save(path)"),
        (lambda m: m.recall("port").top, "hits[0]"),
        (lambda m: m.status().count, "records"),
        (lambda m: m.recall("port")[0].explain, "explanation"),
        (lambda m: m.recall("port").results, "hits"),
        (lambda m: m.recall("port").record, "hits[0].record"),
        (lambda m: m.recall("port").receipt.json, "to_dict()"),
        (lambda m: m.get("port").valid_to, "valid_until"),
        (lambda m: m.get("port").created_at, "created"),
        (lambda m: m.browse().items, "records"),
        (lambda m: m.remember("x").record_id, "use id"),
        (lambda m: m.delete, "forget(id)"),
        (lambda m: m.supersede, "remember(text, supersedes=id)"),
        (lambda m: m.receipt, "recall(query).receipt"),
        (lambda m: m.tenant, "memoriter.open(place, tenant=…)"),
        (lambda _: getattr(memoriter, "replay"), "memory.replay(…)"),  # noqa: B009  # as above
        (lambda _: getattr(memoriter, "Client"), "memoriter.open"),  # noqa: B009  # a checker knows it,
    ],
)
def test_an_attribute_of_another_library_is_answered_with_ours(
    memory: Any, look: Callable[[Any], object], right: str
) -> None:
    with pytest.raises(AttributeError) as caught:
        look(memory)
    assert right in str(caught.value)


def test_an_empty_query_is_led_to_browse(memory: Any) -> None:
    with pytest.raises(memoriter.NothingToRun) as caught:
        memory.recall("")
    assert caught.value.hint == "the query is empty; browse lists memories without one"


def test_a_name_that_is_like_none_of_ours_gets_no_suggestion(memory: Any) -> None:
    with pytest.raises(AttributeError) as caught:
        _ = memory.recall("port").account
    assert str(caught.value) == "Result has no 'account'"


@pytest.mark.parametrize(
    ("look", "says"),
    [
        (lambda r: r["hits"], "Result is not a mapping: use .hits"),
        (lambda r: r["results"], "Result has no 'results': use hits"),
        (lambda r: r[0]["score"], "Hit is not a mapping: use .score"),
        (lambda r: r[0]["text"], "Hit is not a mapping: use .text"),
        (lambda r: r[0]["metadata"], "Hit has no 'metadata': use hit.record.metadata"),
        (lambda r: r[0].record["text"], "Record is not a mapping: use .text"),
    ],
)
def test_an_object_that_is_read_like_a_mapping_names_the_attribute(
    memory: Any, look: Callable[[Any], object], says: str
) -> None:
    with pytest.raises(TypeError) as caught:
        look(memory.recall("port"))
    assert str(caught.value) == says


@pytest.mark.parametrize(
    ("look", "right"),
    [
        (lambda m: m.plan("port").lanes, "use running for those that run"),
        (lambda m: m.plan("port").weights, "use recipe"),
        (lambda m: m.recall("port")[0].to_json(), r"use to_dict\(\)"),
        (lambda m: m.recall("port")[0].get("text"), "use hit.record"),
        (lambda m: m.recall("port")[0].explanation.children, "use parts"),
        (lambda m: m.replay(m.recall("port")).ok, "use same"),
        (lambda m: memoriter.diff(m.recall("port"), m.recall("port")).gone, "use left"),  # pyright: ignore[reportAttributeAccessIssue]  # the first guess
        (lambda m: m.why_not(m.recall("port"), "port").message, "use reason"),
        (lambda _: memoriter.version, "use memoriter.__version__"),  # pyright: ignore[reportAttributeAccessIssue]  # as above
        (lambda _: memoriter.from_config, r"use memoriter\.open"),  # pyright: ignore[reportAttributeAccessIssue]  # as above
    ],
)
def test_an_attribute_of_another_library_names_ours(
    memory: Any, look: Callable[[Any], object], right: str
) -> None:
    with pytest.raises(AttributeError, match=right):
        look(memory)


def test_async_for_over_an_answer_is_led_to_for(memory: Any) -> None:
    async def main(what: Any) -> None:
        async for _ in what:
            pass

    for what in (memory.recall("port"), memory.browse()):
        with pytest.raises(TypeError, match="complete already: write `for`"):
            asyncio.run(main(what))


def test_a_hit_has_the_id_and_the_text_of_its_record(memory: Any) -> None:
    hit = memory.recall("port")[0]
    assert (hit.id, hit.text) == (hit.record.id, hit.record.text) == ("port", hit.record.text)


def test_a_single_text_is_taken_where_a_list_of_texts_is(memory: Any) -> None:
    memory.remember("Ann likes tea", id="tea", tags="drinks", entities="Ann", concepts="taste")
    record = memory.get("tea")
    assert (record.tags, record.entities, record.concepts) == (("drinks",), ("Ann",), ("taste",))
    memory.update("tea", tags="hot")
    assert memory.get("tea").tags == ("hot",)
    memory.recall("tea", require="words")
    memory.agents.upsert("bot", aliases="robot")
    assert memory.agents.get("bot").aliases == ("robot",)


def test_a_type_error_from_inside_a_verb_is_not_taken_for_a_wrong_call(memory: Any) -> None:
    def drafts() -> Iterator[str]:
        yield "one"
        raise TypeError("from inside")

    with pytest.raises(TypeError, match="from inside"):
        memory.remember_many(drafts())


def test_objects_with_hints_are_copied_and_pickled_like_others(memory: Any) -> None:
    record = memory.get("port")
    assert copy.copy(record) == copy.deepcopy(record) == record
    assert pickle.loads(pickle.dumps(record)) == record  # noqa: S301  # our own bytes


def test_tags_of_a_question_mean_any_of_them(memory: Any) -> None:
    assert [hit.id for hit in memory.recall("port", tags="ops")] == ["port"]
    assert memory.count(tags=["ops", "team"]) == 2
    assert [r.id for r in memory.browse(tags="team").records] == ["standup"]
    both = memory.recall("port", tags=["ops"], where={"kind": "plan"})
    assert not both.hits
    assert [hit.id for hit in memory.keywords("port", tags="ops")] == ["port"]


@pytest.mark.parametrize("wrong", [3, [3], {"a": 1}])
def test_tags_of_a_question_are_texts(memory: Any, wrong: object) -> None:
    with pytest.raises(InputError) as caught:
        memory.recall("port", tags=wrong)
    assert str(caught.value.field).startswith("tags")
