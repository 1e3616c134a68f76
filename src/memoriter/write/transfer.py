"""Exports and loads whole tenants as JSON lines, with ids, sequence numbers, times and digests.

The first line has the format, the tenant and the head of the log. Then follows one line per row.
The last line has the number of lines and the SHA-256 over all of them; a file without it is
truncated and is refused as a whole.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, get_type_hints

from memoriter.core.canonical import canonical
from memoriter.core.errors import BadRecord, Corrupt
from memoriter.core.names import name as name_of
from memoriter.core.private_file import replacing
from memoriter.core.strict_json import strict_json
from memoriter.store import rows as kinds
from memoriter.store.io_errors import os_errors
from memoriter.store.port import Head, TenantRows
from memoriter.store.verify import entry_digests, verify_log

FORMAT: Final = 2
"""From 2 on an embedder's vector may be in bytes (`core.batch`)."""
PROGRAM: Final = "memoriter"
_TYPES: Final = {table: get_type_hints(row) for table, row in kinds.TABLES.items()}
_BINARY: Final = "b64:"


def export_lines(tenant: str, rows: TenantRows, damage: list[str]) -> Iterator[bytes]:
    """The lines of an export, each ending in a line feed.

    What cannot be read is left out. Everything is verified before the last line, and what is found
    is added to `damage`; the last line has it too, so that a damaged export cannot be loaded.
    """
    count, running = 0, hashlib.sha256()
    for line in _lines(tenant, rows, damage):
        count += 1
        running.update(line)
        yield line
    if not damage:
        try:
            verify_log(tenant, rows)
        except Corrupt as error:
            damage.append(error.message)
    end: dict[str, object] = {"end": count, "sha256": running.hexdigest()}
    yield canonical({**end, "damaged": damage} if damage else end) + b"\n"


def _lines(tenant: str, rows: TenantRows, damage: list[str]) -> Iterator[bytes]:
    head = {key: _plain(value) for key, value in asdict(rows.head).items() if key != "published"}
    yield canonical({PROGRAM: FORMAT, "tenant": tenant, "head": head}) + b"\n"
    for table in kinds.TABLES:
        try:
            for row in rows.rows(table):
                plain = {key: _plain(value) for key, value in row._asdict().items()}
                yield canonical({table: plain}) + b"\n"
        except Corrupt as error:
            damage.append(error.message)


def _plain(value: object) -> object:
    return _BINARY + base64.b64encode(value).decode() if isinstance(value, bytes) else value


def write_lines(target: Path, lines: Iterable[bytes]) -> int:
    """Write lines to a file, all or none; returns how many.

    They go to a temporary file first, which is renamed at the end: a failed export leaves no file.
    """
    count = 0
    with os_errors(target), replacing(target) as out:
        for line in lines:
            out.write(line)
            count += 1
    return count


class ExportFile:
    """The rows of an export, read from the file as they are asked for: see `TenantRows`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.tenant = ""
        self.head: Head = Head()
        self.current_name = True
        """Whether its digests were made with the project's present name."""
        self.records = 0
        """How many record versions it has."""
        self.positions: set[int] = set()
        """The positions of its records: one for each record, however many versions it has."""
        self.damaged: list[str] = []
        """Always empty: the checksum of the file covers every line."""
        self._runs: list[tuple[str, int, int]] = []
        """Where lines of one table follow one another: table, first byte, end."""
        with os_errors(path), path.open("rb") as file:
            self._state = _state_of(file)
            self._index(file)

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of a table; raises Corrupt if the file has changed since it was checked."""
        with os_errors(self._path), self._path.open("rb") as file:
            if _state_of(file) != self._state:
                raise Corrupt(f"{self._path.name} was changed while it was read", hint="try again")
            for name, start, end in self._runs:
                if name == table:
                    file.seek(start)
                    while file.tell() < end:
                        yield _row_of(strict_json(file.readline().decode()))[1]

    def _index(self, file: BinaryIO) -> None:
        """Read every line once; raises Corrupt if they do not match their checksum."""
        name = self._path.name
        try:
            sound = self._read_lines(file)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Corrupt(
                f"{name} is incomplete, or is not an export of memoriter ({error})",
                hint="copy the file again, or export the tenant again",
            ) from None
        if not sound:
            raise Corrupt(
                f"{name} was changed or damaged: it does not match its checksum",
                hint="copy the file again, or export the tenant again",
            )

    def _read_lines(self, file: BinaryIO) -> bool:
        """Read what is where; returns whether the last line has the checksum of the others."""
        line, running, count = file.readline(), hashlib.sha256(), 0
        while following := file.readline():
            running.update(line)
            content = strict_json(line.decode())
            if count == 0:
                self._read_first(content)
            else:
                self._add_line(content, file.tell() - len(following), len(line))
            line, count = following, count + 1
        last = strict_json(line.decode())
        if "damaged" in last:
            raise Corrupt(
                f"{self._path.name} was written from a damaged store: {last['damaged'][0]}",
                hint="restore a backup; the lines of the file can be read by hand",
            )
        return last["end"] == count and last["sha256"] == running.hexdigest()

    def _read_first(self, first: dict[str, Any]) -> None:
        # The remaining key is the name of the program; an earlier name is read too.
        ((program, version),) = [p for p in first.items() if p[0] not in ("head", "tenant")]
        if version not in (1, FORMAT):
            raise Corrupt(
                f"{self._path.name} has export format {version}, but this version of memoriter"
                f" reads formats up to {FORMAT}",
                hint="load it with the version that wrote it, or export the tenant again",
            )
        types = get_type_hints(Head)
        self.head = Head(**{key: _rich(value, types[key]) for key, value in first["head"].items()})
        self.tenant = name_of(first["tenant"], "tenant", BadRecord)
        self.current_name = program == PROGRAM

    def _add_line(self, content: dict[str, Any], end: int, size: int) -> None:
        table, row = _row_of(content)
        if table == "records":
            self.records += 1
            self.positions.add(row.position)
        if self._runs and self._runs[-1][0] == table:
            self._runs[-1] = (table, self._runs[-1][1], end)
        else:
            self._runs.append((table, end - size, end))


def _state_of(file: BinaryIO) -> tuple[int, int, int]:
    """What changes when somebody writes to a file, or puts another in its place."""
    state = os.fstat(file.fileno())
    return state.st_ino, state.st_size, state.st_mtime_ns


def _row_of(content: dict[str, Any]) -> tuple[str, Any]:
    ((table, row),) = content.items()
    return table, kinds.TABLES[table](**{k: _rich(v, _TYPES[table][k]) for k, v in row.items()})


def read_export(path: Path, tenant: str) -> ExportFile:
    """Read an export and verify every digest and chain link; its rows are not held in memory.

    Raises BadRecord if the file cannot be read or is of another tenant, Corrupt if it is damaged.
    """
    if not path.is_file():
        raise BadRecord(f"{path}: there is no such file", hint="check the path")
    export = ExportFile(path)
    if export.tenant != tenant:
        raise BadRecord(
            f"{path.name} is an export of tenant {export.tenant!r}, but this memory is of tenant"
            f" {tenant!r}",
            hint=f"open the memory with tenant={export.tenant!r}: an export can be loaded only"
            " into its own tenant",
            field="tenant",
        )
    if not export.current_name:
        export = _Rechained(path)
    verify_log(tenant, export)
    return export


class _Rechained(ExportFile):
    """The same rows with new digests and chain links.

    Digests contain the project's name, so those of an export under its earlier name do not match;
    the SHA-256 of the file has proved that the rows are intact. Forgotten rows keep their digest,
    since their content is gone.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        for entry in self._chain():
            self.head = replace(self.head, link=entry.link)

    def rows(self, table: str) -> Iterator[Any]:
        return self._chain() if table == "chain" else super().rows(table)

    def _chain(self) -> Iterator[kinds.ChainRow]:
        made, link = entry_digests(self.tenant, self), kinds.genesis(self.tenant)
        seq, digest = next(made, (0, None))
        for entry in super().rows("chain"):
            kind, mark = entry.kind, entry.digest
            while digest is not None and seq <= entry.seq:
                kind, mark = digest if seq == entry.seq else (kind, mark)
                seq, digest = next(made, (0, None))
            link = kinds.next_link(link, entry.seq, kind, mark)
            yield kinds.ChainRow(entry.seq, kind, mark, link)


def _rich(value: Any, kind: type) -> Any:
    """Decode what `_plain` wrote; raises ValueError if it is not of the column's type."""
    if kind is bytes and isinstance(value, str) and value.startswith(_BINARY):
        return base64.b64decode(value[len(_BINARY) :], validate=True)
    # Exact types: True would pass for an int, and SQLite has no integers beyond 64 bits.
    fits = type(value) is kind
    if not fits or (isinstance(value, int) and not -(2**63) <= value < 2**63):
        raise ValueError(f"{value!r} is not of type {kind.__name__}")
    return value
