"""`InputFile`: a file or folder to import, its kind by content, and its values one by one.

Lines are streamed, so a file of lines may have any size. A file that is one JSON value is read
whole and is limited to half a gigabyte.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeGuard

from memoriter.core.errors import InputError, NotFound
from memoriter.core.shown import named, plain, shown
from memoriter.core.strict_json import no_number, unique_keys

HEAD: Final = 64 * 1024
"""So many bytes decide what kind of file it is."""
LINE_LIMIT: Final = 64 * 1024 * 1024
"""A longer line cannot be a valid record, and is not held in memory."""
DOCUMENT_LIMIT: Final = 512 * 1024 * 1024
SAMPLE: Final = 20
"""So many values of a file decide which format it has."""
_CHUNK: Final = 1024 * 1024
_SQLITE: Final = b"SQLite format 3\0"
_LINES: Final = frozenset({".jsonl", ".ndjson"})
_DOCUMENTS: Final = frozenset({".json", *_LINES})
MARKDOWN: Final = frozenset({".md", ".markdown"})
FileKind = Literal["folder", "sqlite", "binary", "document", "lines", "text"]
JSON: Final[frozenset[FileKind]] = frozenset({"document", "lines"})
"""Kinds of files that hold JSON values."""
LINES: Final[frozenset[FileKind]] = frozenset({"text", "lines"})
"""Kinds of files that are read line by line."""
NOTES: Final[frozenset[FileKind]] = frozenset({"folder", "text"})
"""Kinds of files that may be notes."""


class BadRow(NamedTuple):
    """A row that cannot be imported, and why."""

    where: str
    reason: str
    hint: str = ""

    def __repr__(self) -> str:
        return shown(f"BadRow {named(self.where)}", plain(self.reason))


class Value(NamedTuple):
    """One JSON value and its place in the file."""

    where: str
    value: Any


class Line(NamedTuple):
    """One line of text that is not blank, and its place in the file."""

    where: str
    text: str


class InputFile:
    """A file or folder. No file handle stays open between calls.

    Raises `NotFound` if there is none, `InputError` if it is empty or cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name or str(path)
        try:
            mode = path.stat().st_mode
            self.is_folder = stat.S_ISDIR(mode)
            if not (self.is_folder or stat.S_ISREG(mode)):
                raise InputError(
                    f"{path} is neither a file nor a folder",
                    hint="write its content to a file first",
                )
            self.head = b"" if self.is_folder else _head(path)
            self.size = 0 if self.is_folder else path.stat().st_size
        except FileNotFoundError:
            raise NotFound(f"there is no file {path}", hint="check the path") from None
        except (OSError, ValueError) as error:
            raise _unread(path, error) from None
        blank = not self.head.removeprefix(b"\xef\xbb\xbf").strip()
        if blank and not self.is_folder and self.size <= HEAD:
            raise InputError(f"{path} is empty", hint="name a file that is not empty")

    @cached_property
    def kind(self) -> FileKind:
        """The kind of file by its first bytes; the suffix decides only if they are ambiguous."""
        begun = self.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        suffix = self.path.suffix.lower()
        if self.is_folder:
            return "folder"
        if self.head.startswith(_SQLITE):
            return "sqlite"
        if b"\0" in self.head:
            return "binary"
        if suffix in _LINES:  # by name, so that a bad first line is reported as a bad row
            return "lines"
        if suffix in MARKDOWN or begun[:1] not in (b"{", b"[", b'"'):
            return "text" if suffix != ".json" else "lines"
        return self._json(begun, suffix)

    def _json(self, begun: bytes, suffix: str) -> FileKind:
        """The kind of a file that begins like JSON: a value per line, one value, or neither."""
        # `{"a": 1}` alone on its line is JSON lines, `{` followed by more lines is one document.
        first = next(self.lines(), None)
        if isinstance(first, Line) and not begun.startswith(b"["):
            try:
                parse_json_line(first.text)
            except ValueError:
                pass
            else:
                return "lines"
        if suffix in _DOCUMENTS or begun.startswith(b"{"):
            return "document"
        try:
            return "document" if self.document is not None else "text"
        except InputError:
            return "text"

    @cached_property
    def document(self) -> Any:
        """The file as one JSON value; NaN and infinities become None. Raises `InputError`."""
        if self.size > DOCUMENT_LIMIT:
            raise InputError(
                f"{self.path}: has {self.size:,} bytes, too large to be read whole as JSON",
                hint="write it as JSON lines, one object per line; such a file may have any size",
            )
        try:
            return json.loads(self.text, parse_constant=_absent, object_pairs_hook=unique_keys)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{self.path} is not complete JSON ({_reason(error)})",
                hint="export the file again, if possible as JSON lines: then a bad line is skipped"
                " and all others are read",
            ) from None

    @cached_property
    def text(self) -> str:
        """The whole text."""
        return read_text(self.path)

    def lines(self) -> Iterator[Line | BadRow]:
        """Every line that is not blank; one that is not UTF-8 or too long is a `BadRow`."""
        try:
            with self.path.open("rb") as file:
                for number, raw in enumerate(iter(partial(file.readline, LINE_LIMIT + 1), b""), 1):
                    where = f"{self.name}:{number}"
                    if len(raw) > LINE_LIMIT:  # skip the rest of the line in small pieces
                        while raw and not raw.endswith(b"\n"):
                            raw = file.readline(_CHUNK)  # noqa: PLW2901  # the rest of the same line
                        yield BadRow(where, f"a line of more than {LINE_LIMIT >> 20} MB", _SPLIT)
                    else:
                        yield from _line(where, raw)
        except OSError as error:
            raise _unread(self.path, error) from None

    def values(self) -> Iterator[Value | BadRow]:
        """Every JSON value: one per line, or the one of the document."""
        if self.kind == "document":
            yield Value(self.name, self.document)
            return
        for line in self.lines():
            if isinstance(line, BadRow):
                yield line
                continue
            try:
                yield Value(line.where, parse_json_line(line.text))
            except ValueError as error:
                yield BadRow(line.where, f"not JSON: {error}", "a line must be one JSON value")

    @cached_property
    def sample(self) -> list[Any]:
        """The first values of a JSON file; of a document that is a list, its first items."""
        if self.kind == "document":
            listed = is_list(self.document)
            return self.document[:SAMPLE] if listed else [self.document]
        if self.kind != "lines":
            return []
        seen = islice(self.values(), SAMPLE)  # reads no more of the file than that
        return [one.value for one in seen if isinstance(one, Value)]

    def count(self) -> int | None:
        """The number of lines; None if the file is not read by lines."""
        if self.kind not in ("lines", "text"):
            return None
        try:
            with self.path.open("rb") as file:
                ends, last = 0, b"\n"
                for chunk in iter(partial(file.read, _CHUNK), b""):
                    ends, last = ends + chunk.count(b"\n"), chunk[-1:]
                return ends + (last != b"\n")
        except OSError as error:
            raise _unread(self.path, error) from None


_SPLIT: Final = "split it: a text may have 16 million characters"


def _line(where: str, raw: bytes) -> Iterator[Line | BadRow]:
    """The line, unless it is blank; only the first may begin with a byte order mark."""
    try:
        text = raw.decode("utf-8-sig" if where.endswith(":1") else "utf-8").strip()
    except UnicodeDecodeError as bad:
        yield BadRow(where, f"is not UTF-8 (byte {bad.start})", "convert the file to UTF-8")
    else:
        if text:
            yield Line(where, text)


def read_text(path: Path) -> str:
    """The whole text of a file. Raises `InputError` if it is not UTF-8 or cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as bad:
        raise InputError(
            f"{path}: is not UTF-8 (byte {bad.start})", hint="convert it to UTF-8 first"
        ) from None
    except OSError as error:
        raise _unread(path, error) from None


def parse_json_line(text: str) -> Any:
    """The JSON value of one line. Raises `ValueError`, also for NaN and deep nesting."""
    try:
        return json.loads(text, parse_constant=no_number, object_pairs_hook=unique_keys)
    except RecursionError as error:
        raise ValueError(_reason(error)) from None


def rows_of_value(value: Any, *lists: str) -> Iterator[Any]:
    """The rows of a JSON value: the items of a list or of the first named list in it, else itself.

    The named lists may be below `result`, as in an answer of JSON-RPC.
    """
    if is_list(value):
        yield from value
        return
    inner = value.get("result", value) if is_object(value) else value
    for name in lists:
        if is_object(inner) and is_list(inner.get(name)):
            yield from inner[name]
            return
    yield value


def read_rows(source: InputFile, *lists: str) -> Iterator[Value | BadRow]:
    """The rows of all values of a file, each with its place."""
    for item in source.values():
        if isinstance(item, BadRow):
            yield item
            continue
        for nth, row in enumerate(rows_of_value(item.value, *lists)):
            alone = row is item.value
            yield Value(item.where if alone else f"{item.where}[{nth}]", row)


def sample_objects(source: InputFile, *lists: str) -> list[dict[str, Any]]:
    """The objects among the first rows, to recognise a format by."""
    some = (row for value in source.sample for row in islice(rows_of_value(value, *lists), SAMPLE))
    return [row for row in some if is_object(row)]


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD)


def _unread(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(f"{path}: {reason}", hint="check the path and its permissions")


def _reason(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _absent(_: str) -> None:
    """None for NaN and infinity: other programs write them, JSON does not have them."""


# -- the shape of a JSON value ---------------------------------------------------------------------


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether the value is a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether the value is a JSON list."""
    return isinstance(value, list)


def object_or_empty(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty object."""
    return value if is_object(value) else {}


def list_or_empty(value: object) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return value if is_list(value) else []
