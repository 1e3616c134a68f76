"""The memory tool of Anthropic's API: `MemoriterMemoryTool(memory)` keeps its files as records.

A file is a record with its path in `source.path`: an edit is a new version, a renamed file keeps
its history, a deleted one is forgotten. Replies are those of the local file tool of the same
package, word by word. What the model wrote can be recalled by meaning: `tool.recall("…")`.
"""

from __future__ import annotations

import asyncio
import itertools
import posixpath
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from memoriter.core.errors import Conflict, MemoriterError
from memoriter.core.record import Record
from memoriter.core.similar import TOOL_ROLE
from memoriter.integrations.answers import adapter_id, every_record, recalled
from memoriter.memory.facade import Memory
from memoriter.memory.rewriting import forget_records, write_records
from memoriter.why.hit import Hit


class MemoriterMemoryTool(BetaAbstractMemoryTool):
    """Files of the memory tool in a memory; tenant and scope are those of the memory."""

    def __init__(self, memory: Memory, **options: Any) -> None:
        super().__init__(**options)
        self._files = MemoryFiles(memory)

    def execute(self, command: Any) -> Any:
        """Run a command; what the memory refuses is an error of the tool, which the model reads."""
        try:
            return super().execute(command)
        except MemoriterError as error:
            raise ToolError(error.message) from None

    def recall(self, query: str, limit: int | None = None) -> Sequence[Hit]:
        """The files that answer a question, best first, and why; each copy of a file too."""
        answer = recalled(self._files.memory, query, limit, where={"kind": FILE, **_OWN})
        return () if answer is None else answer

    def view(self, command: Any) -> str:
        """A file with line numbers, or what is in a folder."""
        path = checked_path(command.path)
        if not self._files.is_folder(path):
            content = file_text(self._files.file(path, command.path))
            return shown_file(content, command.path, command.view_range)
        inside: dict[tuple[str, ...], int | None] = {}
        for record in self._files.below(path):
            parts = tuple(filter(None, str(record.source.path)[len(path) :].split("/")))
            if 1 <= len(parts) <= 2 and not any(part.startswith(".") for part in parts):  # noqa: PLR2004  # levels
                folder = record.kind == FOLDER
                inside[parts] = None if folder else len(file_text(record).encode())
        return shown_folder(command.path, inside)

    def create(self, command: Any) -> str:
        """A new file; its folders are made."""
        path = checked_path(command.path)
        self._files.make_folders(posixpath.dirname(path))
        if path == ROOT or not self._files.make(path, FILE, _as_fields(command.file_text, path)):
            raise ToolError(f"File {command.path} already exists")
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        """Replace a text that occurs once."""
        return self._files.edit(
            command.path,
            lambda text: replaced(text, command.old_str, command.new_str, command.path),
        )

    def insert(self, command: Any) -> str:
        """Insert lines after a line."""
        reply = f"The file {command.path} has been edited."
        return self._files.edit(
            command.path,
            lambda text: (inserted(text, command.insert_line, command.insert_text), reply),
        )

    def delete(self, command: Any) -> str:
        """Forget a file, or a folder and what is in it."""
        path = checked_path(command.path)
        if path == ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        if not self._files.forget(path):
            raise ToolError(f"The path {command.path} does not exist")
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        """Move a file or a folder; each file keeps its history."""
        old, new = checked_path(command.old_path), checked_path(command.new_path)
        if old == ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        if self._files.is_folder(new) or self._files.at(new) is not None:
            raise ToolError(f"The destination {command.new_path} already exists")
        moved = list(self._files.below(old))
        inside = self._files.at(posixpath.dirname(new))
        if moved or inside is None or inside.kind == FOLDER:
            self._files.make_folders(posixpath.dirname(new))
        if not moved:
            raise ToolError(f"The path {command.old_path} does not exist")
        if new.startswith(f"{old}/"):
            raise ToolError(f"The path {command.old_path} cannot be moved into itself")
        self._files.move([record.id for record in moved], old, new)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Forget every file of the tool, and nothing else."""
        self._files.forget(ROOT)
        return "All memory cleared"


class MemoriterAsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same tool for `AsyncAnthropic`; each command runs in a thread."""

    def __init__(self, memory: Memory, **options: Any) -> None:
        super().__init__(**options)
        self._tool = MemoriterMemoryTool(memory)

    async def execute(self, command: Any) -> Any:
        """Run a command; what the memory refuses is an error of the tool, which the model reads."""
        return await asyncio.to_thread(self._tool.execute, command)

    view = create = str_replace = insert = delete = rename = execute

    async def recall(self, query: str, limit: int | None = None) -> Sequence[Hit]:
        """The files that answer a question, best first, and why."""
        return await asyncio.to_thread(self._tool.recall, query, limit)

    async def clear_all_memory(self) -> str:
        """Forget every file of the tool, and nothing else."""
        return await asyncio.to_thread(self._tool.clear_all_memory)


# --- files and folders as records -------------------------------------------------------------

FILE: Final = "memory-file"
FOLDER: Final = "memory-folder"
_OWN: Final = {"role": TOOL_ROLE}
"""What tells the tool's records from others of the same kind and path."""
_BLANK: Final = "blank"
"""Metadata of a file without words, which a record cannot have as its text."""


class MemoryFiles:
    """Files by their path, which is the `source.path` of their record."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def at(self, path: str) -> Record | None:
        """The file or folder at a path; None if there is none."""
        records = every_record(self.memory, where={"source.path": path, **_OWN})
        return next((each for each in records if each.kind in (FILE, FOLDER)), None)

    def is_folder(self, path: str) -> bool:
        """Whether a folder is there; the root always is."""
        record = None if path == ROOT else self.at(path)
        return path == ROOT or (record is not None and record.kind == FOLDER)

    def file(self, path: str, shown: str, folder: str = "") -> Record:
        """The file at a path; raises ToolError if there is none, with `folder` if it is one."""
        if self.is_folder(path):
            raise ToolError(f"The path {shown} {folder}")
        record = self.at(path)
        if record is None:
            raise _missing(shown)
        return record

    def below(self, path: str) -> Iterator[Record]:
        """The file or folder at a path, and all below it."""
        for record in every_record(self.memory, where={"kind": {"in": [FILE, FOLDER]}, **_OWN}):
            if f"{record.source.path}/".startswith(f"{path}/"):
                yield record

    def make_folders(self, path: str) -> None:
        """Make a folder, and those that it is in."""
        if len(path) < len(ROOT) or self.is_folder(path):
            return
        self.make_folders(posixpath.dirname(path))
        if self.at(path) is not None:
            raise ToolError(f"The path {path} is not a directory")
        # Kept out of recalls: a folder says nothing.
        self.make(path, FOLDER, {"text": path, "archived": True})

    def make(self, path: str, kind: str, fields: dict[str, Any]) -> bool:
        """Write a new file or folder; False if there is one at its path.

        Its id is made of the path and a number, the first that no record has (one that was renamed
        keeps its id). So of several writers of a path only one succeeds.
        """
        if self.at(path) is not None:
            return False
        for n in itertools.count():
            id = adapter_id(self.memory, "memory-path", path, n)
            try:
                self.memory.remember(**fields, **_OWN, id=id, kind=kind, source={"path": path})
            except Conflict:
                if self.at(path) is not None:
                    return False
            else:
                return True
        raise AssertionError("unreachable")

    def edit(self, shown: str, change: Callable[[str], tuple[str, str]]) -> str:
        """Write a new version of a file, by a function from its content to (the new one, reply).

        It is called again if another writer was faster, with what that one wrote.
        """
        path, replies = checked_path(shown), [""]

        def edited(id: str, record: Record | None) -> dict[str, Any]:
            del id
            if record is None or record.source.path != path:  # deleted or renamed meanwhile
                raise _missing(shown)
            content, replies[0] = change(file_text(record))
            fields = _as_fields(content, path)
            others = {key: each for key, each in record.metadata.items() if key != _BLANK}
            return {**fields, "metadata": {**others, **fields["metadata"]}}

        write_records(self.memory, [self.file(path, shown, "is not a file.").id], edited)
        return replies[0]

    def move(self, ids: list[str], old: str, new: str) -> None:
        """Give records below a path another one, all of them or none."""

        def moved(id: str, record: Record | None) -> dict[str, Any]:
            del id
            if record is None or not f"{record.source.path}/".startswith(f"{old}/"):
                raise ToolError(f"The path {old} was changed by another writer. Please try again.")
            return {"source": {"path": new + str(record.source.path)[len(old) :]}}

        write_records(self.memory, ids, moved)

    def forget(self, path: str) -> int:
        """Forget what is at a path and below it; returns how many files and folders."""
        gone = [record.id for record in self.below(path)]
        forget_records(self.memory, gone)
        return len(gone)


def _missing(shown: str) -> ToolError:
    return ToolError(f"The path {shown} does not exist. Please provide a valid path.")


def file_text(record: Record) -> str:
    """The content of a file."""
    return str(record.metadata.get(_BLANK, record.text))


def _as_fields(content: str, path: str) -> dict[str, Any]:
    if content.strip():
        return {"text": content, "metadata": {}}
    return {"text": path, "metadata": {_BLANK: content}}


# --- paths, edits and replies, word by word ---------------------------------------------------

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
