"""A retry under a key gets the first answer, whatever became of the records meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.inside import log_of

import memoriter
from memoriter.memory.facade import Memory
from memoriter.testing.whole import whole

Act = Callable[[Memory], Any]


@pytest.fixture(params=["memory", "file"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    place = ":memory:" if request.param == "memory" else tmp_path / "m.db"
    with memoriter.open(place, embedder=None) as memory:
        for name in "abc":
            memory.remember(f"text {name}", id=name)
        memory.scoped("bob").remember("text of bob", id="bobs")
        yield memory


def bob(memory: Memory) -> Memory:
    return memory.scoped("bob")


MEANWHILE: dict[str, tuple[Act, Act]] = {
    "nothing happened": (lambda m: m.remember("x", key="k"), lambda m: None),
    "the record was forgotten": (
        lambda m: m.remember("x", id="x", key="k"),
        lambda m: m.forget("x"),
    ),
    "what it supersedes was forgotten": (
        lambda m: m.remember("x", supersedes="a", key="k"),
        lambda m: m.forget("a"),
    ),
    "what it supersedes was forgotten, in a scope": (
        lambda m: bob(m).remember("x", supersedes="bobs", key="k"),
        lambda m: m.forget("bobs"),
    ),
    "what it supersedes left the scope": (
        lambda m: bob(m).remember("x", supersedes="bobs", key="k"),
        lambda m: m.update("bobs", agent="eve"),
    ),
    "what one of many supersedes was forgotten": (
        lambda m: bob(m).remember_many([{"text": "x", "supersedes": "bobs", "key": "k"}]),
        lambda m: m.forget("bobs"),
    ),
    "the record was changed again": (
        lambda m: m.update("a", text="new", key="k"),
        lambda m: m.update("a", text="newer"),
    ),
    "the changed record was forgotten": (
        lambda m: m.update("a", text="new", key="k"),
        lambda m: m.forget("a"),
    ),
    "the change makes no sense any more": (
        lambda m: m.update("a", valid_until="2020-01-01", key="k"),
        lambda m: m.update("a", valid_until=None, valid_from="2021-01-01"),
    ),
    "the changed record left the scope": (
        lambda m: bob(m).update("bobs", text="new", key="k"),
        lambda m: m.update("bobs", agent="eve"),
    ),
    "the expired record was forgotten": (
        lambda m: m.expire("a", key="k"),
        lambda m: m.forget("a"),
    ),
    "an end of the link was forgotten": (
        lambda m: m.link("a", "b", key="k"),
        lambda m: m.forget("b"),
    ),
    "the forgotten came back": (
        lambda m: m.forget(["a", "b"], key="k"),
        lambda m: m.remember("again", id="b"),
    ),
    "the forgotten came back elsewhere": (
        lambda m: bob(m).forget("bobs", key="k"),
        lambda m: m.remember("again", id="bobs", agent="eve"),
    ),
    "the agent was described again": (
        lambda m: m.agents.describe("bob", "ships", key="k"),
        lambda m: m.agents.describe("bob", "sails"),
    ),
    "the agent got another alias": (
        lambda m: m.agents.alias("bob", "rob", key="k"),
        lambda m: m.agents.alias("bob", "bert"),
    ),
}


@pytest.mark.parametrize("name", MEANWHILE)
def test_a_retry_gets_the_first_commit_and_writes_nothing(name: str, memory: Memory) -> None:
    act, meanwhile = MEANWHILE[name]
    first = act(memory)
    meanwhile(memory)
    before = whole(log_of(memory), "default")
    assert act(memory) == first
    assert whole(log_of(memory), "default") == before


OTHERS: dict[str, tuple[Act, Act, Act]] = {
    "update": (
        lambda m: bob(m).update("bobs", text="new", key="k"),
        lambda m: m.update("bobs", agent="eve"),
        lambda m: bob(m).update("bobs", text="other", key="k"),
    ),
    "link": (
        lambda m: m.link("a", "b", key="k"),
        lambda m: m.forget("b"),
        lambda m: m.link("a", "b", "other", key="k2"),
    ),
    "alias": (
        lambda m: m.agents.alias("bob", "rob", key="k"),
        lambda m: None,
        lambda m: m.agents.alias("bob", "bert", key="k"),
    ),
}


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("update", memoriter.Conflict),
        ("link", memoriter.NotFound),
        ("alias", memoriter.Conflict),
    ],
)
def test_another_payload_or_another_key_is_no_retry(
    name: str, error: type[Exception], memory: Memory
) -> None:
    first, meanwhile, other = OTHERS[name]
    first(memory)
    meanwhile(memory)
    with pytest.raises(error):
        other(memory)


@pytest.mark.parametrize(
    ("act", "error", "says"),
    [
        (lambda m: m.update("nobody", text="x", key="k"), memoriter.NotFound, "nobody"),
        (lambda m: m.update("a", nonsense=1, key="k"), memoriter.BadRecord, "nonsense"),
        (lambda m: m.link("a", "nobody", key="k"), memoriter.NotFound, "nobody"),
        (lambda m: m.forget("nobody", key="k"), memoriter.NotFound, "nobody"),
        (
            lambda m: bob(m).remember("x", supersedes="a", key="k"),
            memoriter.NotFound,
            "there is no record 'a'",
        ),
    ],
)
def test_a_first_attempt_is_refused_for_its_own_reason(
    act: Act, error: type[Exception], says: str, memory: Memory
) -> None:
    with pytest.raises(error, match=says):
        act(memory)
    with pytest.raises(error, match=says):
        act(memory)


def test_a_forget_of_several_is_retried_whole(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember_many([{"text": "x", "id": "a"}, {"text": "y", "id": "b"}])
        first = memory.forget(["a", "b"], key="k")
        assert memory.forget(["a", "b"], key="k") == first
        with pytest.raises(memoriter.InputError, match="ids"):
            memory.forget(where={"kind": "note"}, key="w")


def test_a_key_knows_values_and_not_their_spelling(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("x", id="a")
        first = memory.update("a", key="k", tags=["t"], importance=1)
        assert memory.update("a", key="k", tags=("t",), importance=1.0) == first
        memory.update("a", key="n", title=None)
        with pytest.raises(memoriter.Conflict):
            memory.update("a", key="n", title="None")
