"""The texts of Anthropic's memory tool: its paths, edits and replies, word by word."""

from __future__ import annotations

import posixpath
from typing import Final

from anthropic.tools import ToolError

ROOT: Final = "/memories"
FOLDER_SIZE: Final = 4096
"""A folder is listed with the size that it has on most disks."""
_LINES: Final = 999_999
_WIDTH: Final = 6
_UNITS: Final = "BKMG"


def checked_path(path: str) -> str:
    """The path without `.` and `..`; raises ToolError if it leaves the folder of memories."""
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with /memories, got: {path}")
    clean = posixpath.normpath(f"{ROOT}/{path[len(ROOT) :].lstrip('/')}")
    if clean != ROOT and not clean.startswith(f"{ROOT}/"):
        raise ToolError(f"Path {path} would escape /memories directory")
    return clean


def shown_file(content: str, path: str, span: list[int] | None) -> str:
    """A file with line numbers, or the lines of a span of it."""
    lines, first = content.split("\n"), 0
    if len(lines) > _LINES:
        raise ToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    if span and len(span) == 2:  # noqa: PLR2004  # first and last line
        first = max(1, span[0]) - 1
        lines = lines[first : len(lines) if span[1] == -1 else span[1]]
    return f"Here's the content of {path} with line numbers:\n{_numbered(lines, first)}"


def shown_folder(path: str, sizes: dict[tuple[str, ...], int | None]) -> str:
    """The names below a folder with the sizes of files; None for a folder."""
    lines = [f"{_size(FOLDER_SIZE)}\t{path}"]
    for parts, size in sorted(sizes.items()):
        end = "/" if size is None else ""
        lines.append(
            f"{_size(FOLDER_SIZE if size is None else size)}\t{path}/{'/'.join(parts)}{end}"
        )
    head = f"Here're the files and directories up to 2 levels deep in {path}"
    return f"{head}, excluding hidden items:\n" + "\n".join(lines)


def replaced(content: str, old: str, new: str, path: str) -> tuple[str, str]:
    """(the content with a text replaced that occurs once, the reply)."""
    if content.count(old) > 1:
        starts = [at for at in range(len(content) + 1) if content.startswith(old, at)]
        lines = ", ".join(str(content.count("\n", 0, at) + 1) for at in starts)
        raise ToolError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
            f"{lines}. Please ensure it is unique"
        )
    if old not in content:
        raise ToolError(
            f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
        )
    changed = content.count("\n", 0, content.find(old))
    edited, first = content.replace(old, new), max(0, changed - 2)
    return edited, (
        "The memory file has been edited. Here is the snippet showing the change (with line "
        f"numbers):\n{_numbered(edited.split(chr(10))[first : changed + 3], first)}"
    )


def inserted(content: str, line: int, text: str) -> str:
    """The content with lines inserted behind a line."""
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= line <= len(lines):
        raise ToolError(
            f"Invalid `insert_line` parameter: {line}. "
            f"It should be within the range [0, {len(lines)}]."
        )
    lines.insert(line, text.rstrip("\n"))
    joined = "\n".join(lines)
    return joined if joined.endswith("\n") else f"{joined}\n"


def _numbered(lines: list[str], before: int) -> str:
    return "\n".join(f"{str(n).rjust(_WIDTH)}\t{line}" for n, line in enumerate(lines, before + 1))


def _size(count: int) -> str:
    unit = min((count.bit_length() - 1) // 10, len(_UNITS) - 1) if count else 0
    size = count / 1024**unit
    return f"{int(size)}{_UNITS[unit]}" if size == int(size) else f"{size:.1f}{_UNITS[unit]}"
