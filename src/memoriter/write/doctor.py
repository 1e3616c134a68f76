"""Is the store sound, and what can be mended? Only what follows from the records is ever touched.

A check reads everything and changes nothing. A repair writes damaged derived rows anew, if this
memory can make them again: words of any analyzer it knows, from the record; vectors of its own
space, as debts for `maintain`. Damaged segments are thrown away, whatever index they belong to. All
else is told and left as it is; on a sound store a repair does nothing at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from memoriter.core.errors import Corrupt
from memoriter.core.shown import counted, shown
from memoriter.index.cache import IndexCache
from memoriter.index.file import load_segment
from memoriter.index.tenant import texts_of
from memoriter.store.port import Dump, Log, Manifest
from memoriter.store.rows import VectorRow, WordsRow, check_vector, check_words, words_sum
from memoriter.store.verify import verify_log
from memoriter.text.port import Analyzer


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found, and what was mended."""

    tenants: int
    entries: int
    problems: tuple[str, ...] = ()
    """Damage to what was written: only a backup helps."""
    derived: tuple[str, ...] = ()
    """Damage to what follows from it: a repair mends it, where this memory can make it again."""
    mended: bool = False
    """Whether a repair mended everything that is listed as derived."""

    def __repr__(self) -> str:
        hurt = f"{counted(len(self.problems), 'problem')}, {len(self.derived)} derived"
        state = "sound" if self.sound else hurt
        told = f"{counted(self.tenants, 'tenant')}, {counted(self.entries, 'entry', 'entries')}"
        return shown("Checkup", f"{state}, {told}")

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong, or nothing is left wrong."""
        return not self.problems and (self.mended or not self.derived)

    def to_dict(self) -> dict[str, object]:
        """The checkup as plain data."""
        return {
            "sound": self.sound,
            "tenants": self.tenants,
            "entries": self.entries,
            "problems": list(self.problems),
            "derived": list(self.derived),
            "mended": self.mended,
        }


@dataclass(frozen=True, slots=True)
class Bench:
    """What a checkup works with: the log, its indexes, and what can be made again."""

    log: Log
    index_cache: IndexCache
    analyzers: Mapping[str, Analyzer]
    """By fingerprint."""
    space: str


@dataclass(slots=True)
class _Findings:
    """What is wrong with one tenant."""

    entries: int = 0
    problems: list[str] = field(default_factory=list[str])
    derived: list[str] = field(default_factory=list[str])
    words: list[WordsRow] = field(default_factory=list[WordsRow])
    vectors: list[VectorRow] = field(default_factory=list[VectorRow])
    """Those that can be embedded again."""
    indexes: list[str] = field(default_factory=list[str])
    """Those with a damaged segment."""


def checkup(bench: Bench, *, repair: bool) -> Checkup:
    """Check every tenant; with `repair`, mend what is derived."""
    problems = bench.log.damage()
    derived: list[str] = []
    entries, mended = 0, repair
    tenants = bench.log.tenants()
    for tenant in tenants:
        found = _examine(bench, tenant)
        problems += found.problems
        derived += found.derived
        entries += found.entries
        if repair and found.derived:
            mended = _mend(bench, tenant, found) and mended
    return Checkup(
        len(tenants), entries, tuple(problems), tuple(derived), mended=mended and bool(derived)
    )


def _examine(bench: Bench, tenant: str) -> _Findings:
    found = _Findings()
    for part in (_entries, _words, _segments):
        try:
            part(bench, tenant, found)
        except Corrupt as damage:
            found.problems.append(damage.message)
    return found


def _entries(bench: Bench, tenant: str, found: _Findings) -> None:
    """What was written, and the vectors beside it."""
    dump = bench.log.dump(tenant)
    found.entries = len(dump.chain)
    found.problems += dump.damaged
    bad = {row for row in dump.vectors if row.form == "unit" and _is_bad(tenant, row)}
    sound = replace(dump, vectors=[row for row in dump.vectors if row not in bad], damaged=[])
    _vectors(tenant, sound, sorted(bad), bench.space, found)
    verify_log(tenant, sound)


def _is_bad(tenant: str, row: WordsRow | VectorRow) -> bool:
    try:
        if isinstance(row, WordsRow):
            check_words(tenant, row)
        else:
            check_vector(tenant, row)
    except Corrupt:
        return True
    return False


def _vectors(
    tenant: str, sound: Dump, bad: Sequence[VectorRow], space: str, found: _Findings
) -> None:
    """Damaged vectors: those that can be embedded again are derived, all others a problem.

    A vector of another space, or of a row that is not there or has its vector already, is not what
    it says: throwing it away could lose what nobody can make again.
    """
    owing = {record.row for record in sound.records}
    owing -= {row.row for row in sound.vectors if row.generation == space}
    strange: dict[str, list[VectorRow]] = {}
    for row in bad:
        if row.generation == space and row.row in owing:
            found.vectors.append(row)
            found.derived.append(f"tenant {tenant!r}: a vector of row {row.row} is damaged")
        else:
            strange.setdefault(row.generation, []).append(row)
    found.problems += [
        f"tenant {tenant!r}: vectors of space {generation!r} are damaged and cannot be made again "
        f"here: {len(rows)}, the first of row {rows[0].row}"
        for generation, rows in strange.items()
    ]


def _words(bench: Bench, tenant: str, found: _Findings) -> None:
    """Damaged words: those of analyzers that are known can be made again, others are left."""
    strange: dict[str, list[WordsRow]] = {}
    for row in bench.log.words(tenant):
        if not _is_bad(tenant, row):
            continue
        found.words.append(row)
        if row.generation in bench.analyzers:
            found.derived.append(f"tenant {tenant!r}: the words of row {row.row} are damaged")
        else:
            strange.setdefault(row.generation, []).append(row)
    found.derived += [
        f"tenant {tenant!r}: words of analyzer {generation!r}, which is not known here, are "
        f"damaged and left: {len(rows)}, the first of row {rows[0].row}"
        for generation, rows in strange.items()
    ]


def _segments(bench: Bench, tenant: str, found: _Findings) -> None:
    """Damaged segments of every index that was ever published, by whatever application."""
    folder = bench.index_cache.folder
    if folder is not None:
        for index, manifest in bench.log.manifests(tenant).items():
            told = _damaged(manifest, folder, (tenant, index))
            found.derived += [f"tenant {tenant!r}: {damage}" for damage in told]
            found.indexes += [index] if told else []


def _damaged(manifest: Manifest, folder: Path, owner: tuple[str, str]) -> list[str]:
    """What is wrong with the published segments of an index."""
    out: list[str] = []
    for ref in manifest.segments:
        try:
            load_segment(folder / ref.name, (ref.first, ref.last), owner)
        except Corrupt as damage:
            out.append(damage.message)
    return out


def _mend(bench: Bench, tenant: str, found: _Findings) -> bool:
    """Mend what can be; whether that was all."""
    anew = _again(bench, tenant, found.words)
    if anew or found.vectors:
        bench.log.mend(tenant, anew, found.vectors)
    own = bench.index_cache.index(tenant).name
    whole = len(anew) == len(found.words)
    for index in found.indexes:
        whole = bench.index_cache.discard(tenant, index) and whole
        if index == own and not found.problems:
            bench.index_cache.tidy(tenant)
    return whole


def _again(bench: Bench, tenant: str, damaged: Sequence[WordsRow]) -> list[WordsRow]:
    """The words of known analyzers, made anew from their records, where those can be read."""
    out: list[WordsRow] = []
    for row in damaged:
        analyzer = bench.analyzers.get(row.generation)
        if analyzer is None:
            continue
        try:
            (record,) = bench.log.records(tenant, [row.row])
        except Corrupt:  # told as a problem
            continue
        if record is not None:
            body = analyzer.analyse(texts_of(record)).encode()
            guard = words_sum(tenant, row.row, row.generation, body)
            out.append(WordsRow(row.row, row.generation, body, guard))
    return out
