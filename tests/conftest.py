"""What all tests share: how much hypothesis tries, and that every answer is checked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.sound import sound

from memoriter.memory.facade import Memory
from memoriter.testing.fakes import CountedEntropy, HandClock

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=40, database=None,
    suppress_health_check=_SLOW,
)  # fmt: skip
settings.register_profile(
    "night", deadline=None, max_examples=800, print_blob=True, suppress_health_check=_SLOW
)
settings.load_profile("night" if os.environ.get("MEMORITER_NIGHT") == "1" else "ci")


@pytest.fixture(scope="session", autouse=True)
def _every_answer_is_sound() -> Iterator[None]:
    """Whatever a test asks of a memory, every number of every hit of the answer is checked."""
    from memoriter.memory import asking  # noqa: PLC0415  # loads the engine only where it is used

    made = asking.answer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "answer", lambda *told: sound(made(*told)))
        yield


@pytest.fixture(params=["ram", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """A memory in each kind of store, with a clock and randomness of its own."""
    import memoriter  # noqa: PLC0415  # loads the engine only where it is used

    place = ":memory:" if request.param == "ram" else tmp_path / "memory.db"
    opened = memoriter.open(
        place, clock=HandClock(), entropy=CountedEntropy(), maintenance="manual"
    )
    yield opened
    opened.close()
