"""What people call a thing elsewhere: every guess is answered with the word that we have."""

from __future__ import annotations

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
        (lambda m: m.recall("port", kind="note"), 'where={"kind": …}'),
        (lambda m: m.recall("port", since="7d"), 'where={"created": {"gte": "7d"}}'),
        (lambda m: m.remember("x", tenant="acme"), "memoriter.open(…, tenant=…)"),
        (lambda m: m.remember("x", created_at="2026-01-01"), "created"),
        (lambda m: m.forget(tags=["ops"]), 'where={"tags": …}'),
        (lambda m: m.link("port", "standup", type="about"), "kind"),
        (lambda m: m.why_not("port", "standup", tags=["ops"]), "why_not(memory.recall(…), …)"),
        (lambda m: m.reflect("why?"), "it takes dry_run"),
        (lambda m: m.recall("port", metadata={"a": 1}), 'where={"metadata": …}'),
        (lambda m: m.recall("port", explain=True), "result[0].explanation"),
        (lambda m: m.browse(page=2), "cursor"),
        (lambda m: m.get("port", as_of="2h"), "known_at"),
        (lambda _: opened(user="u"), "memory.scoped(user=…"),
        (lambda m: m.agents.upsert("a", "b"), "it takes agent"),
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
        (lambda m: m.recall("port")[0].text, "record.text"),
        (lambda m: m.recall("port")[0].metadata, "record.metadata"),
        (lambda m: m.recall("port")[0].explain, "explanation"),
        (lambda m: m.recall("port").results, "hits"),
        (lambda m: m.recall("port").record, "hits[0].record"),
        (lambda m: m.recall("port").receipt.json, "to_dict()"),
        (lambda m: m.get("port").valid_to, "valid_until"),
        (lambda m: m.get("port").created_at, "created"),
        (lambda m: m.browse().items, "records"),
        (lambda m: m.remember("x").record_id, "use id"),
        (lambda m: m.delete, "forget(id)"),
        (lambda _: getattr(memoriter, "Client"), "memoriter.open"),  # noqa: B009  # a checker knows it,
    ],
)
def test_an_attribute_of_another_library_is_answered_with_ours(
    memory: Any, look: Callable[[Any], object], right: str
) -> None:
    with pytest.raises(AttributeError) as caught:
        look(memory)
    assert right in str(caught.value)


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
