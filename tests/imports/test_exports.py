"""Archives of ChatGPT and Claude as both export them, and damaged files of each format."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.imports import files

import memoriter
from memoriter import MemoriterError
from memoriter.memory.facade import Memory


def turn(id: str, role: str, time: float | None, content: dict[str, Any], **more: Any) -> Any:
    """A message as the archive of ChatGPT has it."""
    plain = {"status": "finished_successfully", "weight": 1.0, "metadata": {}, "recipient": "all"}
    author = {"role": role, "name": None, "metadata": {}}
    return {"id": id, "author": author, "create_time": time, "content": content, **plain, **more}


def text(*parts: Any) -> dict[str, Any]:
    return {"content_type": "text", "parts": list(parts)}


CHATGPT_TURNS = [
    None,
    turn("s", "system", None, text(""), weight=0.0),
    turn("c", "user", None, {"content_type": "user_editable_context", "user_profile": "Ann"}),
    turn("u1", "user", 1735726000.12, text("Plot the sales of 2025")),
    turn("th", "assistant", 1735726001.0, {"content_type": "thoughts", "thoughts": [{"a": "b"}]}),
    turn("c1", "assistant", 1735726002.0, {"content_type": "code", "text": "import pandas"},
         recipient="python"),
    turn("t1", "tool", 1735726003.0, {"content_type": "execution_output", "text": "no such file"}),
    turn("a1", "assistant", 1735726004.5, text("Sales rose by 12% in 2025.")),
    turn("u2", "user", 1735726100.0, {"content_type": "multimodal_text", "parts": [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f"}, "What is it?",
    ]}),
    turn("a2", "assistant", 1735726101.0, text("A red bicycle.")),
]  # fmt: skip


def chatgpt() -> list[dict[str, Any]]:
    """A conversation as a tree: each message below the one before, the last asked for twice."""
    nodes: dict[str, dict[str, Any]] = {}
    for at, message in enumerate(CHATGPT_TURNS):
        children = [f"n{at + 1}"] if at + 1 < len(CHATGPT_TURNS) else []
        parent = f"n{at - 1}" if at else None
        nodes[f"n{at}"] = {"id": f"n{at}", "message": message, "parent": parent,
                           "children": children}  # fmt: skip
    nodes["n8"]["children"].append("other")
    other = turn("a3", "assistant", 1735726102.0, text("A blue car."))
    nodes["other"] = {"id": "other", "message": other, "parent": "n8", "children": []}
    return [{"title": "Sales", "create_time": 1735726000.0, "mapping": nodes, "current_node": "n9",
             "conversation_id": "g1", "id": "g1", "default_model_slug": "gpt-5"}]  # fmt: skip


def claude() -> list[dict[str, Any]]:
    return [
        {"uuid": "c1", "name": "Trip", "created_at": "2025-03-01T10:00:00.123456Z",
         "account": {"uuid": "a"}, "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "Where to in May?",
             "content": [{"type": "text", "text": "Where to in May?", "citations": []}],
             "created_at": "2025-03-01T10:00:01Z", "files": [],
             "attachments": [{"file_name": "l.txt", "extracted_content": "Rome, Oslo"}]},
            {"uuid": "m2", "sender": "assistant", "text": "Rome is mild.",
             "content": [{"type": "thinking", "thinking": "hm"},
                         {"type": "tool_use", "name": "web_search", "input": {}},
                         {"type": "tool_result", "content": [{"type": "text", "text": "20 C"}]},
                         {"type": "text", "text": "Rome is mild."}],
             "created_at": "2025-03-01T10:00:09Z", "attachments": [], "files": []}]},
        {"uuid": "c2", "name": "", "created_at": "2025-03-02T10:00:00Z", "chat_messages": []},
    ]  # fmt: skip


def brought(path: Path) -> tuple[Memory, list[tuple[str, str, str, str | None, str]]]:
    """A memory with a file, imported twice, and (role, trust, text, session, time) of each turn."""
    memory = memoriter.open(":memory:")
    first = memory.import_file(path)
    again = memory.import_file(path)
    assert (again.records.written, again.records.already) == (0, first.records.written)
    rows = [
        (r.role, r.trust, r.text, r.session, r.created.strftime("%H:%M:%S"))
        for r in memory.browse("oldest").records
    ]
    return memory, rows


def test_an_archive_of_chatgpt_keeps_what_was_said_and_nothing_else(tmp_path: Path) -> None:
    memory, rows = brought(files.write(tmp_path / "conversations.json", chatgpt()))
    assert rows == [
        ("user", "learned", "Plot the sales of 2025", "g1", "10:06:40"),
        ("tool", "external", "no such file", "g1", "10:06:43"),
        ("assistant", "learned", "Sales rose by 12% in 2025.", "g1", "10:06:44"),
        ("user", "learned", "What is it?", "g1", "10:08:20"),
        ("assistant", "learned", "A red bicycle.", "g1", "10:08:21"),
    ]
    left = memory.import_file(tmp_path / "conversations.json").left
    assert {each.field for each in left.values()} == {
        "messages without text", "calls of tools", "parts of type image_asset_pointer",
        "branches that were left",
    }  # fmt: skip


def test_an_archive_of_claude_keeps_what_was_said_and_nothing_else(tmp_path: Path) -> None:
    memory, rows = brought(files.write(tmp_path / "conversations.json", claude()))
    assert rows == [
        ("user", "learned", "Where to in May?", "c1", "10:00:01"),
        ("assistant", "learned", "Rome is mild.", "c1", "10:00:09"),
    ]
    left = memory.import_file(tmp_path / "conversations.json").left
    assert {each.field for each in left.values()} == {
        "attachments", "messages without text", "parts of type thinking", "parts of type tool_use",
        "parts of type tool_result",
    }  # fmt: skip


def test_a_long_conversation_is_read_whole(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": f"turn {n}", "id": f"m{n}"} for n in range(1100)]
    path = files.write(tmp_path / "long.json", [{"id": "c", "messages": turns}])
    with memoriter.open(":memory:", embedder=None) as memory:
        assert memory.import_file(path).records.written == 1100


# -- damaged files ---------------------------------------------------------------------------------

MAKERS: dict[str, Callable[[Path], Path]] = {
    "chatgpt": lambda folder: files.write(folder / "conversations.json", chatgpt()),
    "claude": lambda folder: files.write(folder / "conversations.json", claude()),
    "mem0": lambda folder: files.write(folder / "mem0.json", files.MEM0),
    "claude-mem": lambda folder: files.claude_mem(folder / "claude-mem.db"),
    "basic-memory": lambda folder: files.basic_memory(folder / "notes"),
}


def attempted(path: Path) -> int:
    """How many rows an import writes, or 0 if it refuses the file in words; anything else fails."""
    with memoriter.open(":memory:", embedder=None) as memory:
        try:
            report = memory.import_file(path)
        except MemoriterError as refused:
            assert refused.message  # noqa: PT017  # in words
            return 0
        counts = report.records
        assert report.read == counts.written + counts.already + counts.refused
        assert memory.verify_store().sound
        return counts.written


@pytest.mark.parametrize("name", MAKERS)
def test_a_truncated_file_is_refused_or_read_as_far_as_it_goes(name: str, tmp_path: Path) -> None:
    whole = MAKERS[name](tmp_path)
    parts = sorted(whole.rglob("*.md")) if whole.is_dir() else [whole]
    contents = {path: path.read_bytes() for path in parts}
    for share in (0.0, 0.1, 0.5, 0.9, 0.99):
        for path, content in contents.items():
            path.write_bytes(content[: int(len(content) * share)])
        attempted(whole)


WRONG: list[Any] = [None, True, -1, 1e308, "", "\x00", "x" * 100_000, [], {}, [[[]]], {"a": {}}]


def twisted(value: Any, wrong: Any, at: int) -> tuple[Any, int]:
    """The value with its `at`-th part replaced by a wrong one, and what is left of `at`."""
    if at == 0:
        return wrong, -1
    at -= 1
    if isinstance(value, dict | list):
        pairs: Any = value.items() if isinstance(value, dict) else enumerate(value)
        out: Any = value.copy()
        for key, inner in pairs:
            if at < 0:
                break
            out[key], at = twisted(inner, wrong, at)
        return out, at
    return value, at


@pytest.mark.parametrize("name", ["chatgpt", "claude", "mem0"])
def test_a_value_of_another_type_costs_its_row_at_most(name: str, tmp_path: Path) -> None:
    path = MAKERS[name](tmp_path)
    whole = json.loads(path.read_text())
    for at in range(0, 120, 7):
        changed, left = twisted(whole, WRONG[at % len(WRONG)], at)
        if left < 0:
            attempted(files.write(path, changed))


def test_rows_of_claude_mem_may_hold_anything(tmp_path: Path) -> None:
    path = files.claude_mem(tmp_path / "claude-mem.db")
    with sqlite3.connect(path) as db:
        for n, wrong in enumerate((None, 5, 1.5, b"\xff\xfe", "", "[", '{"a": 1}', "x" * 100_000)):
            row = (n + 2, *[wrong] * 12)
            db.execute(f"INSERT INTO observations VALUES ({','.join('?' * 13)})", row)  # noqa: S608  # ours
    db.close()
    assert attempted(path) >= 2


@pytest.mark.parametrize("name", ["chatgpt", "claude", "mem0"])
def test_a_second_row_with_the_same_id_does_not_replace_the_first(
    name: str, tmp_path: Path
) -> None:
    path = MAKERS[name](tmp_path)
    once = attempted(path)
    rows = json.loads(path.read_text())
    if name == "mem0":
        rows["results"] += [{**rows["results"][0], "memory": "Hates sci-fi"}]
    else:
        rows += rows
    files.write(path, rows)
    assert attempted(path) == once
