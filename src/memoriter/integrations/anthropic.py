"""The memory tool of Anthropic's API: `MemoriterMemoryTool(memory)` keeps its files as records.

A file is a record with its path in `source.path`: an edit is a new version, a renamed file keeps
its history, a deleted one is forgotten. Replies are those of the local file tool of the same
package, word by word. What the model wrote can be recalled by meaning: `tool.recall("…")`.
"""

from __future__ import annotations

import posixpath
from typing import Any

from anthropic.tools import BetaAbstractMemoryTool, ToolError

from memoriter.core.errors import MemoriterError
from memoriter.integrations.anthropic_files import FILE, FOLDER, MemoryFiles, file_text
from memoriter.integrations.anthropic_texts import (
    ROOT,
    checked_path,
    inserted,
    replaced,
    shown_file,
    shown_folder,
)
from memoriter.memory.facade import Memory
from memoriter.why.result import Result


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

    def recall(self, query: str, limit: int | None = None) -> Result:
        """The files that answer a question, best first, and why."""
        return self._files.memory.recall(query, limit, where={"kind": FILE})

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
        if self._files.is_folder(path) or self._files.at(path) is not None:
            raise ToolError(f"File {command.path} already exists")
        self._files.make(path, command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        """Replace a text that occurs once."""
        record = self._files.file(checked_path(command.path), command.path, "is not a file.")
        edited, reply = replaced(file_text(record), command.old_str, command.new_str, command.path)
        self._files.write(record, edited)
        return reply

    def insert(self, command: Any) -> str:
        """Insert lines after a line."""
        record = self._files.file(checked_path(command.path), command.path, "is not a file.")
        self._files.write(
            record, inserted(file_text(record), command.insert_line, command.insert_text)
        )
        return f"The file {command.path} has been edited."

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
        for record in moved:
            place = new + str(record.source.path)[len(old) :]
            self._files.memory.update(record.id, source={"path": place})
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Forget every file of the tool, and nothing else."""
        self._files.forget(ROOT)
        return "All memory cleared"
