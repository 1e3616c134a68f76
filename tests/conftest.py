"""What all tests share: how much hypothesis tries, and a memory that checks its every answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from recollect.core.explanation import reconciles
from recollect.memory.facade import Memory
from recollect.testing.fakes import CountedEntropy, HandClock

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=40, database=None,
    suppress_health_check=_SLOW,
)  # fmt: skip
settings.register_profile(
    "night", deadline=None, max_examples=800, print_blob=True, suppress_health_check=_SLOW
)
settings.load_profile("night" if os.environ.get("RECOLLECT_NIGHT") == "1" else "ci")


class Asserting(Memory):
    """A memory that proves every number of every hit of every search."""

    def recall(self, query: str, limit: int | None = None, **ask: Any) -> Any:
        result = super().recall(query, limit, **ask)
        for rank, hit in enumerate(result, start=1):
            assert hit.rank == rank
            assert hit.explanation.value == hit.score
            assert reconciles(hit.explanation)
            assert all(reconciles(lane.why) for lane in hit.lanes.values())
            assert all(lane.why.value == lane.score for lane in hit.lanes.values())
        return result


@pytest.fixture(params=["ram", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """A memory in each kind of store, with a clock and randomness of its own."""
    import recollect  # noqa: PLC0415  # loads the engine only where it is used

    place = ":memory:" if request.param == "ram" else tmp_path / "memory.db"
    opened = recollect.open(
        place, clock=HandClock(), entropy=CountedEntropy(), maintenance="manual"
    )
    checked = Asserting(opened._parts, opened.scope)  # the same memory, watched
    yield checked
    checked.close()
