"""Is the store sound, and what can be mended? Only what follows from the records is ever touched.

A check reads everything and changes nothing. A repair writes damaged derived rows anew (words from
the record, vectors as debts for `maintain`) and throws damaged segments away; on a sound store it
does nothing at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recollect.core.errors import Corrupt
from recollect.index.file import load
from recollect.index.shelf import Shelf
from recollect.index.tenant import texts_of
from recollect.store.port import Log, Manifest
from recollect.store.rows import VectorRow, WordsRow, check_vector, check_words, words_sum
from recollect.store.verify import verify
from recollect.text.port import Analyzer


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found, and what was mended."""

    tenants: int
    entries: int
    problems: tuple[str, ...] = ()
    """Damage to what was written: only a backup helps."""
    derived: tuple[str, ...] = ()
    """Damage to what follows from it: a repair mends it."""
    mended: bool = False

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
class _Findings:
    """What is wrong with one tenant."""

    entries: int
    problems: list[str]
    derived: list[str]
    words: list[WordsRow]
    vectors: list[VectorRow]
    segments: list[str]


def checkup(
    log: Log, shelf: Shelf, analyzer: Analyzer, folder: Path | None, *, repair: bool
) -> Checkup:
    """Check every tenant; with `repair`, mend what is derived."""
    problems = log.damage()
    derived: list[str] = []
    entries = 0
    tenants = log.tenants()
    for tenant in tenants:
        index = shelf.index(tenant).name
        found = _examine(log, tenant, folder, index)
        problems += found.problems
        derived += found.derived
        entries += found.entries
        if repair and found.derived:
            _mend(log, shelf, tenant, analyzer, found)
    mended = repair and bool(derived)
    return Checkup(len(tenants), entries, tuple(problems), tuple(derived), mended)


def _examine(log: Log, tenant: str, folder: Path | None, index: str) -> _Findings:
    problems: list[str] = []
    lost: list[VectorRow] = []
    entries = 0
    try:
        dump = log.dump(tenant)
        entries = len(dump.chain)
        lost = [row for row in dump.vectors if row.form == "unit" and _is_bad(tenant, row)]
        dump.vectors[:] = [row for row in dump.vectors if row not in lost]
        problems += dump.damaged
        dump.damaged.clear()
        verify(tenant, dump)
    except Corrupt as damage:
        problems.append(str(damage))
    words = [row for row in log.words(tenant) if _is_bad(tenant, row)]
    segments = _segments(log.manifest(tenant, index), folder)
    derived = [f"tenant {tenant!r}: the words of row {row.row} are damaged" for row in words]
    derived += [f"tenant {tenant!r}: a vector of row {row.row} is damaged" for row in lost]
    derived += [f"tenant {tenant!r}: {told}" for told in segments]
    return _Findings(entries, problems, derived, words, lost, segments)


def _is_bad(tenant: str, row: WordsRow | VectorRow) -> bool:
    try:
        if isinstance(row, WordsRow):
            check_words(tenant, row)
        else:
            check_vector(tenant, row)
    except Corrupt:
        return True
    return False


def _segments(manifest: Manifest, folder: Path | None) -> list[str]:
    """What is wrong with the published segments."""
    out: list[str] = []
    if folder is not None:
        for ref in manifest.segments:
            try:
                load(folder / ref.name, (ref.first, ref.last))
            except Corrupt as damage:
                out.append(str(damage))
    return out


def _mend(log: Log, shelf: Shelf, tenant: str, analyzer: Analyzer, found: _Findings) -> None:
    ours = [row for row in found.words if row.generation == analyzer.fingerprint]
    records = log.records(tenant, [row.row for row in ours])
    anew: list[WordsRow] = []
    for row, record in zip(ours, records, strict=True):
        if record is not None:
            body = analyzer.analyse(texts_of(record)).encode()
            guard = words_sum(tenant, row.row, row.generation, body)
            anew.append(WordsRow(row.row, row.generation, body, guard))
    if anew or found.vectors:
        log.mend(tenant, anew, found.vectors)
    if found.segments:
        shelf.rebuild(tenant)
