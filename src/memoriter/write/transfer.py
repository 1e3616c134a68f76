"""Whole tenants as JSON lines: export and load keep ids, numbers, times, digests and links.

First line: what this is, and where the log stands. Then one line per row, in sequence. Last line:
how many lines, and the SHA-256 over all of them; a file without it was cut short and is refused
whole.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, cast, get_type_hints

from memoriter.core.canonical import canonical
from memoriter.core.errors import BadRecord, Corrupt
from memoriter.core.names import name as name_of
from memoriter.core.record import decode
from memoriter.core.words import RecordWords
from memoriter.index.tenant import texts_of
from memoriter.store import rows as kinds
from memoriter.store.io_errors import os_errors
from memoriter.store.port import Dump, Head
from memoriter.store.verify import entry_digests, verify_log
from memoriter.text.port import Analyzer

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
    """The tenant as lines, each ending in a line feed."""
    count, running = 0, hashlib.sha256()
    for line in _lines(tenant, dump):
        spelled = canonical(line) + b"\n"
        count += 1
        running.update(spelled)
        yield spelled
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
    """Write lines to a file, whole or not at all; how many they were."""
    part = target.with_name(target.name + ".part")
    count = 0
    with os_errors(target):
        try:
            with part.open("wb") as out:
                for line in lines:
                    out.write(line)
                    count += 1
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    return count


def read_export(path: Path, analyzer: Analyzer, tenant: str) -> Dump:
    """An export, checked line by line, digest by digest and link by link."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise BadRecord(f"{path}: {error.strerror}", hint="check the path") from None
    head, tables, origin, ours = _read(lines, path.name)
    if origin != tenant:
        raise BadRecord(
            f"{path.name} holds tenant {origin!r}, this memory is of {tenant!r}",
            hint=f"digests cover the tenant: open the memory with tenant={origin!r}",
            field="tenant",
        )
    dump = Dump(head, **tables)
    if not ours:
        dump = _sealed_anew(tenant, dump)
    verify_log(tenant, dump)
    dump.words.extend(_analysed(tenant, dump, analyzer))
    return dump


def _sealed_anew(tenant: str, dump: Dump) -> Dump:
    """The same rows under our own digests and links.

    An export of the project's earlier name is whole by its SHA-256, but its digests were made with
    that name. What a tombstone says is gone keeps the digest that it had.
    """
    made, link, chain = entry_digests(tenant, dump), kinds.genesis(tenant), list[kinds.ChainRow]()
    for entry in dump.chain:
        kind, mark = made.get(entry.seq, (entry.kind, entry.digest))
        link = kinds.next_link(link, entry.seq, kind, mark)
        chain.append(kinds.ChainRow(entry.seq, kind, mark, link))
    head = replace(dump.head, link=link) if chain else dump.head
    return replace(dump, head=head, chain=chain)


def _read(lines: list[bytes], name: str) -> tuple[Head, dict[str, Any], str, bool]:
    """Head, rows, tenant, and whether its digests are made with this project's name."""
    try:
        first, *middle, last = [json.loads(line) for line in lines]
        sound = last["end"] == len(lines) - 1
        sound = sound and last["sha256"] == hashlib.sha256(b"".join(lines[:-1])).hexdigest()
        ((program, version),) = [p for p in first.items() if p[0] not in ("head", "tenant")]
        if version != FORMAT:
            raise Corrupt(f"{name} has export format {version}, this version reads {FORMAT}")
        tables: dict[str, list[Any]] = {table: [] for table in _TABLES}
        for line in middle:
            ((table, row),) = line.items()
            tables[table].append(
                _TABLES[table](**{k: _rich(v, _TYPES[table][k]) for k, v in row.items()})
            )
        told = get_type_hints(Head)
        head = Head(**{key: _rich(value, told[key]) for key, value in first["head"].items()})
        origin = name_of(first["tenant"], "tenant", BadRecord)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Corrupt(f"{name} is not a whole export: {error}", hint="export again") from None
    if not sound:
        raise Corrupt(
            f"{name} does not match its checksum", hint="export again, or fetch the file again"
        )
    return head, tables, origin, program == PROGRAM


def _rich(value: Any, kind: type) -> Any:
    """What `_plain` spelled; any value of another type than its column's is refused."""
    if kind is bytes and isinstance(value, str) and value.startswith(_BINARY):
        return base64.b64decode(value[len(_BINARY) :], validate=True)
    fits = type(value) is kind
    if not fits or (isinstance(value, int) and not -(2**63) <= value < 2**63):
        raise ValueError(f"{value!r} is not of type {kind.__name__}")
    return value


def _analysed(tenant: str, dump: Dump, analyzer: Analyzer) -> Iterator[kinds.WordsRow]:
    """The words of every record, made anew."""
    for row in dump.records:
        record = decode(row.body, row.row, row.position, row.committed)
        words: RecordWords = analyzer.analyse(texts_of(record))
        body = words.encode()
        guard = kinds.words_sum(tenant, row.row, analyzer.fingerprint, body)
        yield kinds.WordsRow(row.row, analyzer.fingerprint, body, guard)
