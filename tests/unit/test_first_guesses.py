"""What people try first works."""

from __future__ import annotations

import asyncio
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import MemoriterError
from memoriter.doors.cli.main import app
from memoriter.doors.operations import BY_NAME
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import HandClock


def letters(texts: list[str]) -> list[list[float]]:
    return [[1.0 + text.count("a"), 1.0 + text.count("e")] for text in texts]


@pytest.fixture
def memory() -> Memory:
    memory = memoriter.open(":memory:", clock=HandClock())
    memory.remember("Prod SSH port is 49222", id="port", tags=["ops"], metadata={"tool": "http"})
    memory.remember("The port of Ann's server is 8080", id="ann", user="ann", agent="helper")
    memory.remember("The port was blocked today", id="talk", session="s-12")
    return memory


def ids(result: Any) -> set[str]:
    return {hit.id for hit in result}


# -- forms that work -------------------------------------------------------------------------------


def test_who_is_meant_may_be_said_in_every_call(memory: Memory) -> None:
    for verb in (memory.recall, memory.keywords):
        assert ids(verb("port", user="ann")) == {"ann"}
        assert ids(verb("port", agent="helper")) == {"ann"}
        assert ids(verb("port", session="s-12")) == {"talk"}
        assert ids(verb("port", user="ann", session="s-12")) == set()
    assert [record.id for record in memory.browse(user="ann").records] == ["ann"]
    assert memory.count(session="s-12") == 1
    assert memory.get("ann").user == "ann"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"tags": "ops"}, {"port"}),
        ({"tags": ["ops", "team"]}, {"port"}),
        ({"and": [{"tags": "ops"}, {"kind": "note"}]}, {"port"}),
        ({"or": [{"tags": "ops"}, {"user": "ann"}]}, {"port", "ann"}),
        ({"not": {"tags": "ops"}}, {"ann", "talk"}),
        ({"metadata": {"tool": "http"}}, {"port"}),
        ({"metadata.tool": "http"}, {"port"}),
        ({"created": {"gte": "7d"}}, {"port", "ann", "talk"}),
        ({"created": {"lt": "7d"}}, set[str]()),
    ],
)
def test_a_where_as_people_write_it(
    memory: Memory, where: dict[str, Any], expected: set[str], tmp_path: Path
) -> None:
    assert ids(memory.recall("port", where=where)) == expected
    assert ids(memory.keywords("port", where=where)) == expected
    assert {record.id for record in memory.browse(where=where).records} == expected
    assert memory.count(where=where) == len(expected)
    assert memory.export(tmp_path / "part.jsonl", where=where) == len(expected)
    assert set(memory.forget(where=where).ids) == expected


@pytest.mark.parametrize(
    ("where", "form"),
    [
        ({"$and": [{"tags": "ops"}]}, '{"all": [{"tags": "ops"}]}'),
        ({"tags": {"contains": "ops"}}, '{"tags": {"any": ["ops"]}}'),
        ({"user_id": "ann"}, '{"user": "ann"}'),
        ([{"tags": "ops"}], '{"all": [{"tags": "ops"}]}'),
        ({"created": {"since": "7d"}}, '{"created": {"gte": "7d"}}'),
        ({"created_at": {"gte": "7d"}}, '{"created": {"gte": "7d"}}'),
        ({"created_at": "7d"}, '{"created": {"gte": "7d"}}'),
        ({"created_at": {"$gte": "7d", "$lt": "1d"}}, '{"created": {"gte": "7d", "lt": "1d"}}'),
        ({"created__gte": "7d"}, '{"created": {"gte": "7d"}}'),
        ({"created_after": "2026-01-01"}, '{"created": {"gt": "2026-01-01"}}'),
        ({"importance__gt": 0.5}, '{"importance": {"gt": 0.5}}'),
        ({"importance >=": 0.5}, '{"importance": {"gte": 0.5}}'),
        ({"importance": ">0.5"}, '{"importance": {"gt": 0.5}}'),
        ({"importance": [">", 0.5]}, '{"importance": {"gt": 0.5}}'),
        ({"importance": "0.5"}, '{"importance": {"eq": 0.5}}'),
        ("importance > 0.5", '{"importance": {"gt": 0.5}}'),
        ({"min_importance": 0.5}, '{"importance": {"gte": 0.5}}'),
        ({"kind !=": "note"}, '{"not": {"kind": "note"}}'),
        ({"not_tags": ["ops"]}, '{"not": {"tags": ["ops"]}}'),
        ({"tags": {"none": ["ops"]}}, '{"not": {"tags": ["ops"]}}'),
        ({"tags__contains": "ops"}, '{"tags": {"any": ["ops"]}}'),
        ({"created": {"last": "7d"}}, '{"created": {"gte": "7d"}}'),
        ({"created": {"within": "7 days"}}, '{"created": {"gte": "7d"}}'),
        ({"created": {"older_than": "2 weeks"}}, '{"created": {"lt": "2w"}}'),
        ({"created": "last 7 days"}, '{"created": {"gte": "7d"}}'),
        ({"created": {"gte": "7d ago"}}, '{"created": {"gte": "7d"}}'),
        ({"expires": {"within": "7d"}}, '{"expires": {"lte": "7d"}}'),
        ({"importance": {"within": [0.2, 0.8]}}, '{"importance": {"gte": 0.2, "lte": 0.8}}'),
    ],
)
def test_another_form_is_answered_with_the_right_one(memory: Memory, where: Any, form: str) -> None:
    with pytest.raises(memoriter.BadFilter) as caught:
        memory.recall("port", where=where)
    assert form in caught.value.message
    memory.recall("port", where=json.loads(form))  # it works


def test_a_function_may_embed_as_a_function_may_rerank(tmp_path: Path) -> None:
    def judge(query: str, texts: list[str]) -> list[float]:
        return [float(query in text) for text in texts]

    with memoriter.open(tmp_path / "a.db", embedder=letters, reranker=judge) as memory:
        memory.remember_many(["a cat", "a tree", "the sea"])
        result = memory.recall("tree")
        assert result.status == "complete"
        assert "meaning" in result.used
        assert result.trace["reranked"] is True


def test_a_memory_says_how_many_it_holds(memory: Memory) -> None:
    assert (memory.count(), len(memory)) == (3, 3)
    assert memory.count(user="ann") == 1


# -- async -----------------------------------------------------------------------------------------


def public(of: type) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")}


def test_async_code_has_every_verb_and_property(memory: Memory) -> None:
    async def main() -> None:
        async with memoriter.aopen(":memory:", clock=HandClock()) as awaited:
            assert public(type(awaited)) - public(Memory) == {"memory"}
            assert public(Memory) <= public(type(awaited))
            for part in ("agents", "analyzers", "embedding"):
                assert public(type(getattr(awaited, part))) == public(type(getattr(memory, part)))
            for name in public(Memory):
                verb, plain = getattr(awaited, name), getattr(Memory, name)
                if inspect.isfunction(plain) and name not in ("scoped", "with_ceiling"):
                    assert inspect.iscoroutinefunction(verb), name
                    taken = list(inspect.signature(plain).parameters)[1:]
                    assert list(inspect.signature(verb).parameters)[-len(taken) :] == taken, name
            await awaited.remember("Prod SSH port is 49222", user="ann")
            assert await awaited.count() == await awaited.count(user="ann") == 1
            assert ids(await awaited.recall("port", user="bob")) == set()
            with pytest.raises(AttributeError, match=r"use forget\(id\)"):
                _ = awaited.delete  # pyright: ignore[reportAttributeAccessIssue]  # as people try it

    asyncio.run(main())


def test_an_opened_memory_may_be_awaited_and_says_so() -> None:
    async def main() -> None:
        opening = memoriter.aopen()
        with pytest.raises(AttributeError, match="before it is awaited"):
            _ = opening.remember  # pyright: ignore[reportAttributeAccessIssue]  # as people try it
        memory = await opening
        await memory.close()

    asyncio.run(main())


# -- a refused open leaves nothing -----------------------------------------------------------------


async def later(texts: list[str]) -> list[list[float]]:
    return letters(texts)


class Nameless:
    def embed(self, texts: list[str], side: str) -> list[Any]:
        del side
        return letters(texts)


REFUSED: list[dict[str, Any]] = [
    {"top_k": 3}, {"embeder": "table"}, {"tenant": ""}, {"tenant": 5}, {"tenant": "a\0b"},
    {"embedder": "nobody"}, {"embedder": 5}, {"embedder": Nameless()}, {"embedder": []},
    {"embedder": later}, {"embedder": ["table", "table"]}, {"embedder": ["table", "nobody"]},
    {"embedder": "given:x"}, {"embedder": "onnx:/nowhere"}, {"embedder": lambda: 5},
    {"embedder": lambda texts: 5}, {"embedder": lambda texts: texts[9]},
    {"reranker": "nobody"}, {"reranker": 5}, {"reranker": later}, {"reranker": lambda: 5},
    {"reranker": "onnx:/nowhere"}, {"reranker": lambda query: []},
    {"read_only": 1}, {"read_only": True}, {"durability": "x"}, {"durability": None},
    {"embed_timeout": -1}, {"embed_timeout": "x"}, {"entities": 5}, {"entities": "x"},
    {"maintenance": "x"}, {"flush_rows": 0}, {"horizon_days": float("nan")}, {"memory_limit": -1},
    {"clock": 5}, {"entropy": 5},
]  # fmt: skip


@pytest.mark.parametrize("options", REFUSED, ids=lambda options: next(iter(options)))
def test_a_refused_open_leaves_no_file_behind(options: dict[str, Any], tmp_path: Path) -> None:
    async def main() -> None:
        await memoriter.aopen(tmp_path / "agent.db", **options)

    with pytest.raises(MemoriterError) as plain:
        memoriter.open(tmp_path / "agent.db", **options)
    with pytest.raises(MemoriterError) as awaited:
        asyncio.run(main())
    assert str(awaited.value) == str(plain.value)
    assert list(tmp_path.iterdir()) == []  # no store, no lock, no -wal, no .idx


@pytest.mark.parametrize(
    "args",
    [
        ["remember", "x", "--embedder", "nobody"],
        ["remember", "x", "--importance", "7"],
        ["remember", "x", "--expires", "soon"],
        ["remember", ""],
        ["recall", "x", "--recipe", "missing.toml"],
        ["recall", "x", "--reranker", "nobody"],
        ["init", "--tenant", ""],
        ["mcp", "--reranker", "nobody"],
        ["mcp", "--embedder", "nobody"],
        ["serve", "--port", "0", "--reranker", "nobody"],
        ["hooks", "recall", "--reranker", "nobody"],
    ],
)
def test_a_refused_command_leaves_no_file_behind(
    args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, args, input="{}")
    assert done.exit_code != 0
    assert list(tmp_path.iterdir()) == []


# -- one word a thing ------------------------------------------------------------------------------


def test_verify_is_for_receipts_and_verify_store_for_stores() -> None:
    assert list(inspect.signature(memoriter.verify).parameters) == ["receipt", "steps"]
    assert not hasattr(Memory, "verify")
    assert hasattr(Memory, "verify_store")
    assert set(BY_NAME["verify"].request.model_fields) >= {"receipt"}
    assert "verify_store" not in BY_NAME  # it is for the machine's owner
    for command, argument in (("verify", "RECEIPT"), ("verify-store", "--store")):
        assert argument in CliRunner().invoke(app, [command, "--help"]).stdout
    with pytest.raises(AttributeError, match=r"use memoriter\.verify\(receipt\)"):
        _ = memoriter.verify_receipt  # pyright: ignore[reportAttributeAccessIssue]  # as people try it


def test_diff_takes_before_and_after_everywhere() -> None:
    assert list(inspect.signature(memoriter.diff).parameters) == ["before", "after", "steps"]
    assert list(BY_NAME["diff"].request.model_fields) == ["before", "after"]
    usage = CliRunner().invoke(app, ["diff", "--help"]).stdout
    assert usage.index("BEFORE") < usage.index("AFTER")


def test_an_async_memory_is_opened_and_not_constructed() -> None:
    with pytest.raises(MemoriterError) as caught:
        memoriter.AsyncMemory("agent.db")  # type: ignore[arg-type]  # the first guess
    assert "aopen" in caught.value.hint


def test_a_page_is_read_like_a_list_and_a_misspelt_verb_is_corrected() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("x", id="a")
    page = memory.browse()
    assert ([record.id for record in page], len(page), page[0].id) == (["a"], 1, "a")
    with pytest.raises(AttributeError, match="use recall"):
        _ = memory.recal  # type: ignore[attr-defined]  # the typing error
    with pytest.raises(MemoriterError, match="supersedes") as caught:
        memory.update("a", supersedes="b")  # type: ignore[call-arg]  # the first guess
    assert "only remember takes it" in caught.value.hint
