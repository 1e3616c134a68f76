"""What the tests on PostgreSQL share: a store and a cache for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.postgres.server import emptied_stores, store_url

from memoriter.memory.facade import Memory
from memoriter.testing.fakes import CountedEntropy, HandClock


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which this machine keeps segments."""
    monkeypatch.setenv("MEMORITER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def url(tmp_path: Path) -> str:
    """The address of an empty store."""
    return store_url(tmp_path)


@pytest.fixture
def memory(tmp_path: Path, clock: HandClock) -> Iterator[Memory]:
    """A memory on PostgreSQL: in place of the one in memory and the one in a file."""
    import memoriter  # noqa: PLC0415  # loads the engine only where it is used

    url = emptied_stores().place(tmp_path)
    opened = memoriter.open(url, clock=clock, entropy=CountedEntropy(), maintenance="manual")
    yield opened
    opened.close()
