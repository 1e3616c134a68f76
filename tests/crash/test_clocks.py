"""Clocks that jump, stop and run backwards: order comes from the log, not from the clock."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.crash import lab, plan
from tests.crash.conftest import Note
from tests.inside import log_of
from tests.night import NIGHT

import memoriter
from memoriter.core.times import to_datetime
from memoriter.memory.facade import Memory
from memoriter.store.verify import verify_log
from memoriter.testing.fakes import SECOND, START, HandClock
from memoriter.testing.whole import whole

YEAR = 365 * 86_400
COUNT = 600 if NIGHT else 80
Motion = Callable[[HandClock, random.Random, int], object]


def _jumps(clock: HandClock, rng: random.Random, n: int) -> object:
    del n
    return clock.move(rng.choice((-10, 10, -1, 1)) * YEAR if rng.random() < 0.2 else 1)


MOTIONS: dict[str, Motion] = {
    "jumps by up to ten years": _jumps,
    "stands still": lambda clock, rng, n: None,
    "runs backwards": lambda clock, rng, n: clock.move(-1),
    "swings": lambda clock, rng, n: clock.move((-1) ** n * n),
}


def opened(path: Path, clock: HandClock) -> Memory:
    return memoriter.open(
        path, clock=clock, embedder=None, maintenance="manual", flush_rows=10, horizon_days=1e5
    )


@pytest.mark.parametrize("name", MOTIONS)
def test_a_clock_may_do_what_it_likes(name: str, tmp_path: Path, note: Note) -> None:
    rng, clock, made = random.Random(f"{name} {lab.SEED}"), HandClock(), []
    memory = opened(tmp_path / "m.db", clock)
    views: list[tuple[int, list[str]]] = []
    for n in range(COUNT):
        made.append(memory.remember(f"note {n} port"))
        if n % 7 == 3:
            memory.maintain()
        if n % 9 == 5:
            memory.close()
            memory = opened(tmp_path / "m.db", clock)
        moment = made[-1].time
        views = [view for view in views if view[0] < moment]
        views.append((moment, seen(memory, moment)))
        MOTIONS[name](clock, rng, n)
    ids = [commit.id for commit in made]
    assert len(set(ids)) == COUNT
    assert [commit.seq for commit in made] == sorted({commit.seq for commit in made})
    times = [commit.time for commit in made]
    assert times == sorted(times), "commit time never runs backwards"
    assert all(seen(memory, moment) == shown for moment, shown in views), "known_at is stable"
    dump = whole(log_of(memory), plan.TENANT)
    verify_log(plan.TENANT, dump)
    assert [row.id for row in dump.records] == ids, "the log keeps the order of commits"
    memory.close()
    note("clock: commits / views / changed", f"{COUNT} / {len(views)} / 0")


def seen(memory: Memory, moment: int) -> list[str]:
    """What was known at a moment, told by a clock that stands far off."""
    page = memory.browse("oldest", limit=10_000, known_at=moment, expired="show")
    return [record.id for record in page.records]


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
