"""The thread that reads in advance: each index has its own errors, and may be dropped any time."""

from __future__ import annotations

import itertools
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from memoriter.core.errors import Corrupt
from memoriter.index import following
from memoriter.index.following import Follower


class Index:
    """An index that never comes to the end of its log."""

    def __init__(self, tenant: str, *, damaged: bool = False) -> None:
        self.tenant = tenant
        self.end = (0, 0)
        self.views = 0
        self.often = threading.Event()
        self._damaged = damaged

    def view(self) -> None:
        self.views += 1
        if self.views == 3:
            self.often.set()
        if self._damaged:
            raise Corrupt("damaged", hint="restore a backup")


class Cache:
    """Where indexes are, which are not weighed here."""

    def weigh(self, index: Any) -> None:
        """Do nothing."""


def ends(tenants: Any) -> dict[str, tuple[int, int]]:
    return dict.fromkeys(tenants, (1, 0))


def test_a_damaged_tenant_does_not_slow_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "EVERY_S", 0.001)
    monkeypatch.setattr(following, "AGAIN_S", 3600.0)
    damaged, sound = Index("a", damaged=True), Index("b")
    follower = Follower(ends)
    for index in (damaged, sound):
        follower.used(index, Cache().weigh)  # type: ignore[arg-type]  # what it needs of an index
    assert sound.often.wait(10)
    follower.close()
    assert damaged.views == 1


def test_an_index_that_is_dropped_before_it_is_read_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", failed.append)
    monkeypatch.setattr(following, "EVERY_S", 0.001)
    times = itertools.chain([0.0, 0.0], itertools.repeat(3600.0))  # asked, waited, gone
    monkeypatch.setattr(following, "time", SimpleNamespace(monotonic=lambda: next(times)))
    index = Index("a")
    before = set(threading.enumerate())
    Follower(ends).used(index, Cache().weigh)  # type: ignore[arg-type]  # what it needs of an index
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert (failed, index.views) == ([], 0)
