"""Vectors that are computed after their records come to stand beside them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.in_bytes import ByteEmbedder
from tests.inside import context_of, embedder_of, engine_of, log_of, view_of

import memoriter
from memoriter.core.scope import Scope
from memoriter.kernel.library import VARIABLE, kernel_choice
from memoriter.memory.facade import Memory
from memoriter.memory.filling import Filling
from memoriter.testing.fakes import HandClock
from memoriter.write.writer import Writer


class Failing(ByteEmbedder):
    """Has no vector now for texts with certain words."""

    without: tuple[str, ...] = ()

    def _one(self, text: str) -> Any:
        if any(word in text.split() for word in self.without):
            raise ConnectionError("told to fail")
        return super()._one(text)


def opened(path: Path, **more: Any) -> Memory:
    return memoriter.open(path, embedder=Failing(), clock=HandClock(), maintenance="manual", **more)


class Later(ByteEmbedder):
    """Large writes leave its vectors owed."""

    fills_later = True


def test_upkeep_merges_what_was_published_with_its_vectors(tmp_path: Path) -> None:
    with memoriter.open(
        tmp_path / "m.db", embedder=Later(), flush_rows=512, maintenance="manual"
    ) as memory:
        memory.remember_many([{"text": f"note {n} " + "of the year " * 8} for n in range(1100)])
        index_cache = engine_of(memory).index_cache
        index_cache.tidy("default")
        writer = Writer(log_of(memory), context_of(memory), Scope.of("default"))
        assert writer.pay(500) == (500, 0)  # too few: more are to come
        index_cache.tidy("default")
        assert not any(segment.in_order for segment in view_of(memory).segments)
        memory.embedding.fill()
        index_cache.tidy("default")
        (segment,) = view_of(memory).segments
        assert segment.in_order
        assert len(segment) == 1100


def test_upkeep_is_asked_for_once_nothing_more_can_be_paid() -> None:
    owed, ended = [20], threading.Event()

    def pay(limit: int) -> tuple[int, int]:
        paid = min(limit, owed[0])
        owed[0] -= paid
        return paid, owed[0]

    filling = Filling()
    filling.begin("t", pay, ended.set, owes=True)
    assert ended.wait(60.0)
    assert owed == [0]
    filling.close(1.0)


@pytest.mark.parametrize("kernel", ["numpy", "native"])
def test_a_past_question_does_not_see_vectors_that_came_later(
    tmp_path: Path, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, kernel)
    kernel_choice.cache_clear()
    try:
        with opened(tmp_path / "m.db", flush_rows=512) as memory:
            embedder_of(memory).without = ("red",)
            for n in range(0, 2400, 8):
                color = ("red", "green")[n // 8 % 2]
                memory.remember_many([f"note {n + k} {color}" for k in range(8)])
            assert memory.status().debt == 1200
            asked = [memory.recall(f"note {n}", 20) for n in (4, 1000, 2222)]
            embedder_of(memory).without = ()
            memory.maintain()
            (segment,) = view_of(memory).segments
            seqs = segment.arrays["vectors.seqs"]
            assert segment.in_order
            assert not (seqs[1:] > seqs[:-1]).all()  # not in the order in which they came
            for each in asked:
                assert memory.replay(each.receipt).same
    finally:
        monkeypatch.undo()
        kernel_choice.cache_clear()
