"""One tenant's index: published segments, then the tail of the log as segments in memory.

`TenantIndex.view` reads what was committed since the last call, so that every process sees what any
other wrote. `_append` adds new entries to the tail and decides which earlier rows they end: updated
ones from then on, forgotten ones for every view. Used by `cache` and `upkeep`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, cast
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import Corrupt, Expired
from memoriter.index.build import MOST, GrowingSegment, LogPart, PartArrays, grown
from memoriter.index.checked import MappedArrays
from memoriter.index.columns import text_columns
from memoriter.index.file import IndexOwner, load_segment
from memoriter.index.merge import due, merge
from memoriter.index.registry import Registry
from memoriter.index.segment import GONE, Segment
from memoriter.index.spaces import IndexSpaces
from memoriter.index.text_reader import TextReader
from memoriter.index.view import View
from memoriter.kernel.turns import TURNS
from memoriter.store.port import Delta, Head, Log, Manifest, SegmentRef
from memoriter.store.rows import read_tomb
from memoriter.store.segments import Segments

_log: Final = logging.getLogger(__name__)
TAIL_FACTOR: Final = 4
"""How many tail segments of one size make one of the next; files use `merge.FACTOR`."""
TAIL_SMALL: Final = 4_096
"""Tail segments of so many rows together are merged sooner: a search reads few of them."""


class TenantIndex:
    """The index of one tenant in this process. Safe to use from several threads."""

    def __init__(self, log: Log, tenant: str, spaces: IndexSpaces, home: Segments | None) -> None:
        self._log = log
        self._registry = Registry(partial(log.agents, tenant))
        self.tenant = tenant
        self.spaces = spaces
        self._analyzer, self._space = spaces.analyzer, spaces.vectors
        self._texts = TextReader(spaces, partial(log.records, tenant))
        self.home = home
        """Where its segments are published; None if it is in memory only."""
        self.lock = threading.RLock()
        self.stored = Manifest()
        """The published segments, as the store lists them."""
        self.manifest = Manifest()
        """Those in use: `stored`, or none if one is damaged, until upkeep publishes again."""
        self.ready: dict[str, Segment] = {}
        """Segments that upkeep has opened before it publishes them, by name."""
        self._published = -1
        self._distrusted = False
        """Whether a segment turned out to be damaged while it was in use."""
        self._met_tombs = False
        self._searched = False
        """Whether somebody asked for a view since `read_on` read the log."""
        self._segments: tuple[Segment, ...] = ()
        self._growing: GrowingSegment | None = None
        """The newest segment, as long as it may grow."""
        self._former: WeakSet[Segment] = WeakSet()
        """Segments that others have replaced and open views still read: forgets reach them too."""
        self._latest = self._born = np.zeros(0, np.int64)
        """By position: the row of the record's latest version, and of its first; 0 for none."""
        self._current = View(0, (), self._analyzer.fields, space=self._space)

    @property
    def name(self) -> str:
        """The fingerprint of `spaces`: the name under which segments are published."""
        return self.spaces.name

    @property
    def owner(self) -> IndexOwner:
        """Whose segments it publishes."""
        return IndexOwner(self.tenant, self.name)

    @property
    def seq(self) -> int:
        """The last sequence number that the index has read."""
        return self._segments[-1].last if self._segments else 0

    @property
    def end(self) -> tuple[int, int]:
        """(the entry of the log that searches see, how often segments had been published then)."""
        return self._current.seq, self._published

    @property
    def tail(self) -> tuple[Segment, ...]:
        """The segments that are not published."""
        return self._segments[len(self.manifest.segments) :]

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All segments, published ones first."""
        return self._segments

    @property
    def nbytes(self) -> int:
        """Roughly how many bytes the index takes."""
        return sum(segment.nbytes for segment in self._segments)

    def view(self, seq: int | None = None) -> View:
        """The view at `seq`, or of everything committed by now.

        Raises Expired if `seq` lies before the floor of the published segments.
        """
        self._searched = True
        current, segments = self._current, self._segments
        if seq is None and current.segments is segments:
            head = self._log.head(self.tenant)
            # Most searches find nothing new, and then no thread waits for another one.
            if (head.seq, head.published) == (current.seq, self._published):
                return current
        return TURNS.beside(lambda: self._view_at(seq))  # it may wait for a writer

    def _view_at(self, seq: int | None) -> View:
        with self.lock:
            head = self._catch_up()
            if seq is None or seq == head.seq:
                return self._current
            if seq < self.manifest.floor:
                raise Expired(
                    f"the index no longer has the state at log entry {seq}; the oldest state that"
                    f" it has is at entry {self.manifest.floor}",
                    hint="ask for a later time, or read earlier versions with get and history;"
                    " horizon_days sets how long states are kept",
                )
            return self._view(seq)

    def read_on(self) -> None:
        """Read what was written, if somebody searched since the last time and no one reads it now.

        So of writes that follow each other only the first one is read at once. What takes longer,
        as after a load by another process, is left to the next search.
        """
        if self._searched and self.lock.acquire(blocking=False):
            try:
                head = self._log.head(self.tenant)
                if head.published == self._published and head.seq - self.seq <= MOST:
                    self._searched = False
                    self._catch_up()
            finally:
                self.lock.release()

    def _view(self, seq: int) -> View:
        agents = partial(self._registry.at, seq)
        fields, graph = self._analyzer.fields, self._current.built_graph
        return View(seq, self._segments, fields, agents, graph, space=self._space)

    def _catch_up(self) -> Head:
        """Read what was committed or published since the last call; the caller holds the lock."""
        head = self._taken_over()
        for delta in self._since(head):
            self._append(delta)
        if head.seq != self._current.seq or self._current.segments != self._segments:
            self._current = self._view(head.seq)
        return head

    def advance(self, rows: int) -> bool:
        """Read the log until the tail has so many rows; whether there is more to read.

        For upkeep, which publishes them before it reads on: a long log does not fill the memory,
        and the lock is free in between.
        """
        with self.lock:
            head = self._taken_over()
            for delta in self._since(head):
                self._append(delta)
                if sum(map(len, self.tail)) >= rows:
                    break
            return self.seq < head.seq

    def take_over(self) -> None:
        """Use the segments that are published by now."""
        with self.lock:
            self._taken_over()

    def _taken_over(self) -> Head:
        """The end of the log; segments that were published since are in use."""
        head = self._log.head(self.tenant)
        if head.published != self._published:
            self._reload(head)
        return head

    def _since(self, head: Head) -> Iterator[Delta]:
        """The part of the log that is not read yet."""
        spaces = (self._analyzer.fingerprint, self._space)
        if head.seq > self.seq:
            yield from self._log.deltas(self.tenant, self.seq, head.seq, spaces)

    # -- published segments --------------------------------------------------------------------

    def _reload(self, head: Head) -> None:
        """Use the segments that this or another process published since."""
        manifest, opened = self._load()
        last = opened[-1].last if opened else 0
        # A damaged segment must not stay as a part of the tail.
        known = self.tail if self._distrusted else self._segments
        self._distrusted = False
        tail = [segment for segment in known if segment.first >= last]
        # Published segments may end inside a tail segment: then the log is read again from there.
        if tail and tail[0].first != last:
            tail = []
        self.manifest = manifest
        self._published = head.published
        self._adopt([*opened, *tail])

    def _load(self) -> tuple[Manifest, list[Segment]]:
        """(the manifest in use, its segments): the one that the store lists, or an empty one.

        While it is read, another process may publish and drop what it lists: then it is read again.
        """
        while True:
            stored = self.stored = self._log.manifest(self.tenant, self.name)
            if self.home is None:
                return Manifest(), []
            try:
                return stored, [self._opened(ref, self.home) for ref in stored.segments]
            except Corrupt as damage:
                if self._log.manifest(self.tenant, self.name) == stored:
                    _log.warning("%s; answering from the log instead", damage.message)
                    return Manifest(), []

    def _opened(self, ref: SegmentRef, home: Segments) -> Segment:
        """A published segment: the one in use or made ready, else opened."""
        known = dict(zip(self.manifest.segments, self._segments, strict=False)).get(ref)
        known = known if known is not None else self.ready.get(ref.name)
        if known is None or self._distrusted:
            known = load_segment(home, ref, self.owner, whole=self._distrusted)
        if isinstance(known.arrays, MappedArrays):
            known.arrays.on_damage = self.distrust
        return known

    def distrust(self) -> None:
        """Check every published segment whole before the next view; a damaged one is not used."""
        self._distrusted, self._published = True, -1

    def _adopt(self, segments: Sequence[Segment]) -> None:
        """Use these segments, and apply the ends that later ones hold for rows of earlier ones."""
        for at, segment in enumerate(segments):
            for earlier in segments[:at]:
                earlier.end_rows(*_events(segment))
        self._segments = tuple(segments)
        self._latest = self._born = np.zeros(0, np.int64)
        for segment in segments:
            self._note(segment)

    # -- the tail ------------------------------------------------------------------------------

    def met_tombs(self) -> bool:
        """Whether tombstones were read since the last call."""
        met, self._met_tombs = self._met_tombs, False
        return met

    def _append(self, delta: Delta) -> None:
        """Add a part of the log to the tail, end the rows that it replaces, merge the tail."""
        after, tokens = self.seq, self._texts.tokens(delta)
        rows, ends = self._ended(delta)
        self._met_tombs |= bool(delta.tombs)
        self._registry.read_on(after, delta)
        words = self._texts.words(delta, one_by_one=delta.upto - after <= MOST)
        derived, columns = self._texts.vectors(delta, tokens), text_columns(delta.records)
        part = LogPart(
            delta, words, len(self._analyzer.fields), tokens,
            derived=derived, texts=columns, births=self._births(delta), ended=rows, ends=ends,
        )  # fmt: skip
        before, used = rows <= after, self._segments
        if before.any():
            for earlier in (*used, *self._former):
                earlier.end_rows(rows[before], ends[before])
        known = self._growing
        if known is not None and self.tail[-1:] != (known.segment,):
            known = None  # it was merged or published
        self._growing = made = grown(known, part, after)
        grew = made.segment.first < after
        _complete(() if grew else used)
        if delta.tombs:  # no text of a forgotten record is kept
            _complete((*used, *self._former))
        stay = self._segments[:-1] if grew else self._segments
        self._segments = (*stay, made.segment)
        self._note(made.segment)
        self._merge_tail()
        self._former.update(set(used).difference(self._segments))

    def _merge_tail(self) -> None:
        """Merge what is due of the tail; its newest segment only when it grows no more."""
        published = len(self.manifest.segments)
        growing = 0 if self._growing is None or self._growing.part is None else 1
        while True:
            full = self.tail[: len(self.tail) - growing]
            run = due([len(segment) for segment in full], TAIL_FACTOR, TAIL_SMALL)
            if run is None:
                return
            newest = self._segments[len(self._segments) - growing :]
            merged = merge(full[run], floor=0)
            self._segments = (*self._segments[: published + run.start], merged, *newest)

    def _ended(self, delta: Delta) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(rows that these entries end, the sequence number at which each ends).

        A new version ends the one before it; a forget ends all versions at `GONE`.
        """
        ends: dict[int, int] = {}
        latest = {record.position: _at(self._latest, record.position) for record in delta.records}
        for record in delta.records:
            if latest[record.position]:
                ends[latest[record.position]] = record.row
            latest[record.position] = record.row
        for tomb in delta.tombs:
            ends.update(dict.fromkeys(read_tomb(tomb).rows, GONE))
        return np.array(list(ends), np.int64), np.array(list(ends.values()), np.int64)

    def _births(self, delta: Delta) -> NDArray[np.int64]:
        """For each record version the row of its record's first version."""
        first: dict[int, int] = {}
        for record in delta.records:
            known = _at(self._born, record.position)
            first.setdefault(record.position, known or record.row)
        return np.array([first[record.position] for record in delta.records], np.int64)

    def _note(self, segment: Segment) -> None:
        """Note the latest and the first row at every position of a segment."""
        positions = segment.arrays["position"].astype(np.int64)
        if positions.size:
            need = int(positions.max()) + 1
            if need > self._latest.size:
                self._latest, self._born = _grown(self._latest, need), _grown(self._born, need)
            np.maximum.at(self._latest, positions, segment.rows)
            self._born[positions] = segment.born


def _complete(segments: Iterable[Segment]) -> None:
    """Make all arrays of segments that do not grow: then no texts are kept for them."""
    for segment in segments:
        if isinstance(segment.arrays, PartArrays):
            segment.arrays.complete()


def _at(known: NDArray[np.int64], position: int) -> int:
    """The row at a position; 0 if there is none."""
    return int(known[position]) if position < known.size else 0


def _grown(known: NDArray[np.int64], need: int) -> NDArray[np.int64]:
    """The same with room for `need` positions."""
    # Doubling, so that growing one by one costs no more than linear time.
    grown = np.zeros(max(need, 2 * known.size), np.int64)
    grown[: known.size] = known
    return grown


def _events(segment: Segment) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows, ends = segment.arrays["events.rows"], segment.arrays["events.ends"]
    return cast("NDArray[np.int64]", rows), cast("NDArray[np.int64]", ends)
