"""The memory tool beside the local file tool of the same package: equal replies, word by word."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.counts import count, host, run_page

host("anthropic")

from anthropic.tools import BetaLocalFilesystemMemoryTool, ToolError  # noqa: E402

import memoriter  # noqa: E402
from memoriter.integrations.anthropic import MemoriterMemoryTool  # noqa: E402

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


def test_what_the_memory_refuses_is_an_error_of_the_tool() -> None:
    tool = MemoriterMemoryTool(memoriter.open(":memory:"))
    with pytest.raises(ToolError, match="lone surrogate"):
        tool.call({"command": "create", "path": "/memories/a", "file_text": "\ud800"})


def test_the_examples_of_the_page_run() -> None:
    run_page("anthropic")
