"""What all tests share: how much hypothesis tries, that answers are checked, and patience."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.night import NIGHT
from tests.sound import sound

from memoriter.memory.facade import Memory
from memoriter.testing.fakes import CountedEntropy, HandClock

os.environ.setdefault("MEMORITER_NEW_STORE", "table")
"""Most tests are not about meaning: their stores, and those of the programs they start, have the
light embedder. `tests/unit/test_memory_model.py` and its like say which they want."""

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=12, database=None,
    suppress_health_check=_SLOW,
)  # fmt: skip
settings.register_profile(
    "night", deadline=None, max_examples=800, print_blob=True, suppress_health_check=_SLOW
)
settings.register_profile("slice", settings.get_profile("ci"), max_examples=4)
settings.load_profile("night" if NIGHT else "ci")

LONG = (
    "tests/http/test_soak.py", "tests/property/test_machine.py", "tests/crash/test_kill.py",
    "tests/crash/test_forget.py", "tests/crash/test_planted.py", "tests/http/test_serving.py",
)  # fmt: skip
"""Files whose tests take longest: begun first, so that no worker is left alone with one."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


@pytest.fixture(scope="session", autouse=True)
def _every_answer_is_sound() -> Iterator[None]:
    """Whatever a test asks of a memory, every number of every hit of the answer is checked."""
    from memoriter.memory import search  # noqa: PLC0415  # loads the engine only where it is used

    made = search.answer
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "answer", lambda *args: sound(made(*args)))
        yield


@pytest.fixture(scope="session", autouse=True)
def _nobody_is_late_because_the_machine_is_busy() -> Iterator[None]:
    """Rerankers and embedders have a minute: a thread that was not let run is no late answer.

    A reranker that is told to hang keeps its deadline, since then the deadline is what is tested;
    the tests of an embedder's deadline set their own.
    """
    from memoriter.embed.call import Patience  # noqa: PLC0415  # as above
    from memoriter.memory import search  # noqa: PLC0415  # as above

    ask, seconds = search.ask_reranker, Patience.seconds

    def patient(reranker: Any, query: str, texts: Any, timeout_ms: float) -> Any:
        hangs = getattr(reranker, "hanging", False)
        return ask(reranker, query, texts, timeout_ms if hangs else max(timeout_ms, 60_000))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "ask_reranker", patient)
        patch.setattr(Patience, "seconds", lambda *given: max(seconds(*given), 60.0))
        yield


@pytest.fixture
def clock() -> HandClock:
    """The clock of `memory`, to be moved by hand."""
    return HandClock()


@pytest.fixture(params=["ram", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: HandClock) -> Iterator[Memory]:
    """A memory in each kind of store, with a clock and randomness of its own."""
    import memoriter  # noqa: PLC0415  # loads the engine only where it is used

    place = ":memory:" if request.param == "ram" else tmp_path / "memory.db"
    opened = memoriter.open(place, clock=clock, entropy=CountedEntropy(), maintenance="manual")
    yield opened
    opened.close()
