"""The memory tool beside the local file tool of the same package: equal replies, word by word."""

from __future__ import annotations

import asyncio
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.counts import count, host, run_page

host("anthropic")

import anthropic  # noqa: E402
import httpx2  # noqa: E402
from anthropic.tools import BetaLocalFilesystemMemoryTool, ToolError  # noqa: E402

import memoriter  # noqa: E402
from memoriter.integrations.anthropic import (  # noqa: E402
    MemoriterAsyncMemoryTool,
    MemoriterMemoryTool,
)

NAMES = ["a.txt", "b.md", "notes", "deep", ".hidden", "c c.txt", "ü.txt"]
PIECES = ["tea\n", "port 49222", "\n", "", "Ann likes tea\nTom too\n", "a\r\nb", "x" * 1100, "  "]
FOLDER_SIZE = re.compile(r"^[\d.]+[BKMG](?=\t.*/$)|^[\d.]+[BKMG](?=\t/memories[^\n]*$)")


def path(rng: random.Random) -> str:
    if rng.random() < 0.05:
        return rng.choice(
            ["/memories", "/memories/", "/elsewhere/x", "/memories/../x", "/memories/./a.txt"]
        )
    depth = rng.choice([1, 1, 1, 2, 2, 3])
    return "/".join(["/memories", *(rng.choice(NAMES) for _ in range(depth))])


def command(rng: random.Random) -> dict[str, Any]:
    name = rng.choice(
        ["view", "view", "create", "create", "str_replace", "insert", "delete", "rename"]
    )
    at = path(rng)
    match name:
        case "view":
            span = rng.choice([None, None, [1, 2], [2, -1], [0, 1], [9, 3]])
            return {"command": name, "path": at, "view_range": span}
        case "create":
            text = "".join(rng.choices(PIECES, k=rng.randint(0, 4)))
            return {"command": name, "path": at, "file_text": text}
        case "str_replace":
            old, new = rng.choice(["tea", "port", "a", "", "x"]), rng.choice(["coffee", "", "b\n"])
            return {"command": name, "path": at, "old_str": old, "new_str": new}
        case "insert":
            line, text = rng.randint(-1, 4), rng.choice(["new\n", "new", "\n", "two\nlines\n"])
            return {"command": name, "path": at, "insert_line": line, "insert_text": text}
        case "delete":
            return {"command": name, "path": at}
        case _:
            return {"command": name, "old_path": at, "new_path": path(rng)}


def reply(tool: Any, given: dict[str, Any]) -> tuple[str, str]:
    try:
        return "said", str(tool.call(given))
    except ToolError as error:
        return "refused", str(error)
    except OSError:  # theirs lets some errors of the disk through, such as a file used as a folder
        return "failed", ""


def plain(text: str) -> str:
    """A listing without the sizes of folders, which depend on the disk."""
    return "\n".join(
        FOLDER_SIZE.sub("?", line) if "\t/memories" in line else line for line in text.split("\n")
    )


def folders(text: str) -> str:
    lines = text.split("\n")
    if not lines[0].startswith("Here're the files"):
        return text
    kept = [lines[0], "?\t" + lines[1].partition("\t")[2]]
    for line in lines[2:]:
        size, _, name = line.partition("\t")
        kept.append(f"{'?' if name.endswith('/') else size}\t{name}")
    return "\n".join(kept)


def test_the_tool_answers_as_the_local_file_tool_does(tmp_path: Path) -> None:
    rng = random.Random(23)
    ours = MemoriterMemoryTool(memoriter.open(":memory:"))
    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path))
    steps = 0
    for _ in range(count(10_000)):
        given = command(rng)
        got, want = reply(ours, given), reply(theirs, given)
        if want[0] == "failed":
            assert got[0] == "refused", given
            continue
        assert (got[0], folders(got[1])) == (want[0], folders(want[1])), given
        steps += 1
    assert steps > 0.9 * count(10_000)


def test_a_file_keeps_its_versions_and_is_found_by_meaning() -> None:
    memory = memoriter.open(":memory:")
    tool = MemoriterMemoryTool(memory)
    tool.call({"command": "create", "path": "/memories/ops.md", "file_text": "SSH port is 22\n"})
    tool.call({"command": "create", "path": "/memories/tea.md", "file_text": "Ann drinks tea\n"})
    edit = {"old_str": "22", "new_str": "49222"}
    tool.call({"command": "str_replace", "path": "/memories/ops.md", **edit})
    tool.call({"command": "rename", "old_path": "/memories/ops.md", "new_path": "/memories/x/o.md"})
    hit = tool.recall("which port for ssh?")[0]
    assert hit.record.source.path == "/memories/x/o.md"
    texts = [each.text for each in memory.history(hit.id)]
    assert (texts[0], texts[-1]) == ("SSH port is 22\n", "SSH port is 49222\n")


def test_every_copy_of_a_file_is_found() -> None:
    memory = memoriter.open(":memory:")
    tool = MemoriterMemoryTool(memory)
    paths = [f"/memories/{n}.md" for n in range(8)]
    for path in paths:
        tool.call({"command": "create", "path": path, "file_text": "SSH port is 22\n"})
    paths_found = {hit.record.source.path for hit in tool.recall("which port for ssh?")}
    assert paths_found == set(paths)


def test_clearing_forgets_the_files_alone() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("not a file")
    tool = MemoriterMemoryTool(memory)
    tool.call({"command": "create", "path": "/memories/a/b.md", "file_text": "x"})
    assert tool.clear_all_memory() == "All memory cleared"
    assert [each.text for each in memory.browse(archived="show").records] == ["not a file"]
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    with pytest.raises(ToolError, match="does not exist"):
        tool.call({"command": "view", "path": "/memories/a"})


def test_a_record_of_somebody_else_is_no_file_whatever_its_kind_and_path() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("mine", kind="memory-file", source={"path": "/memories/own.md"}, id="mine")
    tool = MemoriterMemoryTool(memory)
    assert "own.md" not in str(tool.call({"command": "view", "path": "/memories"}))
    assert tool.clear_all_memory() == "All memory cleared"
    assert memory.get("mine").text == "mine"


@pytest.mark.parametrize("on_similar", ["skip", "supersede"])
@pytest.mark.parametrize("port", ["22", "49222"])
def test_on_similar_leaves_files_alone(on_similar: Any, port: str) -> None:
    memory = memoriter.open(":memory:")
    tool = MemoriterMemoryTool(memory)
    text = "The prod SSH port is 22"
    tool.call({"command": "create", "path": "/memories/ops.md", "file_text": text})
    commit = memory.remember(f"The prod SSH port is {port}", on_similar=on_similar)
    assert (commit.near, memory.get(commit.id).kind) == ((), "note")
    assert [hit.record.text for hit in tool.recall("prod ssh port")] == [text]


def test_an_empty_question_recalls_nothing() -> None:
    tool = MemoriterMemoryTool(memoriter.open(":memory:"))
    assert list(tool.recall("")) == []


def test_what_the_memory_refuses_is_an_error_of_the_tool() -> None:
    tool = MemoriterMemoryTool(memoriter.open(":memory:"))
    with pytest.raises(ToolError, match="lone surrogate"):
        tool.call({"command": "create", "path": "/memories/a", "file_text": "\ud800"})


def during_a_write(*commands: dict[str, Any]) -> tuple[MemoriterMemoryTool, list[dict[str, Any]]]:
    """A tool, and commands that another writer runs while one of the tool is being written."""
    waiting: list[dict[str, Any]] = []

    def embed(texts: list[str]) -> list[list[float]]:  # runs between reading and writing
        if waiting:
            other.call(waiting.pop(0))
        return [[1.0, 0.0] for _ in texts]

    memory = memoriter.open(":memory:", embedder=embed)
    tool, other = MemoriterMemoryTool(memory), MemoriterMemoryTool(memory)
    tool.call({"command": "create", "path": "/memories/n.txt", "file_text": "0\n"})
    waiting += commands
    return tool, waiting


def line(text: str) -> dict[str, Any]:
    return {"command": "insert", "path": "/memories/n.txt", "insert_line": 0, "insert_text": text}


def test_no_edit_is_lost_to_another_writer() -> None:
    tool, waiting = during_a_write(*map(line, "abcdefgh"))
    tool.call(line("ours"))
    assert not waiting
    shown = str(tool.call({"command": "view", "path": "/memories/n.txt"}))
    assert sorted(each.split("\t")[1] for each in shown.split("\n")[1:-1]) == [
        "0", *"abcdefgh", "ours",
    ]  # fmt: skip


def test_a_file_that_goes_while_it_is_edited_does_not_come_back() -> None:
    for command in (
        {"command": "delete", "path": "/memories/n.txt"},
        {"command": "rename", "old_path": "/memories/n.txt", "new_path": "/memories/m.txt"},
    ):
        tool, _ = during_a_write(command)
        with pytest.raises(ToolError, match="does not exist"):
            tool.call(line("ours"))
        with pytest.raises(ToolError, match="does not exist"):
            tool.call({"command": "view", "path": "/memories/n.txt"})


def test_of_two_writers_of_a_path_one_is_told_that_it_exists() -> None:
    new = {"command": "create", "path": "/memories/x.txt", "file_text": "x"}
    tool, waiting = during_a_write({**new, "file_text": "theirs"})
    with pytest.raises(ToolError, match="already exists"):
        tool.call({**new, "file_text": "ours"})
    assert not waiting
    assert "theirs" in str(tool.call({"command": "view", "path": "/memories/x.txt"}))
    assert tool.clear_all_memory()
    assert tool.call(new)


def test_a_path_is_free_again_after_its_file_was_renamed() -> None:
    tool = MemoriterMemoryTool(memoriter.open(":memory:"))
    for n in range(3):
        tool.call({"command": "create", "path": "/memories/a", "file_text": f"file {n}"})
        move = {"old_path": "/memories/a", "new_path": f"/memories/{n}"}
        tool.call({"command": "rename", **move})
    assert "file 1" in str(tool.call({"command": "view", "path": "/memories/1"}))


def test_the_tool_runs_with_the_async_client() -> None:
    inputs = [
        {"command": "create", "path": "/memories/a", "file_text": "port 49222"},
        {"command": "view", "path": "/nowhere"},
    ]
    replies: list[Any] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        last = json.loads(request.content)["messages"][-1]["content"]
        replies.append(last)
        content: list[Any] = [{"type": "text", "text": "done"}]
        if inputs:
            content = [{"type": "tool_use", "id": "t", "name": "memory", "input": inputs.pop(0)}]
        body = {
            "id": "m", "type": "message", "role": "assistant", "model": "x", "content": content,
            "stop_reason": "end_turn" if content[0]["type"] == "text" else "tool_use",
            "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        return httpx2.Response(200, json=body)

    async def run() -> str:
        tool = MemoriterAsyncMemoryTool(memoriter.open(":memory:"))
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        async with anthropic.AsyncAnthropic(api_key="x", http_client=http) as client:
            runner = client.beta.messages.tool_runner(
                model="x", max_tokens=10, messages=[{"role": "user", "content": "hi"}], tools=[tool]
            )
            await runner.until_done()
        hit = (await tool.recall("which port?"))[0]
        assert await tool.clear_all_memory() == "All memory cleared"
        return hit.record.text

    assert asyncio.run(run()) == "port 49222"
    assert "File created successfully" in str(replies[1])
    assert "Path must start with /memories" in str(replies[2])


def test_the_examples_of_the_page_run() -> None:
    run_page("anthropic")
