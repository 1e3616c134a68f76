"""Lives under clocks that jump, stand still or run backwards."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from tests.crash import lab, plan
from tests.crash.conftest import Note
from tests.inside import log_of
from tests.night import NIGHT

import memoriter
from memoriter.memory.facade import Memory
from memoriter.store.verify import verify_log
from memoriter.testing.fakes import HandClock
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


def lived(name: str, tmp_path: Path, note: Note) -> None:
    """Write under a clock that moves like this; nothing of the log or of a view goes wrong."""
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
