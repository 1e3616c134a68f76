"""Many processes and threads on one file: no errors, nothing lost, nothing twice, no long wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.crash.conftest import Note
from tests.crash.crowd import held_through_a_merge, settle, taken_in_turn, together
from tests.crash.threads import (
    a_cancelled_call_still_commits,
    a_lone_write_does_not_linger,
    commits_are_shared,
    readers_do_not_wait_for_a_writer,
)
from tests.night import NIGHT

import memoriter

ENTRIES = 4000 if NIGHT else 320
"""So many are written in all, however long that takes."""


def test_eight_processes_write_one_file(tmp_path: Path, note: Note) -> None:
    reports = together(tmp_path / "m.db", ["write"] * 8, ENTRIES)
    worst, share = taken_in_turn(reports)
    speed = settle(tmp_path / "m.db", reports) / max(one["took"] for one in reports)
    note("8 writers: commits/s / worst wait / errors", f"{speed:.0f} / {worst:.2f} s / 0")
    note("8 writers: fewest and most of one process", f"{min(share)} {max(share)}")


def test_four_processes_write_one_chain(tmp_path: Path, note: Note) -> None:
    reports = together(tmp_path / "m.db", ["write"] * 4, ENTRIES // 2)
    note("chain over 4 processes: entries / breaks", f"{settle(tmp_path / 'm.db', reports)} / 0")


def test_merges_of_one_process_break_no_reader(tmp_path: Path, note: Note) -> None:
    path = tmp_path / "m.db"
    reports = together(path, ["write", "read", "read", "read"], ENTRIES // 2)
    errors = [error for one in reports for error in one["errors"]]
    assert not errors, errors[:3]
    assert settle(path, reports) >= 60, "too little was written to be merged"
    assert list(path.with_name("m.db.idx").glob("*.seg"))
    asked, worst = (
        sum(one["asked"] for one in reports[1:]),
        max(one["worst"] for one in reports[1:]),
    )
    note("3 readers beside a writer: asked / worst", f"{asked} / {worst:.2f} s")


def test_a_view_outlives_the_files_it_was_mapped_from(tmp_path: Path) -> None:
    held_through_a_merge(tmp_path / "m.db")


def test_threads_share_one_memory(tmp_path: Path) -> None:
    acked: list[tuple[str, int]] = []
    failed: list[BaseException] = []
    with memoriter.open(tmp_path / "m.db", embedder=None, flush_rows=40) as memory:

        def one(who: int) -> None:
            try:
                for n in range(25):
                    name = f"t{who}-{n}"
                    made = memory.remember(f"{name} port", id=name)
                    acked.append((name, made.seq))
                    assert memory.get(name).text == f"{name} port"
                    assert memory.keywords("port", 3)
            except BaseException as error:  # raised below
                failed.append(error)

        running = [threading.Thread(target=one, args=(who,)) for who in range(8)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    assert not failed, failed
    assert settle(tmp_path / "m.db", [{"acked": acked}]) == 200


@pytest.mark.parametrize(
    "check",
    [
        commits_are_shared,
        a_lone_write_does_not_linger,
        readers_do_not_wait_for_a_writer,
        a_cancelled_call_still_commits,
    ],
)
def test_threads_do_not_get_in_each_others_way(check: Callable[[Path], None], quick: Path) -> None:
    check(quick / "m.db")
