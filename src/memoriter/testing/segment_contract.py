"""The contract of a home of segments as tests: a backend subclasses it and says how to open one.

class TestMySegments(SegmentsContract):
    home = staticmethod(lambda folder: MySegments(folder))
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from memoriter.core.errors import NotFound
from memoriter.store.segments import Segments, owned_prefix

__all__ = ["SegmentsContract"]

T = "default"


def segment_name(tenant: str, hash: str) -> str:
    """A name as `index.file` gives it."""
    return f"{owned_prefix(tenant)}-0-9-{hash}.seg"


class SegmentsContract:
    """Put, open, list, drop, and one turn at a time."""

    home: ClassVar[Callable[[Path], Segments]]

    @pytest.fixture
    def kept(self, tmp_path: Path) -> Segments:
        """An empty home; as in upkeep, everything happens in a turn."""
        home = type(self).home(tmp_path)
        with home.turn(T, wait=False) as taken:
            assert taken
        return home

    def test_what_is_put_can_be_opened(self, kept: Segments) -> None:
        """Its parts come back as one run of bytes; putting it twice changes nothing."""
        name = segment_name(T, "aa")
        for _ in range(2):
            kept.put(T, name, [b"one ", memoryview(b"two "), b"", b"three"])
            assert bytes(kept.open(T, name)) == b"one two three"
            assert list(kept.list(T)) == [name]

    def test_a_missing_one_is_not_found(self, kept: Segments) -> None:
        """Never put, put for nobody, or dropped."""
        name = segment_name(T, "aa")
        assert list(kept.list(T)) == []
        with pytest.raises(NotFound):
            kept.open(T, name)
        kept.put(T, name, [b"x"])
        kept.drop(T, [name, segment_name(T, "never")])
        kept.drop(T, [name])
        with pytest.raises(NotFound):
            kept.open(T, name)
        assert list(kept.list(T)) == []

    def test_what_is_open_stays_readable(self, kept: Segments) -> None:
        """Others may drop it, or put it again, while it is read."""
        name = segment_name(T, "aa")
        kept.put(T, name, [b"first"])
        opened = kept.open(T, name)
        kept.put(T, name, [b"first"])
        assert bytes(opened) == b"first"
        kept.drop(T, [name])
        assert bytes(opened) == b"first"

    def test_a_discarded_copy_is_fetched_again(self, kept: Segments) -> None:
        """With or without copies: the segment itself stays."""
        name = segment_name(T, "aa")
        assert not kept.discard_copy(T, name)
        kept.put(T, name, [b"first"])
        for _ in range(2):
            assert bytes(kept.open(T, name)) == b"first"
            kept.discard_copy(T, name)
        assert list(kept.list(T)) == [name]

    def test_tenants_are_listed_apart(self, kept: Segments) -> None:
        """Listing and dropping for one tenant does not touch another's."""
        kept.put(T, segment_name(T, "aa"), [b"x"])
        kept.put("other", segment_name("other", "bb"), [b"y"])
        assert list(kept.list(T)) == [segment_name(T, "aa")]
        kept.drop(T, kept.list(T))
        assert bytes(kept.open("other", segment_name("other", "bb"))) == b"y"

    def test_one_turn_at_a_time(self, kept: Segments) -> None:
        """Who does not wait is refused; who waits comes next."""
        order: list[str] = []

        def second() -> None:
            with kept.turn(T, wait=True) as taken:
                order.append(f"second {taken}")

        with kept.turn(T, wait=False) as taken:
            assert taken
            with kept.turn(T, wait=False) as again:
                assert not again
            waiting = threading.Thread(target=second)
            waiting.start()
            order.append("first")
        waiting.join()
        assert order == ["first", "second True"]
        with kept.turn(T, wait=False) as taken:
            assert taken

    def test_a_put_that_fails_leaves_nothing(self, kept: Segments) -> None:
        """An error while the parts are made leaves at most what the next sweep drops."""

        def parts() -> list[bytes]:
            raise RuntimeError("no parts")

        with pytest.raises(RuntimeError):
            kept.put(T, segment_name(T, "aa"), (part for part in parts()))
        with pytest.raises(NotFound):
            kept.open(T, segment_name(T, "aa"))
        kept.drop(T, kept.list(T))
        assert list(kept.list(T)) == []
