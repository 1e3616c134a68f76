"""Exports and loads whole tenants as JSON lines, with ids, sequence numbers, times and digests.

The first line has the format, the tenant and the head of the log. Then follows one line per row.
The last line has the number of lines and the SHA-256 over all of them; a file without it is
truncated and is refused as a whole.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, cast, get_type_hints

from memoriter.core.canonical import canonical
from memoriter.core.errors import BadRecord, Corrupt
from memoriter.core.names import name as name_of
from memoriter.core.private_file import replacing
from memoriter.core.strict_json import strict_json
from memoriter.store import rows as kinds
from memoriter.store.io_errors import os_errors
from memoriter.store.port import Dump, Head
from memoriter.store.verify import entry_digests, verify_log

FORMAT: Final = 1
PROGRAM: Final = "memoriter"
_TABLES: Final[dict[str, Callable[..., Any]]] = {
    "commits": kinds.CommitRow,
    "chain": kinds.ChainRow,
    "records": kinds.RecordRow,
    "vectors": kinds.VectorRow,
    "mentions": kinds.MentionRow,
    "edges": kinds.EdgeRow,
    "agents": kinds.AgentRow,
    "tombs": kinds.TombRow,
    "keys": kinds.KeyRow,
    "debts": kinds.DebtRow,
}
_TYPES: Final = {table: get_type_hints(row) for table, row in _TABLES.items()}
_BINARY: Final = "b64:"


def export_lines(tenant: str, dump: Dump) -> Iterator[bytes]:
    """The lines of an export, each ending in a line feed."""
    count, running = 0, hashlib.sha256()
    for line in _lines(tenant, dump):
        encoded = canonical(line) + b"\n"
        count += 1
        running.update(encoded)
        yield encoded
    yield canonical({"end": count, "sha256": running.hexdigest()}) + b"\n"


def _lines(tenant: str, dump: Dump) -> Iterator[dict[str, object]]:
    head = {key: _plain(value) for key, value in asdict(dump.head).items() if key != "published"}
    yield {PROGRAM: FORMAT, "tenant": tenant, "head": head}
    for table in _TABLES:
        for row in cast("Sequence[Any]", getattr(dump, table)):
            yield {table: {key: _plain(value) for key, value in row._asdict().items()}}


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


def read_dump(path: Path, tenant: str) -> Dump:
    """Read an export and verify every digest and chain link.

    Raises BadRecord if the file cannot be read or is of another tenant, Corrupt if it is damaged.
    """
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise BadRecord(f"{path}: {error.strerror}", hint="check the path") from None
    export = _read(lines, path.name)
    if export.tenant != tenant:
        raise BadRecord(
            f"{path.name} holds tenant {export.tenant!r}, this memory is of {tenant!r}",
            hint=f"open the memory with tenant={export.tenant!r}: an export can be loaded only"
            " into its own tenant",
            field="tenant",
        )
    dump = Dump(export.head, **export.tables)
    if not export.current_name:
        dump = _rechained(tenant, dump)
    verify_log(tenant, dump)
    return dump


def _rechained(tenant: str, dump: Dump) -> Dump:
    """The same rows with new digests and chain links.

    Digests contain the project's name, so those of an export under its earlier name do not match;
    the SHA-256 of the file has proved that the rows are intact. Forgotten rows keep their digest,
    since their content is gone.
    """
    made, link, chain = entry_digests(tenant, dump), kinds.genesis(tenant), list[kinds.ChainRow]()
    for entry in dump.chain:
        kind, mark = made.get(entry.seq, (entry.kind, entry.digest))
        link = kinds.next_link(link, entry.seq, kind, mark)
        chain.append(kinds.ChainRow(entry.seq, kind, mark, link))
    head = replace(dump.head, link=link) if chain else dump.head
    return replace(dump, head=head, chain=chain)


class _Export(NamedTuple):
    """The parsed lines of an export."""

    head: Head
    tables: dict[str, Any]
    tenant: str
    current_name: bool
    """Whether its digests were made with the project's present name."""


def _read(lines: list[bytes], name: str) -> _Export:
    """Parse the lines of an export; raises Corrupt if they do not match their checksum."""
    try:
        first, *middle, last = [strict_json(line.decode()) for line in lines]
        sound = last["end"] == len(lines) - 1
        sound = sound and last["sha256"] == hashlib.sha256(b"".join(lines[:-1])).hexdigest()
        # The remaining key is the name of the program; an earlier name is read too.
        ((program, version),) = [p for p in first.items() if p[0] not in ("head", "tenant")]
        if version != FORMAT:
            raise Corrupt(f"{name} has export format {version}, this version reads {FORMAT}")
        tables: dict[str, list[Any]] = {table: [] for table in _TABLES}
        for line in middle:
            ((table, row),) = line.items()
            tables[table].append(
                _TABLES[table](**{k: _rich(v, _TYPES[table][k]) for k, v in row.items()})
            )
        types = get_type_hints(Head)
        head = Head(**{key: _rich(value, types[key]) for key, value in first["head"].items()})
        origin = name_of(first["tenant"], "tenant", BadRecord)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Corrupt(
            f"{name} is incomplete, or is not an export of memoriter ({error})",
            hint="copy the file again, or export the tenant again",
        ) from None
    if not sound:
        raise Corrupt(
            f"{name} does not match its checksum",
            hint="copy the file again, or export the tenant again",
        )
    return _Export(head, tables, origin, program == PROGRAM)


def _rich(value: Any, kind: type) -> Any:
    """Decode what `_plain` wrote; raises ValueError if it is not of the column's type."""
    if kind is bytes and isinstance(value, str) and value.startswith(_BINARY):
        return base64.b64decode(value[len(_BINARY) :], validate=True)
    # Exact types: True would pass for an int, and SQLite has no integers beyond 64 bits.
    fits = type(value) is kind
    if not fits or (isinstance(value, int) and not -(2**63) <= value < 2**63):
        raise ValueError(f"{value!r} is not of type {kind.__name__}")
    return value
