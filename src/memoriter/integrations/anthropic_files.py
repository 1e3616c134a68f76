"""The files and folders of Anthropic's memory tool as records of a memory."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any, Final

from anthropic.tools import ToolError

from memoriter.core.record import Record
from memoriter.integrations.answers import every_record
from memoriter.integrations.anthropic_texts import ROOT
from memoriter.memory.facade import Memory

FILE: Final = "memory-file"
FOLDER: Final = "memory-folder"
_BLANK: Final = "blank"
"""Metadata of a file without words, which a record cannot have as its text."""


class MemoryFiles:
    """Files by their path, which is the `source.path` of their record."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def at(self, path: str) -> Record | None:
        """The file or folder at a path; None if there is none."""
        records = every_record(self.memory, where={"source.path": path})
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
            raise ToolError(f"The path {shown} does not exist. Please provide a valid path.")
        return record

    def below(self, path: str) -> Iterator[Record]:
        """The file or folder at a path, and all below it."""
        for record in every_record(self.memory, where={"kind": {"in": [FILE, FOLDER]}}):
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
        self.memory.remember(path, kind=FOLDER, source={"path": path}, archived=True)

    def make(self, path: str, content: str) -> None:
        """Write a new file."""
        self.memory.remember(**_as_fields(content, path), kind=FILE, source={"path": path})

    def write(self, record: Record, content: str) -> None:
        """Write a new version of a file."""
        self.memory.update(record.id, **_as_fields(content, str(record.source.path)))

    def forget(self, path: str) -> int:
        """Forget what is at a path and below it; returns how many files and folders."""
        gone = [record.id for record in self.below(path)]
        if gone:
            self.memory.forget(gone)
        return len(gone)


def file_text(record: Record) -> str:
    """The content of a file."""
    return str(record.metadata.get(_BLANK, record.text))


def _as_fields(content: str, path: str) -> dict[str, Any]:
    if content.strip():
        return {"text": content, "metadata": {}}
    return {"text": path, "metadata": {_BLANK: content}}
