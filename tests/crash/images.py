"""What could lie on the disk after a power cut? Images, built from a trace, and their checker.

The model. Data: what was written to a file is volatile until an fsync of that file, begun after
the write, has ended well; of the rest any part may have reached the disk:

    none    nothing of it
    prefix  of each file the first so many writes
    subset  any of the writes, later ones without earlier ones
    torn    any 512-byte sectors of any of the writes

A truncation counts as a write. An fsync that fails takes what it should have kept: the kernel
counts those pages as clean, so no later fsync brings them to the disk.

Names: in three of four images creating, renaming, deleting and making folders is durable at once
and in order, as on a journalling filesystem; in the fourth a name is volatile until an fsync of
its folder has ended well, and any of the volatile changes may be lost, each by itself (stricter
than ext4, xfs or btrfs, which keep their order). That holds for the database too: SQLite syncs
the folder when it first syncs a new WAL, and nothing is acknowledged before. `-shm` is left out:
SQLite builds it anew after a crash. Not modelled: a disk that acknowledges an fsync and does not
keep it (the control does: it must fail), and sectors that go bad by themselves (flips do).
"""

from __future__ import annotations

import random
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tests.crash import plan
from tests.inside import log_of

from memoriter.core.errors import MemoriterError
from memoriter.store.verify import verify_log
from memoriter.testing.whole import whole

_HEAD = struct.Struct("<B3xiqqII")
MODES = ("none", "prefix", "subset", "torn")
SECTOR = 512
CREATE = 0o100
ACKS = "acks"


class Event(NamedTuple):
    """One line of the trace."""

    op: str
    error: int
    handle: int
    at: int
    path: str
    data: bytes


def read(trace: Path) -> list[Event]:
    """The whole trace."""
    blob, at, events = trace.read_bytes(), 0, []
    while at < len(blob):
        op, error, handle, where, path, data = _HEAD.unpack_from(blob, at)
        at += _HEAD.size
        name = blob[at : at + path].decode()
        events.append(
            Event(chr(op), error, handle, where, name, blob[at + path : at + path + data])
        )
        at += path + data
    return events


@dataclass
class Inode:
    """A file: what an fsync has made sure of, and what came after."""

    safe: bytearray = field(default_factory=bytearray)
    loose: list[tuple[int, int, bytes | None]] = field(default_factory=list)
    """(number, offset, data); data is None for a truncation to the offset."""

    def settle(self, upto: int) -> None:
        for number, at, data in self.loose:
            if number <= upto:
                apply(self.safe, at, data)
        self.loose = [change for change in self.loose if change[0] > upto]


def apply(content: bytearray, at: int, data: bytes | None) -> None:
    if data is None:
        del content[at:]
        content.extend(bytes(at - len(content)))
        return
    if at > len(content):
        content.extend(bytes(at - len(content)))
    content[at : at + len(data)] = data


class Naming(NamedTuple):
    """A change of a name: None lets it go."""

    number: int
    path: str
    inode: Inode | None

    @property
    def folder(self) -> str:
        return str(PurePosixPath(self.path).parent)


@dataclass
class Disk:
    """A filesystem below one folder, replayed from a trace."""

    root: str
    deaf: bool = False
    """Whether fsyncs are ignored: the control."""
    live: dict[str, Inode] = field(default_factory=dict)
    safe: dict[str, Inode] = field(default_factory=dict)
    loose: list[Naming] = field(default_factory=list)
    acks: list[str] = field(default_factory=list)
    number: int = 0
    handles: dict[int, str | Inode] = field(default_factory=dict)
    begun: dict[int, int] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)

    def play(self, event: Event) -> None:
        self.number += 1
        getattr(self, f"on_{event.op}")(event)

    def name(self, path: str, inode: Inode | None) -> None:
        if inode is None:
            self.live.pop(path, None)
        else:
            self.live[path] = inode
        self.loose.append(Naming(self.number, path, inode))

    def on_O(self, event: Event) -> None:  # noqa: N802  # named by the letter in the trace
        if event.path not in self.live and event.at & CREATE:
            self.name(event.path, Inode())
        self.handles[event.handle] = self.live.get(event.path, event.path)

    def on_C(self, event: Event) -> None:  # noqa: N802
        self.handles.pop(event.handle, None)

    def on_W(self, event: Event) -> None:  # noqa: N802
        inode = self.handles[event.handle]
        assert isinstance(inode, Inode)
        inode.loose.append((self.number, event.at, event.data))
        if inode is self.live.get(f"{self.root}/{ACKS}"):
            self.acks += event.data.decode().splitlines()

    def on_T(self, event: Event) -> None:  # noqa: N802
        inode = self.handles[event.handle]
        assert isinstance(inode, Inode)
        inode.loose.append((self.number, event.at, None))

    def on_S(self, event: Event) -> None:  # noqa: N802
        self.begun[event.handle] = self.number

    def on_E(self, event: Event) -> None:  # noqa: N802
        began = self.begun.pop(event.handle)
        synced = self.handles[event.handle]
        if event.error and isinstance(synced, Inode):
            synced.loose = [change for change in synced.loose if change[0] > began]
        if event.error or self.deaf:
            return
        if isinstance(synced, Inode):
            synced.settle(began)
            return
        for change in self.loose:
            if change.folder == synced and change.number <= began:
                _rename(self.safe, change)
        self.loose = [c for c in self.loose if c.folder != synced or c.number > began]

    def on_U(self, event: Event) -> None:  # noqa: N802
        self.name(event.path, None)

    def on_R(self, event: Event) -> None:  # noqa: N802
        moved = self.live[event.path]
        self.name(event.path, None)
        self.name(event.data.decode(), moved)

    def on_D(self, event: Event) -> None:  # noqa: N802
        self.folders.add(event.path)
        self.name(event.path, Inode())

    # -- images --------------------------------------------------------------------------------

    def image(self, rng: random.Random) -> tuple[str, dict[str, bytes]]:
        """(the mode, what the disk may hold if the power goes now)."""
        mode = rng.choice(MODES)
        lossy = rng.random() < 0.25
        names = dict(self.live)
        if lossy:
            share = rng.random()
            names = dict(self.safe)
            for change in self.loose:
                if rng.random() < share:
                    _rename(names, change)
        kept = {}
        for path, inode in names.items():
            gone = path in self.folders or not self._reachable(path, names)
            if gone or path.endswith(("-shm", f"/{ACKS}")):
                continue
            kept[path[len(self.root) + 1 :]] = survived(inode, mode, rng)
        return f"{mode}{' names' if lossy else ''}", kept

    def _reachable(self, path: str, names: dict[str, Inode]) -> bool:
        folder = str(PurePosixPath(path).parent)
        return folder == self.root or (folder in names and self._reachable(folder, names))


def _rename(names: dict[str, Inode], change: Naming) -> None:
    if change.inode is None:
        names.pop(change.path, None)
    else:
        names[change.path] = change.inode


def survived(inode: Inode, mode: str, rng: random.Random) -> bytes:
    """What of a file may be left."""
    content = bytearray(inode.safe)
    if mode == "none" or not inode.loose:
        return bytes(content)
    share = rng.random()
    upto = rng.randint(0, len(inode.loose))
    for n, (_, at, data) in enumerate(inode.loose):
        if mode == "prefix":
            if n < upto:
                apply(content, at, data)
        elif mode == "subset" or data is None:
            if rng.random() < share:
                apply(content, at, data)
        else:
            for begin, part in sectors(at, data):
                if rng.random() < share:
                    apply(content, begin, part)
    return bytes(content)


def sectors(at: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    """A write, cut at the sectors of the disk."""
    begin = 0
    while begin < len(data):
        end = min(len(data), begin + SECTOR - (at + begin) % SECTOR)
        yield at + begin, data[begin:end]
        begin = end


class Cut(NamedTuple):
    """A power cut."""

    number: int
    """How many events came before it."""
    mode: str
    acks: list[str]
    files: dict[str, bytes]


def cuts(
    events: list[Event], root: Path, count: int, rng: random.Random, *, deaf: bool = False
) -> Iterator[Cut]:
    """So many images at random moments of a trace."""
    disk = Disk(str(root), deaf)
    moments = sorted(rng.randint(1, len(events)) for _ in range(count))
    played = 0
    for moment in moments:
        while played < moment:
            disk.play(events[played])
            played += 1
        mode, files = disk.image(rng)
        yield Cut(moment, mode, list(disk.acks), files)


def lay(files: dict[str, bytes], folder: Path) -> None:
    """Put an image into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    folders = {str(PurePosixPath(name).parent) for name in files} - {"."}
    for name in sorted(folders):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if not (folder / name).is_dir():
            (folder / name).write_bytes(content)


class Wrong(Exception):
    """A promise was broken; the first word says which: lost, corrupt, torn, answers."""


def check(path: Path, acked: int, expected: plan.Expected, depth: int = 1) -> int:
    """Open a store after a crash: everything acknowledged is there, and nothing is half there.

    Depth 1 asks it a question, 2 also lets it go on living. Returns the number of the last step
    that the log holds.
    """
    pace = plan.Pace()
    pace.clock.time = plan.LATER
    try:
        with plan.opened(path, pace) as memory:
            dump = whole(log_of(memory), plan.TENANT)
            verify_log(plan.TENANT, dump)
            seq = dump.head.seq
            if seq < expected.after(acked).seq:
                raise Wrong(f"lost: {acked} was acknowledged, the log ends at {seq}")
            if seq not in expected.at:
                raise Wrong(f"torn: the log ends at {seq}, inside a commit")
            if plan.spelled(dump) != expected.at[seq].spelled:
                raise Wrong(f"corrupt: the log at {seq} is not what was written")
            if seq and depth and plan.answer(memory, seq) != expected.at[seq].answer:
                raise Wrong(f"answers: those at {seq} differ from those of the record")
        if depth > 1:
            _go_on(path, expected.at[seq])
    except MemoriterError as error:
        raise Wrong(f"corrupt: {error!r}") from error
    return max(n for n, state in enumerate(expected.states) if state.seq == seq) - 1


def _go_on(path: Path, state: plan.State) -> None:
    """Without its derived files the store answers the same; it can be written and kept up."""
    shutil.rmtree(path.with_name(path.name + ".idx"), ignore_errors=True)
    pace = plan.Pace()
    pace.clock.time = plan.LATER
    with plan.opened(path, pace) as memory:
        if state.seq and plan.answer(memory, state.seq) != state.answer:
            raise Wrong(f"answers: those at {state.seq} differ after a rebuild")
        memory.remember_many([{"text": f"after the cut {n}", "id": f"new{n}"} for n in range(8)])
        memory.maintain()
        memory.agents.upsert("after")
    with plan.opened(path, pace) as memory:
        if memory.get("new7").text != "after the cut 7":
            raise Wrong("lost: what was written after the cut")
        verify_log(plan.TENANT, whole(log_of(memory), plan.TENANT))
