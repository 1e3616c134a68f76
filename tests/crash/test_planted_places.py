"""Promises about where and beside whom a store lives: the bug that each real check must see."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.crash import damages, surroundings, threads

import memoriter
import memoriter.aio
import memoriter.write.doctor
import memoriter.write.writer
from memoriter.index import file
from memoriter.store import group_commit
from memoriter.store.port import Head
from memoriter.store.sqlite import connect, ledger, openers, reader
from memoriter.store.sqlite import store as room

Check = Callable[[Path], None]
Plant = Callable[[pytest.MonkeyPatch], None]


def a_retry_is_answered_from_its_key(path: Path) -> None:
    with memoriter.open(path, embedder=None) as memory:
        first = memory.remember("a note", key="k")
        assert memory.remember("a note", key="k") == first
        assert memory.browse().total == 1


def a_retry_asks_its_key_before_the_present(path: Path) -> None:
    with memoriter.open(path, embedder=None) as memory:
        memory.remember("a note", id="a")
        first = memory.update("a", text="another", key="k")
        memory.forget("a")
        assert memory.update("a", text="another", key="k") == first


@pytest.mark.parametrize(
    "check", [a_retry_is_answered_from_its_key, a_retry_asks_its_key_before_the_present]
)
def test_a_retry_is_answered(check: Check, tmp_path: Path) -> None:
    check(tmp_path / "m.db")


def _anywhere(plant: pytest.MonkeyPatch) -> None:
    """No filesystem is a network's."""
    plant.setattr(connect, "_NETWORK", frozenset())


def _any_sqlite(plant: pytest.MonkeyPatch) -> None:
    """No version is too old."""
    plant.setattr(connect, "MIN_SQLITE", 0)


def _blind(plant: pytest.MonkeyPatch) -> None:
    """Nobody looks who else holds the file."""
    plant.setattr(openers.Openers, "check", lambda self, path: None)


def _patient(plant: pytest.MonkeyPatch) -> None:
    """Nobody looks at the clock while a reader reads."""
    plain: Any = apsw.Connection

    class Driver(plain):
        def set_progress_handler(self, *given: Any, **more: Any) -> None:
            pass

        def interrupt(self) -> None:
            pass

    plant.setattr(apsw, "Connection", Driver)


def _one_by_one(plant: pytest.MonkeyPatch) -> None:
    """Each batch has a transaction of its own."""
    plain = group_commit.GroupCommit._lead

    def lead(self: Any) -> None:
        together, self._waiting = self._waiting, []
        for job in together:
            self._waiting = [job]
            plain(self)

    plant.setattr(group_commit.GroupCommit, "_lead", lead)


def _lingering(plant: pytest.MonkeyPatch) -> None:
    """Whoever leads waits a while for company."""
    plain = group_commit.GroupCommit._lead

    def lead(self: Any) -> None:
        time.sleep(0.02)
        plain(self)

    plant.setattr(group_commit.GroupCommit, "_lead", lead)


def _queueing(plant: pytest.MonkeyPatch) -> None:
    """Readers queue with the writers."""
    plain = room.Sqlite._rows

    def rows(self: Any, *given: Any) -> Any:
        with self._lease.held():
            return plain(self, *given)

    plant.setattr(room.Sqlite, "_rows", rows)
    plant.setattr(threads, "HELD_S", 3.0)  # they would wait as long as the transaction stands open


def _hurried(plant: pytest.MonkeyPatch) -> None:
    """Closing does not wait for what still runs."""

    async def close(self: Any) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.memory.close()

    plant.setattr(memoriter.aio.AsyncMemory, "close", close)


def _heavy_handed(plant: pytest.MonkeyPatch) -> None:
    """The doctor takes the record away with its words."""
    plain = room.mend

    def mend(db: Any, tenant: str, words: Any, lost: Any) -> None:
        plain(db, tenant, words, lost)
        db.executemany("DELETE FROM records WHERE row=?", [(row.row,) for row in words])

    plant.setattr(room, "mend", mend)


def _wasteful(plant: pytest.MonkeyPatch) -> None:
    """The doctor takes every damaged vector for one that can be made again."""

    def vectors(tenant: str, sound: Any, bad: Any, space: str, findings: Any) -> None:
        del tenant, sound, space
        findings.vectors += bad
        findings.derived += ["a vector"] * len(bad)

    plant.setattr(memoriter.write.doctor, "_vectors", vectors)


def _believing(plant: pytest.MonkeyPatch) -> None:
    """The row of a tenant is taken for true."""
    for each in (reader, ledger):
        plant.setattr(each, "checked_head", lambda tenant, *row: Head(*row[:5]))


def _nameless(plant: pytest.MonkeyPatch) -> None:
    """A segment is served under any name, whoever's it is."""
    plain = file._header

    def header(data: Any, name: str) -> dict[str, Any]:
        del name
        read = plain(data, f"-{file.checksum(_header_bytes(data)).hex()}")
        return {**read, "tenant": _BERT, "index": read["index"]}

    plant.setattr(file, "_header", header)


_BERT = hashlib.sha256(b"bert").hexdigest()


def _header_bytes(data: Any) -> bytes:
    size = int.from_bytes(data[8 : file._LENGTH], "little")
    return data[file._PREFIX : file._PREFIX + size]


def _keyless(plant: pytest.MonkeyPatch) -> None:
    """Keys are read by nobody."""
    plant.setattr(ledger.SqliteLedger, "keys", lambda self, names: {})


def _present_minded(plant: pytest.MonkeyPatch) -> None:
    """The present state is asked, and not the key."""

    def again(self: Any, asked: Any, refusal: Exception, *_: Any) -> None:
        raise refusal

    plant.setattr(memoriter.write.writer.Writer, "_again", again)


PROMISES: dict[Check, Plant] = {
    surroundings.a_network_disk_is_refused: _anywhere,
    surroundings.an_unsafe_sqlite_is_refused: _any_sqlite,
    surroundings.another_opener_is_refused: _blind,
    surroundings.a_stuck_reader_is_ended: _patient,
    threads.commits_are_shared: _one_by_one,
    threads.a_lone_write_does_not_linger: _lingering,
    threads.readers_do_not_wait_for_a_writer: _queueing,
    threads.a_cancelled_call_still_commits: _hurried,
    damages.the_doctor_mends_derived_data_only: _heavy_handed,
    damages.the_doctor_keeps_what_it_cannot_make: _wasteful,
    damages.a_damaged_head_is_not_believed: _believing,
    damages.a_segment_of_another_is_not_served: _nameless,
    a_retry_is_answered_from_its_key: _keyless,
    a_retry_asks_its_key_before_the_present: _present_minded,
}


@pytest.mark.parametrize("check", PROMISES, ids=lambda check: check.__name__)
def test_a_planted_bug_turns_its_check_red(
    check: Check, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PROMISES[check](monkeypatch)
    with pytest.raises((AssertionError, memoriter.MemoriterError, pytest.fail.Exception)):
        check(quick / "m.db")
