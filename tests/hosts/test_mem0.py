"""The class with mem0's methods: its documented calls run, with answers of the same shape."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, cast

import pytest

import memoriter
from memoriter.core.times import to_micros
from memoriter.integrations.mem0 import AsyncMem0Memory as AsyncMemory
from memoriter.integrations.mem0 import Mem0Memory as Memory
from memoriter.testing.fakes import HandClock
from memoriter.text.prompt import HEAD
from memoriter.text.recalled import tagged_block

MESSAGES = [
    {"role": "system", "content": "You are helpful."},
    {"role": "user", "content": "I'm planning to watch a movie tonight. Any recommendations?"},
    {"role": "assistant", "content": "How about a thriller movie? They can be quite engaging."},
    {"role": "user", "content": "I'm not a big fan of thriller movies but I love sci-fi movies."},
]


@pytest.fixture
def m() -> Memory:
    return Memory(memory=memoriter.open(":memory:"))


def test_the_calls_of_the_quickstart_run_unchanged(m: Memory) -> None:
    added = m.add(MESSAGES, user_id="alice", metadata={"category": "movie_recommendations"})
    assert [each["event"] for each in added["results"]] == ["ADD"] * 3
    every = m.get_all(filters={"user_id": "alice"})["results"]
    assert len(every) == 3
    assert {"id", "memory", "hash", "created_at", "updated_at", "user_id"} <= set(every[0])
    one = m.get(added["results"][2]["id"])
    assert one is not None
    assert one["metadata"] == {"category": "movie_recommendations"}
    related = m.search("What kind of movies do I love?", filters={"user_id": "alice"})
    assert related["results"][0]["memory"].endswith("I love sci-fi movies.")
    assert 0.1 <= related["results"][0]["score"] <= 1.0
    changed = m.update(memory_id=one["id"], text="Loves India, it is her favorite country.")
    assert changed == {"message": "Memory updated successfully!"}
    history = m.history(memory_id=one["id"])
    assert [(each["event"], each["new_memory"][:5]) for each in history] == [
        ("ADD", "I'm n"), ("UPDATE", "Loves"),
    ]  # fmt: skip
    assert m.delete(memory_id=one["id"]) == {"message": "Memory deleted successfully!"}
    assert m.get(one["id"]) is None
    assert m.delete_all(user_id="alice") == {"message": "Memories deleted successfully!"}
    assert m.get_all(filters={"user_id": "alice"}) == {"results": []}
    m.reset()


def test_a_text_or_a_single_message_is_enough(m: Memory) -> None:
    m.add("Likes to play cricket on weekends", user_id="alice")
    m.add({"role": "user", "content": "Is allergic to nuts"}, user_id="alice", agent_id="bot")
    assert len(m.get_all(filters={"user_id": "alice", "agent_id": "bot"})["results"]) == 1
    assert m.search("allergy", filters={"user_id": "bob"})["results"] == []


def test_a_search_is_explained_and_its_receipt_verified(m: Memory) -> None:
    m.add("Likes to play cricket on weekends", user_id="alice")
    answer = m.search("cricket", filters={"user_id": "alice"}, explain=True)
    assert answer["results"][0]["score_details"]["value"] > 0
    assert memoriter.verify(m.receipt(answer["receipt"])).ok


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ({"n": 1}, 1), ({"n": {"gte": 1}}, 2), ({"n": {"in": [0, 2]}}, 2), ({"n": {"ne": 1}}, 2),
        ({"AND": [{"n": {"gt": 0}}, {"n": {"lt": 2}}]}, 1), ({"OR": [{"n": 0}, {"n": 2}]}, 2),
        ({"NOT": [{"n": 0}]}, 2), ({"n": {"gt": "x"}}, 0), ({"n": {"in": None}}, 0),
        ({"kind": {"icontains": "TE"}}, 3), ({"n": "*"}, 3),
        ({"absent": "*"}, 0),
    ],
)  # fmt: skip
def test_filters_on_metadata(m: Memory, condition: dict[str, Any], count: int) -> None:
    for n in range(3):
        m.add(f"note {n} about tea", user_id="u", metadata={"n": n, "kind": "tea"})
    filters = {"user_id": "u", **condition}
    assert len(m.get_all(filters=filters)["results"]) == count
    assert len(m.search("tea", filters=filters, threshold=0.0)["results"]) == count


@pytest.mark.parametrize(
    ("filters", "runs"),
    [
        ({"user_id": "ann", "OR": [{"run_id": "a"}, {"run_id": "b"}]}, "ab"),
        ({"user_id": "ann", "NOT": [{"run_id": "a"}]}, "bc"),
        ({"user_id": "ann", "AND": [{"run_id": "a"}, {"n": "a"}]}, "a"),
        ({"user_id": "ann", "AND": [{"run_id": "a"}, {"n": "b"}]}, ""),
        ({"user_id": "ann", "OR": [{"NOT": [{"run_id": {"in": ["a", "b"]}}]}, {"n": "a"}]}, "ac"),
        ({"user_id": "ann", "run_id": {"in": ["a", "b"]}}, "ab"),
        ({"user_id": "ann", "run_id": {"ne": "a"}}, "bc"),
        ({"user_id": "ann", "run_id": "*"}, "abc"), ({"user_id": "*"}, "abcd"),
        ({"user_id": {"in": ["bob", "eve"]}}, "d"), ({"agent_id": "*"}, ""),
        ({"run_id": "a", "NOT": [{"user_id": "ann"}]}, ""), ({"user_id": "*", "run_id": "d"}, "d"),
        ({"user_id": "ann", "OR": [{"user_id": "bob"}]}, ""),
    ],
)  # fmt: skip
def test_filters_on_ids(m: Memory, filters: dict[str, Any], runs: str) -> None:
    for run in "abcd":
        user = "bob" if run == "d" else "ann"
        m.add(f"tea in run {run}", user_id=user, run_id=run, metadata={"n": run, "user_id": "bob"})
    for answer in (m.get_all(filters=filters), m.search("tea", filters=filters, threshold=0.0)):
        assert sorted(each["run_id"] for each in answer["results"]) == list(runs)


def test_a_pattern_deletes_nothing(m: Memory) -> None:
    m.add("tea", user_id="ann")
    m.delete_all(user_id="*")
    m.delete_all(user_id=cast("Any", {"in": ["ann"]}))  # an id like any other
    assert len(m.get_all(filters={"user_id": "ann"})["results"]) == 1


def test_an_agent_named_default_has_only_its_own_memories(m: Memory) -> None:
    m.add("Alice drinks tea", user_id="alice")
    m.add("The bot makes tea", agent_id="default")
    m.add("tea of another bot", agent_id="bot")
    for wanted in ("default", {"eq": "default"}):
        filters = {"agent_id": wanted}
        for answer in (m.get_all(filters=filters), m.search("tea", filters=filters)):
            listed = [(each["memory"], each["agent_id"]) for each in answer["results"]]
            assert listed == [("The bot makes tea", "default")]
    assert len(m.get_all(filters={"agent_id": "*"})["results"]) == 2
    m.delete_all(agent_id="default")
    assert m.get_all(filters={"agent_id": "default"})["results"] == []
    assert len(m.get_all(filters={"user_id": "alice"})["results"]) == 1


def test_a_memory_that_add_did_not_write_keeps_its_metadata() -> None:
    memory = memoriter.open(":memory:")
    m = Memory(memory=memory)
    memory.remember("Prod port", id="p", user="ann", metadata={"ticket": "OPS-1"})
    memory.remember("odd", id="odd", user="ann", metadata={"mem0": "not an object"})
    m.update("p", metadata={"b": 2})
    m.update("odd", text="still odd")
    assert memory.get("p").metadata == {"ticket": "OPS-1", "b": 2}
    assert len(m.get_all(filters={"user_id": "ann", "ticket": "OPS-1"})["results"]) == 1
    m.reset()
    assert len(memory) == 2


def test_an_update_keeps_what_others_wrote_meanwhile() -> None:
    memory = memoriter.open(":memory:")
    m = Memory(memory=memory)
    (added,) = m.add("tea", user_id="ann", metadata={"a": 1})["results"]
    memory.update(added["id"], metadata={**memory.get(added["id"]).metadata, "other": True})
    m.update(added["id"], metadata={"b": 2})
    assert m.get(added["id"])["metadata"] == {"a": 1, "b": 2}  # pyright: ignore[reportOptionalSubscript]
    assert memory.get(added["id"]).metadata["other"] is True


def test_a_query_without_words_finds_nothing(m: Memory) -> None:
    m.add("tea", user_id="u")
    assert m.search("?!", filters={"user_id": "u"})["results"] == []
    assert m.search("tea", filters={"user_id": "u"}, top_k=0)["results"] == []
    assert len(m.search("tea", filters={"user_id": "u"}, top_k=10**6)["results"]) == 1


def test_a_filter_comes_before_the_ranking(m: Memory) -> None:
    """However many memories fit better: those that pass are ranked among themselves."""
    m.add([{"role": "user", "content": f"tea {n}"} for n in range(40)], user_id="u")
    m.add("on Sundays the whole family drinks tea by the lake", user_id="u", metadata={"at": "x"})
    answer = m.search("tea", filters={"user_id": "u", "at": "x"}, top_k=1, threshold=0.0)
    assert [each["metadata"]["at"] for each in answer["results"]] == ["x"]


def test_a_search_finds_copies_too(m: Memory) -> None:
    ids = [m.add("The prod SSH port is 49222", user_id="u")["results"][0]["id"] for _ in range(2)]
    answer = m.search("which prod ssh port?", filters={"user_id": "u"})
    assert {each["id"] for each in answer["results"]} == set(ids)
    assert memoriter.verify(m.receipt(answer["receipt"])).ok


def test_recalled_memories_are_not_added_and_what_a_tool_says_is_external() -> None:
    memory = memoriter.open(":memory:")
    block = tagged_block(f"{HEAD} [1] the port is 22")
    tool = {"role": "tool", "content": "a page of the web"}
    m = Memory(memory=memory)
    m.add([{"role": "user", "content": f"{block} Which port?"}, tool], user_id="u")
    assert m.add(block, user_id="u") == {"results": []}
    kept = {(each.text, each.trust) for each in memory.browse().records}
    assert kept == {("Which port?", "learned"), ("a page of the web", "external")}


def test_a_scope_of_the_memory_cannot_be_left() -> None:
    m = Memory(memory=memoriter.open(":memory:").scoped(user="ann"))
    with pytest.raises(memoriter.InputError, match="already limited to user 'ann'"):
        m.add("x", user_id="bob")
    assert m.add("y", run_id="r")["results"]
    assert m.get_all(filters={"user_id": "ann"})["results"][0]["memory"] == "y"


def test_times_that_mem0_refuses_are_honoured(m: Memory) -> None:
    m.add("Moved to Lyon", user_id="u", timestamp="2024-05-01T00:00:00Z")
    (item,) = m.get_all(filters={"user_id": "u"})["results"]
    assert item["created_at"].startswith("2024-05-01")
    m.add("Moved to Oslo", user_id="v", timestamp=1700000000)
    (item,) = m.get_all(filters={"user_id": "v"})["results"]
    assert item["created_at"] == "2023-11-14T22:13:20Z"
    assert m.search("Oslo", filters={"user_id": "v"}, reference_date=1700000001)["results"]


@pytest.mark.parametrize("show", [True, False])
def test_expired_memories_are_hidden_unless_they_are_wanted(*, show: bool) -> None:
    """A memory counts on its last day, as with mem0."""
    now = datetime(2026, 3, 31, 18, tzinfo=UTC)
    m = Memory(memory=memoriter.open(":memory:", clock=HandClock(to_micros(now))))
    for day in ("2026-03-30", "2026-03-31", date(2026, 4, 1), None, "9999-12-31"):
        m.add(f"Pass until {day}", user_id="u", expiration_date=day, metadata={"n": 1})
    filters = {"user_id": "u", "n": 1}
    answers = [
        m.get_all(filters=filters, show_expired=show),
        m.search("pass", filters=filters, threshold=0.0, show_expired=show),
        m.search("pass", filters={"user_id": "u"}, threshold=None, show_expired=show),
    ]
    for answer in answers:
        days = {each.get("expiration_date") for each in answer["results"]}
        assert days == {"2026-03-31", "2026-04-01", None, "9999-12-31"} | (
            {"2026-03-30"} if show else set()
        )
    (old,) = (each for each in m.get_all(filters=filters, show_expired=True)["results"]
              if each.get("expiration_date") == "2026-03-30")  # fmt: skip
    m.update(old["id"], expiration_date=None)
    assert "expiration_date" not in cast("dict[str, Any]", m.get(old["id"]))
    m.update(old["id"], expiration_date="2026-03-01")
    m.delete_all(user_id="u")
    assert m.get_all(filters=filters, show_expired=True)["results"] == []


def test_ids_in_metadata_have_no_effect(m: Memory) -> None:
    (added,) = m.add("tea", user_id=cast("Any", 7), metadata={"actor_id": "x", "n": 1})["results"]
    m.update(added["id"], metadata={"user_id": "bob", "m": 2})
    item = cast("dict[str, Any]", m.get(added["id"]))
    assert (item["user_id"], item["metadata"]) == ("7", {"n": 1, "m": 2})


def test_the_async_class_has_the_same_methods() -> None:
    async def run() -> None:
        async with AsyncMemory(memory=memoriter.open(":memory:")) as m:
            (added,) = (await m.add("Likes tea", user_id="u"))["results"]
            answer = await m.search("tea", filters={"user_id": "u"})
            assert answer["results"][0]["id"] == added["id"]
            assert memoriter.verify(m.receipt(answer["receipt"])).ok
            await m.update(added["id"], "Likes green tea")
            assert len(await m.history(added["id"])) == 2
            await m.delete_all(user_id="u")
            assert await m.get(added["id"]) is None

    asyncio.run(run())


def test_wrong_calls_raise_what_mem0_raises(m: Memory) -> None:
    m.add("y", user_id="u")
    for call in (
        lambda: m.add("x"),
        lambda: m.search("x"),
        lambda: m.search("x", user_id="u"),
        lambda: m.get_all(filters={}),
        lambda: m.update("nope", text="x"),
        lambda: m.delete("nope"),
        m.delete_all,
        lambda: m.add("x", user_id=" "),
        lambda: m.add("x", user_id="u", memory_type="episodic"),
        lambda: m.add("x", user_id="u", expiration_date="next week"),
        lambda: m.update("nope", expiration_date=5),
        lambda: m.search(" ", filters={"user_id": "u"}),
        lambda: m.search("y", filters={"user_id": "u"}, threshold=2.0),
        lambda: m.search("y", filters={"user_id": "u"}, top_k=-1),
        lambda: m.get_all(filters={"user_id": "u"}, top_k=cast("Any", "5")),
        lambda: m.add(5, user_id="u"),
        lambda: m.add(["x"], user_id="u"),
        lambda: m.add("x", user_id="u", metadata=cast("Any", [1])),
        lambda: m.get_all(filters=cast("Any", "u")),
        lambda: m.get_all(filters={"user_id": "u", "AND": {"n": 1}}),
        lambda: m.get_all(filters={"user_id": ["u"]}),
        lambda: m.get_all(filters={"user_id": {"like": "u"}}),
    ):
        with pytest.raises(ValueError, match=r"."):
            call()


def test_other_memories_of_the_store_are_left_alone(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MEMORITER_STORE", str(tmp_path / "m.db"))
    with memoriter.open(tmp_path / "m.db") as memory:
        memory.remember("not of mem0")
    with Memory.from_config({"vector_store": {"provider": "qdrant"}}) as m:
        m.add("of mem0", user_id="u")
        m.reset()
    with memoriter.open(tmp_path / "m.db") as memory:
        assert [each.text for each in memory.browse().records] == ["not of mem0"]


@pytest.mark.skipif(importlib.util.find_spec("mem0") is None, reason="`make hosts` installs mem0")
def test_every_parameter_of_the_real_class_is_taken() -> None:
    import mem0  # noqa: PLC0415  # only where it is installed

    for real, own in ((mem0.Memory, Memory), (mem0.AsyncMemory, AsyncMemory)):
        names = {name for name, each in inspect.getmembers(real, callable) if name[0] != "_"}
        for name in sorted(names - {"chat"}):  # which raises NotImplementedError
            theirs = inspect.signature(getattr(real, name)).parameters
            ours = inspect.signature(getattr(own, name)).parameters
            open_ended = any(each.kind is each.VAR_KEYWORD for each in ours.values())
            missing = [each for each in theirs if each not in ours and each != "kwargs"]
            assert open_ended or not missing, name
            for each in set(ours) & set(theirs) - {"self"}:
                assert ours[each].kind == theirs[each].kind, (name, each)
