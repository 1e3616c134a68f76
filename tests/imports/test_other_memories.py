"""The files of claude-mem, mem0 and basic-memory, and the archives of ChatGPT and Claude."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from tests.imports import files

import memoriter
from memoriter.memory.facade import Memory
from memoriter.text.prompt import HEAD
from memoriter.text.recalled import tagged_block


def imported(path: Path, name: str, records: int) -> Memory:
    memory = memoriter.open(":memory:")
    report = memory.import_file(path)
    assert (report.format, report.records.written, report.records.refused) == (name, records, 0)
    assert memory.import_file(path).records.already == records
    return memory


def test_a_database_of_claude_mem(tmp_path: Path) -> None:
    path = files.claude_mem(tmp_path / "claude-mem.db")
    memory = imported(path, "claude-mem", 2)
    of = {cast("Any", each.metadata["origin"])["id"]: each for each in memory.browse().records}
    record = of["observations-1"]
    assert record.text == "Postgres did not start.\n- 5432 is taken\n- use 5433"
    assert (record.title, record.kind, record.session) == ("Port clash", "bugfix", "s1")
    assert (record.concepts, record.created.year) == (("gotcha",), 2026)
    summed = of["session_summaries-1"]
    assert (summed.text, summed.kind) == ("request: start it\nlearned: ports", "summary")


def test_a_second_database_of_claude_mem_and_another_user_are_imported(tmp_path: Path) -> None:
    path = files.claude_mem(tmp_path / "laptop.db")
    memory = imported(path, "claude-mem", 2)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE observations SET narrative = 'The desk starts.'")
    assert memory.import_file(path).records.written == 1
    bob = memory.scoped(user="bob")
    assert (bob.import_file(path).records.written, len(memory)) == (2, 5)
    assert bob.import_file(path).records.already == 2


def test_memories_of_mem0_without_ids_are_known_by_what_they_say_and_whose_they_are(
    tmp_path: Path,
) -> None:
    rows = [{"memory": "likes tea", "user_id": user} for user in ("ann", "bob")]
    path = files.write(tmp_path / "mem0.json", {"results": rows})
    users = [each.user for each in imported(path, "mem0", 2).browse("oldest").records]
    assert users == ["ann", "bob"]


def test_memories_of_mem0(tmp_path: Path) -> None:
    path = files.write(tmp_path / "mem0.json", files.MEM0)
    memory = imported(path, "mem0", 2)
    record = memory.get("m1")
    assert (record.user, record.metadata["category"], record.created.day) == ("alice", "movies", 2)
    assert record.expires is not None
    assert record.expires.isoformat() == "2999-03-31T23:59:59.999999+00:00"  # its last day
    assert memory.get("m2").tags == ("sport",)


def test_notes_of_basic_memory(tmp_path: Path) -> None:
    folder = files.basic_memory(tmp_path / "notes")
    memory = imported(folder, "basic-memory", 2)
    coffee = memory.get("coffee")
    assert (coffee.title, coffee.tags, coffee.concepts) == (
        "Coffee",
        ("drinks", "brewing"),
        ("method",),
    )
    (edge,) = memory.links("coffee")
    assert (edge.target, edge.kind) == ("grinding", "requires")


def test_archives_of_chatgpt_and_of_claude(tmp_path: Path) -> None:
    message = {"id": "x", "author": {"role": "user"}, "content": {"parts": ["Which port?"]}}
    tree = {"a": {"message": None, "children": ["b"]}, "b": {"message": message, "parent": "a"}}
    chatgpt = [{"title": "Ports", "id": "c1", "mapping": tree, "current_node": "b"}]
    claude = [{"uuid": "c2", "name": "Ports", "chat_messages": [
        {"uuid": "y", "sender": "human", "text": "Which port?", "created_at": "2026-01-02T03:04Z"}
    ]}]  # fmt: skip
    for name, archive in (("chatgpt", chatgpt), ("claude", claude)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(archive))
        (record,) = imported(path, "chat", 1).browse().records
        assert (record.text, record.role, record.title) == ("Which port?", "user", "Ports")


def test_recalled_memories_in_a_chat_are_left_out(tmp_path: Path) -> None:
    block = tagged_block(f"{HEAD} [1] the port is 22")
    turns = [{"role": "user", "content": each} for each in (f"{block} Which port?", block)]
    memory = memoriter.open(":memory:")
    report = memory.import_file(files.write(tmp_path / "chat.json", turns))
    assert [each.text for each in memory.browse().records] == ["Which port?"]
    assert "recalled memories alone" in {each.field for each in report.left.values()}
