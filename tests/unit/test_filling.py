"""A space that fills in the background while the old one serves."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from tests.inside import stop_sign

import memoriter
from memoriter.core.errors import InputError, Unavailable
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import ToyEmbedder


class Slow(ToyEmbedder):
    """Another space, whose embedder waits for a sign before every call but the first."""

    name = "slow"
    fingerprint = "slow/1"

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.asked = threading.Event()
        self.fails = False

    def embed(self, texts: Sequence[str], side: Any) -> list[Any]:
        self.asked.set()
        self.go.wait(300)
        if self.fails:
            raise ConnectionError("away")
        return super().embed(texts, side)


@pytest.fixture
def memory() -> Memory:
    memory = memoriter.open(":memory:", embedder=ToyEmbedder())
    memory.remember_many([f"ssh port {n}" for n in range(600)])
    return memory


def rows(memory: Memory, embedder: str) -> int:
    return next((s.rows for s in memory.embedding.status() if s.embedder == embedder), 0)


def test_the_old_space_serves_while_the_new_one_fills(memory: Memory) -> None:
    model = Slow()
    filling = memory.embedding.begin(model)
    assert model.asked.wait(60)
    assert filling.running
    assert "meaning" in memory.recall("ssh port 7").used
    memory.remember("written meanwhile")
    with pytest.raises(Unavailable, match="still runs"):
        filling.wait(0.01)
    model.go.set()
    space = filling.wait(60)
    assert (space.rows, space.of, filling.running) == (601, 601, False)
    assert filling.rows == 601
    assert rows(memory, "slow") == 601


def test_a_filling_that_is_stopped_keeps_what_it_did_and_can_be_begun_again(
    memory: Memory,
) -> None:
    model = Slow()
    filling = memory.embedding.begin(model)
    assert model.asked.wait(60)
    stopper = threading.Thread(target=filling.stop)
    stopper.start()
    assert stop_sign(filling).wait(60)  # it is told before the first portion is done
    model.go.set()
    stopper.join()
    done = filling.rows
    assert 0 < done < 600
    with pytest.raises(Unavailable, match="was stopped"):
        filling.wait()
    assert rows(memory, "slow") >= done
    assert memory.embedding.begin(model).wait(60).rows == 600


def test_what_goes_wrong_is_told_to_who_waits(memory: Memory) -> None:
    model = Slow()
    model.fails = True
    model.go.set()
    with pytest.raises(Unavailable, match="slow fails"):
        memory.embedding.begin(model).wait(60)
    with pytest.raises(InputError):
        memory.embedding.begin("given:4")
