"""Clocks that jump, stop and run backwards: order comes from the log, not from the clock."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.crash.clocks import MOTIONS, YEAR, lived, opened
from tests.crash.conftest import Note

import memoriter
from memoriter.core.times import to_datetime
from memoriter.testing.fakes import SECOND, START, HandClock


@pytest.mark.parametrize("name", MOTIONS)
def test_a_clock_may_do_what_it_likes(name: str, tmp_path: Path, note: Note) -> None:
    lived(name, tmp_path, note)


@pytest.mark.parametrize("jump", [-10 * YEAR, -1, 0, 1, 10 * YEAR])
def test_nothing_expires_early_by_more_than_the_jump(jump: int, tmp_path: Path) -> None:
    clock = HandClock()
    lives = 3600 * SECOND
    with opened(tmp_path / "m.db", clock) as memory:
        memory.remember("a port that ends", id="ends", expires=START + lives)
        memory.remember("a port that stays", id="stays")
        clock.move(jump)
        gone = jump * SECOND >= lives
        assert {r.id for r in memory.browse().records} == ({"stays"} if gone else {"stays", "ends"})
        assert {hit.id for hit in memory.keywords("port")} == (
            {"stays"} if gone else {"stays", "ends"}
        )
        clock.time = START
        assert {r.id for r in memory.browse().records} == {"stays", "ends"}, "and comes back"
        assert memory.get("ends").expires == to_datetime(START + lives)


def test_ids_made_at_one_moment_differ(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db", HandClock()) as memory:
        made = memory.remember_many([f"note {n}" for n in range(2000)])
    assert len(set(made.ids)) == 2000


def test_ids_do_not_run_backwards_with_the_clock(tmp_path: Path) -> None:
    clock = HandClock()
    with opened(tmp_path / "m.db", clock) as memory:
        made = []
        for _ in range(5):
            made.append(memory.remember("a note").id)
            clock.move(-YEAR)
        assert [memory.get(each).created for each in made] == [
            to_datetime(START - n * YEAR * SECOND) for n in range(5)
        ], "a record's own time is the clock's"
    assert len({each[:13] for each in made}) == 1, "the part of an id that tells the time"


def test_ids_of_two_memories_of_one_process_share_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memoriter.open(tmp_path / "one.db", embedder=None) as one:
        first = one.remember("a note").id
    monkeypatch.setattr("memoriter.core.clock.time.time_ns", lambda: 1_500_000_000 * 10**9)
    with memoriter.open(tmp_path / "two.db", embedder=None) as two:
        assert two.remember("a note").id[:13] >= first[:13]
