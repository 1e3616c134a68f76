"""The memory tool of Anthropic's API: `MemoriterMemoryTool(memory)` keeps its files as records.

A file is a record with its path in `source.path`: an edit is a new version, a renamed file keeps
its history, a deleted one is forgotten. Replies are those of the local file tool of the same
package, word by word. What the model wrote can be recalled by meaning: `tool.recall("…")`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any, Final

from anthropic.tools import BetaAbstractMemoryTool, ToolError

from memoriter.core.record import Record
from memoriter.integrations.answers import every_record
from memoriter.memory.facade import Memory
from memoriter.why.result import Result

FILE: Final = "memory-file"
FOLDER: Final = "memory-folder"
_ROOT: Final = "/memories"
_LINES: Final = 999_999
_WIDTH: Final = 6
_UNITS: Final = "BKMG"
_FOLDER_SIZE: Final = 4096
"""A folder is listed with the size that it has on most disks."""
_BLANK: Final = "blank"
"""Metadata of a file without words, which a record cannot have as its text."""


class MemoriterMemoryTool(BetaAbstractMemoryTool):
    """Files of the memory tool in a memory; tenant and scope are those of the memory."""

    def __init__(self, memory: Memory, **options: Any) -> None:
        super().__init__(**options)
        self._memory = memory

    def recall(self, query: str, limit: int | None = None) -> Result:
        """The files that answer a question, best first, and why."""
        return self._memory.recall(query, limit, where={"kind": FILE})

    def view(self, command: Any) -> str:
        """A file with line numbers, or what is in a folder."""
        path = _checked(command.path)
        if self._is_folder(path):
            return self._listed(path, command.path)
        lines = _content(self._file(path, command.path)).split("\n")
        if len(lines) > _LINES:
            raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
        first, span = 0, command.view_range
        if span and len(span) == 2:  # noqa: PLR2004  # first and last line
            first = max(1, span[0]) - 1
            lines = lines[first : len(lines) if span[1] == -1 else span[1]]
        return f"Here's the content of {command.path} with line numbers:\n" + _numbered(
            lines, first
        )

    def create(self, command: Any) -> str:
        """A new file; its folders are made."""
        path = _checked(command.path)
        self._make_folders(posixpath.dirname(path))
        if self._is_folder(path) or self._at(path) is not None:
            raise ToolError(f"File {command.path} already exists")
        fields = _as_fields(command.file_text, path)
        self._memory.remember(**fields, kind=FILE, source={"path": path})
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        """Replace a text that occurs once."""
        record = self._file(_checked(command.path), command.path, "is not a file.")
        content, old = _content(record), command.old_str
        places = list(_places(content, old)) if content.count(old) > 1 else []
        if places:
            lines = ", ".join(str(content[:at].count("\n") + 1) for at in places)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{lines}. Please ensure it is unique"
            )
        if old not in content:
            raise ToolError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in "
                f"{command.path}."
            )
        changed = content[: content.find(old)].count("\n")
        new = content.replace(old, command.new_str)
        self._write(record, new)
        lines_now, first = new.split("\n"), max(0, changed - 2)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line "
            f"numbers):\n{_numbered(lines_now[first : changed + 3], first)}"
        )

    def insert(self, command: Any) -> str:
        """Insert lines after a line."""
        record = self._file(_checked(command.path), command.path, "is not a file.")
        lines = _content(record).split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        new = "\n".join(lines)
        self._write(record, new if new.endswith("\n") else f"{new}\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:
        """Forget a file, or a folder and what is in it."""
        path = _checked(command.path)
        if path == _ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        gone = list(self._below(path))
        if not gone:
            raise ToolError(f"The path {command.path} does not exist")
        self._memory.forget([record.id for record in gone])
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        """Move a file or a folder; each file keeps its history."""
        old, new = _checked(command.old_path), _checked(command.new_path)
        if old == _ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        if self._is_folder(new) or self._at(new) is not None:
            raise ToolError(f"The destination {command.new_path} already exists")
        moved = list(self._below(old))
        inside = self._at(posixpath.dirname(new))
        if moved or inside is None or inside.kind == FOLDER:
            self._make_folders(posixpath.dirname(new))
        if not moved:
            raise ToolError(f"The path {command.old_path} does not exist")
        if new.startswith(f"{old}/"):
            raise ToolError(f"The path {command.old_path} cannot be moved into itself")
        for record in moved:
            place = new + str(record.source.path)[len(old) :]
            self._memory.update(record.id, source={"path": place})
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Forget every file of the tool, and nothing else."""
        gone = [record.id for record in self._below(_ROOT)]
        if gone:
            self._memory.forget(gone)
        return "All memory cleared"

    # -- files and folders --------------------------------------------------------------------

    def _at(self, path: str) -> Record | None:
        records = every_record(self._memory, where={"source.path": path})
        return next((each for each in records if each.kind in (FILE, FOLDER)), None)

    def _is_folder(self, path: str) -> bool:
        record = None if path == _ROOT else self._at(path)
        return path == _ROOT or (record is not None and record.kind == FOLDER)

    def _file(self, path: str, shown: str, folder: str = "") -> Record:
        if self._is_folder(path):
            raise ToolError(f"The path {shown} {folder}")
        record = self._at(path)
        if record is None:
            raise ToolError(f"The path {shown} does not exist. Please provide a valid path.")
        return record

    def _below(self, path: str) -> Iterator[Record]:
        """The file or folder at a path, and all below it."""
        records = every_record(self._memory, where={"kind": {"in": [FILE, FOLDER]}})
        for record in records:
            place = str(record.source.path)
            if place == path or place.startswith(f"{path}/"):
                yield record

    def _make_folders(self, path: str) -> None:
        if len(path) < len(_ROOT) or self._is_folder(path):
            return
        self._make_folders(posixpath.dirname(path))
        if self._at(path) is not None:
            raise ToolError(f"The path {path} is not a directory")
        # Kept out of recalls: a folder says nothing.
        self._memory.remember(path, kind=FOLDER, source={"path": path}, archived=True)

    def _write(self, record: Record, content: str) -> None:
        self._memory.update(record.id, **_as_fields(content, str(record.source.path)))

    def _listed(self, path: str, shown: str) -> str:
        inside: dict[tuple[str, ...], Record] = {}
        for record in self._below(path):
            parts = tuple(filter(None, str(record.source.path)[len(path) :].split("/")))
            if 1 <= len(parts) <= 2 and not any(part.startswith(".") for part in parts):  # noqa: PLR2004  # levels
                inside[parts] = record
        lines = [f"{_size(_FOLDER_SIZE)}\t{shown}"]
        for parts, record in sorted(inside.items()):
            folder = record.kind == FOLDER
            size = _FOLDER_SIZE if folder else len(_content(record).encode())
            lines.append(f"{_size(size)}\t{shown}/{'/'.join(parts)}{'/' if folder else ''}")
        head = f"Here're the files and directories up to 2 levels deep in {shown}"
        return f"{head}, excluding hidden items:\n" + "\n".join(lines)


def _checked(path: str) -> str:
    """The path without `.` and `..`; raises ToolError if it leaves the folder of memories."""
    if not path.startswith(_ROOT):
        raise ToolError(f"Path must start with /memories, got: {path}")
    clean = posixpath.normpath(f"{_ROOT}/{path[len(_ROOT) :].lstrip('/')}")
    if clean != _ROOT and not clean.startswith(f"{_ROOT}/"):
        raise ToolError(f"Path {path} would escape /memories directory")
    return clean


def _as_fields(content: str, path: str) -> dict[str, Any]:
    if content.strip():
        return {"text": content, "metadata": {}}
    return {"text": path, "metadata": {_BLANK: content}}


def _content(record: Record) -> str:
    return str(record.metadata.get(_BLANK, record.text))


def _places(content: str, old: str) -> Iterator[int]:
    at = content.find(old)
    while at >= 0:
        yield at
        at = content.find(old, at + 1)


def _numbered(lines: list[str], before: int) -> str:
    return "\n".join(f"{str(n).rjust(_WIDTH)}\t{line}" for n, line in enumerate(lines, before + 1))


def _size(count: int) -> str:
    unit = min((count.bit_length() - 1) // 10, len(_UNITS) - 1) if count else 0
    size = count / 1024**unit
    return f"{int(size)}{_UNITS[unit]}" if size == int(size) else f"{size:.1f}{_UNITS[unit]}"
