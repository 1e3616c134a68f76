"""Imports a file into a memory: new rows are written, existing ones kept, bad ones reported.

`imports/` reads the formats; this module writes the rows, for `Memory.import_file` and `load`. Each
row has an idempotency key, so that importing a file twice changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any, Final

from memoriter.core.batch import Act, Link
from memoriter.core.draft import Draft
from memoriter.core.errors import (
    BadRecord,
    Conflict,
    Forbidden,
    InputError,
    MemoriterError,
    NotFound,
)
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import flag
from memoriter.core.shown import counted, plain, quoted, shown
from memoriter.imports.port import Entry, Extracted, ImportedAgent, ImportedEdge, Lost
from memoriter.imports.source import BadRow
from memoriter.imports.table import EXPORT, Recognised, detect_format, export_first
from memoriter.memory.agents import Agents
from memoriter.memory.engine import Engine
from memoriter.store.sqlite.openers import OPENERS
from memoriter.write.ceiling import FREE
from memoriter.write.prepare import prepare
from memoriter.write.progress import ProgressCallback, show_progress
from memoriter.write.transfer import read_export
from memoriter.write.writer import BATCH, Writer

LISTED: Final = 10_000
"""How many refused rows are listed in a report; all are counted."""
_Refusal: Final = (BadRecord, Conflict, NotFound)
_CHANGED: Final = "was imported before, and has changed since"
_OTHERWISE: Final = "change the record here with update, or give the row another id"
_TWICE: Final = "an earlier row of this file has its id and says something else"


@dataclass(slots=True)
class Counts:
    """How many rows of one sort were written, existed already, or were refused."""

    written: int = 0
    already: int = 0
    refused: int = 0


@dataclass(slots=True)
class Unplaced:
    """A field that a record cannot hold: its count, an example, and where its value went."""

    field: str
    count: int
    example: str
    became: str

    def __repr__(self) -> str:
        became = f"{counted(self.count, 'time')}, {plain(self.became, 16)}"
        return shown(f"Unplaced {plain(self.field, 24)}", f"{became}, {quoted(self.example, 40)}")


@dataclass(slots=True)
class Imported:
    """The report of an import; of a dry run, what it would do."""

    path: str
    format: str
    why: str
    dry_run: bool
    read: int = 0
    records: Counts = field(default_factory=Counts)
    links: Counts = field(default_factory=Counts)
    agents: Counts = field(default_factory=Counts)
    refused: list[BadRow] = field(default_factory=list[BadRow])
    left: dict[str, Unplaced] = field(default_factory=dict[str, Unplaced])
    notes: list[str] = field(default_factory=list[str])

    def __repr__(self) -> str:
        done = "would be written" if self.dry_run else "written"
        rows = f"{counted(self.records.written, 'record')} {done}, {self.records.refused:,} refused"
        return shown(f"Imported {plain(self.format, 24)}", rows)

    def to_dict(self) -> dict[str, object]:
        """The report as plain data."""
        data = asdict(self)
        data["refused"] = [row._asdict() for row in self.refused]
        data["left"] = [asdict(one) for one in self.left.values()]
        return data


def import_rows(
    engine: Engine,
    writer: Writer,
    path: Path,
    format_name: str,
    *,
    show: bool | ProgressCallback,
    dry_run: bool,
) -> Imported:
    """Import a file; see `Memory.import_file`."""
    flag(dry_run, "dry_run", InputError)
    if OPENERS.holds(path):
        raise InputError(
            f"{path} is a store that this process has open, not a file to import",
            hint=export_first(path),
        )
    what = detect_format(path, format_name)
    if what.format.name == EXPORT:
        return _restored(engine, writer, what, dry_run=dry_run)
    run = _Run(engine, writer, what, dry_run=dry_run)
    rows = what.format.rows(what.source)
    with show_progress(show, f"importing {what.source.name}", rows) as report:
        return run.all(report)


def load_export(engine: Engine, writer: Writer, path: Path) -> int:
    """Restore an export into a tenant that is empty; returns how many records.

    Trust is kept, so a writer with a ceiling may not; raises Forbidden.
    """
    if writer.context.ceiling != FREE:
        raise Forbidden(
            "an export may have records of more trust than this caller may give",
            hint="load the export with the command line or the library",
        )
    export = read_export(path, writer.tenant)
    engine.log.restore(writer.tenant, export)
    engine.index_cache.wrote(writer.tenant, export.records)
    return len(export.positions)


def _restored(engine: Engine, writer: Writer, what: Recognised, *, dry_run: bool) -> Imported:
    """Restore an export and report it as an import; a dry run verifies every line."""
    path, tenant = what.source.path, writer.tenant
    if not dry_run:
        count = load_export(engine, writer, path)
    elif engine.log.head(tenant).seq:
        hint = "an export can be restored only into an empty tenant: name a new one"
        raise Conflict(f"tenant {tenant!r} is not empty", hint=hint)
    else:
        count = len(read_export(path, tenant).positions)
    return Imported(str(path), EXPORT, what.why, dry_run=dry_run, read=count, records=Counts(count))


class _Run:
    """One import, in two passes: records and agents, then links between existing records."""

    def __init__(self, engine: Engine, writer: Writer, what: Recognised, *, dry_run: bool) -> None:
        self._engine = engine
        self._writer = writer
        self._what = what
        self._dry = dry_run
        self._seen: dict[str, bytes] = {}
        """The keys of rows that this dry run would have written: they are not in the log."""
        self._ids: set[str] = set()
        """The ids of records that this dry run would have written: links may point to them."""
        self._linked = False
        self._vectors: dict[int, int] = {}
        self.done = Imported(str(what.source.path), what.format.name, what.why, dry_run)

    def all(self, report: ProgressCallback) -> Imported:
        """Run both passes; the second reads the file again, so that links need no memory."""
        self._pass(self._first, self._records, report)
        if self._linked:
            self._pass(self._second, self._links, report)
        own = [n for n in self._vectors if f"given:{n}" != self._engine.vectors.name]
        self.done.notes += [
            f"{self._vectors[n]:,} rows brought a vector of {n} numbers, kept next to ours: "
            f'open the memory with embedder="given:{n}" to search by them'
            for n in own
        ]
        return self.done

    def _pass(
        self,
        take: Callable[[Extracted], Draft | Link | None],
        flush: Callable[[list[Any]], None],
        report: ProgressCallback,
    ) -> None:
        batch: list[tuple[str, Draft | Link]] = []
        for item in self._items(first=take == self._first):
            ready = take(item)
            if ready is not None and not isinstance(item, Lost):
                batch.append((item.where, ready))
            if len(batch) == BATCH:
                flush(batch)
                batch = []
                report(self.done.read)
        flush(batch)
        report(self.done.read)

    def _items(self, *, first: bool) -> Iterator[Extracted]:
        """The items of the reader; if it fails after some rows, these are kept."""
        try:
            yield from self._what.format.read(self._what.source)
        except MemoriterError as error:
            if not self.done.read:
                raise
            if first:
                name = self._what.source.name
                yield BadRow(name, f"reading stopped: {error.message}", error.hint)

    def _first(self, item: Extracted) -> Draft | None:
        """First pass: the draft of a record; agents and bad rows are handled at once."""
        done = self.done
        match item:
            case Entry():
                done.read += 1
                return self._draft(item)
            case BadRow():
                done.read += 1
                self._count(done.records, item)
            case Lost():
                self._leave(item)
            case ImportedAgent():
                self._agent(item)
            case ImportedEdge():
                self._linked = True
        return None

    def _draft(self, entry: Entry) -> Draft | None:
        tenant = self._writer.tenant
        if entry.tenant not in (None, "default", tenant):
            reason = f"it is of tenant {entry.tenant!r}, this memory is of {tenant!r}"
            hint = f"import it with --tenant {entry.tenant}"
            self._count(self.done.records, BadRow(entry.where, reason, hint))
            return None
        key = entry.fields.get("key") or self._key(entry.key_in(self._writer.scope.filters()))
        try:
            return self._writer.stamped(self._fitting({**entry.fields, "key": key}))
        except _Refusal as error:
            self._refuse(self.done.records, entry.where, error)
            return None

    def _fitting(self, fields: dict[str, object]) -> dict[str, object]:
        """The fields, without a vector whose size does not fit this memory."""
        vector, space = fields.get("vector"), self._engine.vectors.name
        if not isinstance(vector, list) or self._what.format.general:
            return fields
        size = len(vector)  # pyright: ignore[reportUnknownArgumentType]  # of numbers, by the reader
        if space.startswith("given:") and space != f"given:{size}":
            self._leave(Lost("vector", f"{size} numbers; this memory takes {space[6:]}"))
            return {key: value for key, value in fields.items() if key != "vector"}
        self._vectors[size] = self._vectors.get(size, 0) + 1
        return fields

    def _key(self, row: str) -> str:
        digest = hashlib.sha256(row.encode("utf-8", "surrogatepass")).hexdigest()
        return f"import:{self._what.format.name}:{digest[:32]}"

    def _second(self, item: Extracted) -> Link | None:
        """Second pass: the act of a link; everything else is ignored."""
        if not isinstance(item, ImportedEdge):
            return None
        fields = item.fields
        ends = [item.source, item.target, item.kind, str(fields.get("valid_from", ""))]
        try:
            act = self._writer.edge(*item[1:4], fields, self._key("\n".join(["link", *ends])))
            if self._writer.scoped or self._dry:
                self._writer.must_reach(act, self._ids)
        except _Refusal as error:
            self._refuse(self.done.links, item.where, error)
            return None
        return act

    # -- writing -----------------------------------------------------------------------------

    def _records(self, batch: list[tuple[str, Draft]]) -> None:
        fresh = self._fresh(batch, self.done.records)
        if self._dry:
            for where, draft in fresh:
                self._would(where, draft)
        elif fresh:
            acts = prepare([draft for _, draft in fresh], self._writer.context)
            wheres = [where for where, _ in fresh]
            self._write(list(zip(wheres, acts, strict=True)), self.done.records)

    def _links(self, batch: list[tuple[str, Link]]) -> None:
        fresh = self._fresh(batch, self.done.links)
        if self._dry:
            self.done.links.written += len(fresh)
        else:
            self._write(fresh, self.done.links)

    def _fresh(self, batch: list[tuple[str, Any]], counts: Counts) -> list[tuple[str, Any]]:
        """The rows of a batch whose keys are not in the log, so that none is embedded twice."""
        known = self._engine.log.keys(self._writer.tenant, [one.key.name for _, one in batch])
        # A dry run writes nothing, so it has to remember the keys of earlier batches itself.
        here: dict[str, bytes] = {} if not self._dry else self._seen
        fresh: list[tuple[str, Any]] = []
        for where, one in batch:
            name, digest = one.key.name, one.key.asked
            row = known.get(name)
            # An empty digest is that of a forgotten record: it is not imported again.
            if row is not None and row.asked not in (b"", digest):
                self._count(counts, BadRow(where, _CHANGED, _OTHERWISE))
            elif here.get(name, digest) != digest:
                self._count(counts, BadRow(where, _TWICE, _OTHERWISE))
            elif row is not None or name in here:
                counts.already += 1
            else:
                here[name] = digest
                fresh.append((where, one))
        return fresh

    def _write(self, acts: Sequence[tuple[str, Act]], counts: Counts) -> None:
        """Commit acts together; if one is refused, bisect until the refused one is alone."""
        if not acts:
            return
        try:
            commit = self._writer.commit([act for _, act in acts])
        except _Refusal as error:
            if len(acts) == 1:
                self._refuse(counts, acts[0][0], error)
                return
            middle = len(acts) // 2
            self._write(acts[:middle], counts)
            self._write(acts[middle:], counts)
        else:
            counts.written += len(acts)
            self._engine.index_cache.loaded(commit.tenant, len(acts))

    def _would(self, where: str, draft: Draft) -> None:
        """Dry run: count a record as written, or as refused if its id is taken."""
        log, tenant = self._engine.log, self._writer.tenant
        if draft.id is not None and log.latest(tenant, draft.id, log.head(tenant).seq):
            taken = BadRow(where, f"there is a record with id {draft.id!r} already")
            self._count(self.done.records, taken)
        else:
            self.done.records.written += 1
            self._ids |= {draft.id} if draft.id is not None else set()

    def _agent(self, item: ImportedAgent) -> None:
        """Register an agent, or add the fields that its entry lacks."""
        counts = self.done.agents
        registry = Agents(self._engine, self._writer, self._writer.tenant)
        try:
            known = {agent.agent: agent.to_dict() for agent in registry.list()}
            there = known.get(item.agent, {})
            news: dict[str, Any] = {k: v for k, v in item.fields.items() if k not in there}
            if item.agent in known and not news:
                counts.already += 1
                return
            if not self._dry:
                registry.upsert(item.agent, **news)
            counts.written += 1
        except _Refusal as error:
            self._refuse(counts, item.where, error)

    def _refuse(self, counts: Counts, where: str, error: MemoriterError) -> None:
        self._count(counts, BadRow(where, error.message, error.hint))

    def _count(self, counts: Counts, row: BadRow) -> None:
        """Count a refused row, and list it."""
        counts.refused += 1
        if len(self.done.refused) < LISTED:
            self.done.refused.append(row)

    def _leave(self, lost: Lost) -> None:
        """Count a field that a record cannot hold."""
        became = "metadata" if lost.kept else "left out"
        seen = self.done.left.setdefault(
            f"{lost.field}\n{became}", Unplaced(lost.field, 0, str(lost.example), became)
        )
        seen.count += lost.times
