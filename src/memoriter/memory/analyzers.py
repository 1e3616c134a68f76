"""The analyzers whose words a store keeps (`memory.analyzers`): our own, and those that were added.

A recipe may need another analyzer. A small store is then analysed in memory, on each opening. For a
large one the analyzer has to be added first: that analyses all records in small transactions, can
be interrupted and continued, and from then on every write stores those words too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.options import explained
from memoriter.core.other_words import Hinting
from memoriter.core.record import Record
from memoriter.core.shown import counted, plain, shown
from memoriter.index.texts import texts_of
from memoriter.memory.engine import Engine
from memoriter.memory.options import SPACE_ARGUMENTS
from memoriter.store.port import Log
from memoriter.store.rows import WordsRow, words_sum
from memoriter.text.analyzers import (
    DEFAULT_ANALYZER,
    all_analyzers,
    analyzer,
    analyzer_by_fingerprint,
)
from memoriter.text.port import Analyzer
from memoriter.write.progress import ProgressCallback, show_progress

_BATCH: Final = 2000
"""Rows per transaction: other writers wait for one batch at most."""


def added_analyzers(log: Log, spaces: Sequence[str] | None = None) -> tuple[Analyzer, ...]:
    """The analyzers, except our own, whose words a store keeps; `spaces` as they were read."""
    names = log.spaces() if spaces is None else spaces
    kept = filter(None, map(analyzer_by_fingerprint, names))
    return tuple(one for one in kept if one is not DEFAULT_ANALYZER)


@dataclass(frozen=True, slots=True)
class Kept:
    """How many record versions of a store have words of an analyzer."""

    name: str
    rows: int
    of: int
    added: bool

    def __repr__(self) -> str:
        added = "kept" if self.added else "not kept"
        rows = f"{self.rows:,} of {counted(self.of, 'row')}"
        return shown(f"Kept {plain(self.name)}", f"{rows}, {added}")

    def to_dict(self) -> dict[str, object]:
        """The state as plain data."""
        return {"name": self.name, "added": self.added, "rows": self.rows, "of": self.of}


@explained(SPACE_ARGUMENTS)
class Analyzers(Hinting):
    """Lists, adds and removes the analyzers of a store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __repr__(self) -> str:
        return shown(f"Analyzers of {self._engine.place}")

    def list(self) -> list[Kept]:
        """All known analyzers, and how many record versions have their words."""
        log = self._engine.log
        counts: dict[str, int] = {}
        total = 0
        for tenant in log.tenants():
            total += sum(1 for _ in _rows(log, tenant))
            for row in log.words(tenant):
                counts[row.generation] = counts.get(row.generation, 0) + 1
        own = self._engine.analyzer
        counts[own.fingerprint] = total  # the index reads every record with it
        kept = {each.name for each in (own, *added_analyzers(log))}
        return [
            Kept(one.name, counts.get(one.fingerprint, 0), total, one.name in kept)
            for one in all_analyzers()
        ]

    def add(self, name: str, *, progress: bool | ProgressCallback = False) -> Kept:
        """Store the words of an analyzer, for all records and for every later write.

        Raises InputError for our own analyzer, which is always there. Can be interrupted and called
        again.
        """
        one, log = self._other(name), self._engine.log
        # First: from now on every writer stores these words, so that none is missed meanwhile.
        log.open_space(one.fingerprint)
        tenants = log.tenants()
        total = sum(1 for tenant in tenants for _ in _rows(log, tenant))
        done = 0
        with show_progress(progress, f"reading with {name}", total) as report:
            for tenant in tenants:
                have = {r.row for r in log.words(tenant) if r.generation == one.fingerprint}
                done += len(have)
                missing = (row for row in _rows(log, tenant) if row not in have)
                while batch := list(islice(missing, _BATCH)):
                    log.mend(tenant, _words(log, tenant, batch, one), ())
                    done += len(batch)
                    report(min(done, total))
        self._engine.index_cache.drop(one)
        for tenant in tenants:
            if self._engine.index_cache.segments is not None:
                self._engine.index_cache.view(tenant, None, one)
                self._engine.index_cache.tidy(tenant)
        return next(kept for kept in self.list() if kept.name == name)

    def remove(self, name: str) -> None:
        """Delete the stored words of an analyzer; small stores can still use it, in memory."""
        one, index_cache = self._other(name), self._engine.index_cache
        for tenant in self._engine.log.tenants():
            index_cache.discard(tenant, index_cache.index(tenant, one).name)
        self._engine.log.close_space(one.fingerprint)
        index_cache.drop(one)

    def _other(self, name: str) -> Analyzer:
        one = analyzer(name)
        if one.fingerprint == self._engine.analyzer.fingerprint:
            raise InputError(
                f"name: {name} is the analyzer that this store always uses, so it cannot be"
                " added or removed",
                hint="name another analyzer",
                field="name",
            )
        return one


def _rows(log: Log, tenant: str) -> Iterator[int]:
    """The rows of all record versions of a tenant that were not forgotten."""
    upto = log.head(tenant).seq
    for delta in log.deltas(tenant, 0, upto, ("", "")):
        yield from (record.row for record in delta.records)


def _words(log: Log, tenant: str, rows: list[int], one: Analyzer) -> list[WordsRow]:
    records: list[Record | None] = log.records(tenant, rows)
    out: list[WordsRow] = []
    for record in records:
        if record is not None:
            body = one.analyse(texts_of(record)).encode()
            guard = words_sum(tenant, record.row, one.fingerprint, body)
            out.append(WordsRow(record.row, one.fingerprint, body, guard))
    return out
