"""An embedder that hangs holds nobody up: a question is answered by words, a write is kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from tests.inside import log_of

import memoriter
from memoriter.embed import call
from memoriter.embed.call import MAX_ABANDONED, EmbedderTimeout, Patience, call_with_deadline
from memoriter.embed.http import HttpEmbedder
from memoriter.embed.vector_space import space_of
from memoriter.memory.embedders import embedder_of
from memoriter.memory.facade import Memory
from memoriter.models.worker_thread import run_in_thread
from memoriter.testing.fakes import START, ToyEmbedder

TIMES = (0.05, 0.05)


class Hanging(ToyEmbedder):
    """At every n-th call it hangs until it is let go, or answers nonsense."""

    def __init__(self, every: int, how: str = "hangs") -> None:
        super().__init__()
        self.every, self.how, self.asked = every, how, 0
        self.free = threading.Event()

    def embed(self, texts: Sequence[str], side: Any) -> list[Any]:
        self.asked += 1
        vectors = super().embed(texts, side)
        if not self.every or self.asked % self.every:
            return vectors
        match self.how:
            case "hangs":
                self.free.wait(600)
            case "fails":
                raise ConnectionError("gone")
            case "NaN":
                return [np.full(self.dimension, np.nan, np.float32) for _ in texts]
            case _:
                return [np.ones(3, np.float32) for _ in texts]
        return vectors


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    model = Hanging(1)
    yield model
    model.free.set()


def opened(model: ToyEmbedder) -> Memory:
    return memoriter.open(":memory:", embedder=model, embed_timeout=TIMES)


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The times as they are given, no time for each text more."""
    monkeypatch.setattr(Patience, "seconds", lambda self, side, _: getattr(self, side))


def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing hangs now: what a busy machine does late is no late answer."""
    monkeypatch.setattr(Patience, "seconds", lambda *_: 60.0)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One for each call that was begun, also if its thread has not run yet."""
    begun: list[str] = []

    def counted(act: Any, name: str) -> Any:
        begun.append(name)
        return run_in_thread(act, name)

    monkeypatch.setattr(call, "run_in_thread", counted)
    return begun


@pytest.mark.parametrize("how", ["hangs", "fails", "NaN", "wrong size"])
@pytest.mark.parametrize("every", [1, 2, 3])
def test_every_write_is_kept_and_made_up_for_later(
    every: int, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Hanging(every, how)
    with opened(model) as memory:
        commits = [memory.remember(f"port note number {n}", id=f"n{n}") for n in range(9)]
        assert memory.browse(limit=50).total == 9
        assert memory.status().debt == sum(commit.debt for commit in commits) > 0
        model.asked, model.every = 0, 1
        degraded = memory.recall("port note", recipe="memoriter")
        assert (degraded.status, "meaning" in degraded.skipped) == ("degraded", True)
        assert len(degraded) == 9
        model.every = 0
        model.free.set()
        no_hurry(monkeypatch)
        _settled(memory)
        assert (memory.maintain().behind, memory.status().debt) == (0, 0)
        full = memory.recall("port note number 3", require={"meaning"})
        assert (full.status, "meaning" in full.used) == ("complete", True)
        assert full.skipped == {"moment": "the question names no time"}


def _settled(memory: Memory) -> None:
    """Wait until the calls that were left behind are over."""
    until = time.monotonic() + 60
    while memory.maintain().behind and time.monotonic() < until:
        time.sleep(0.02)


def test_a_question_says_how_long_it_waited(
    hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging.every = 0
    with opened(hanging) as memory:
        with monkeypatch.context() as patch:
            no_hurry(patch)
            memory.remember("port note")
        hanging.every = 1
        result = memory.recall("port note")
    assert result.skipped["meaning"] == "the embedder did not answer within 0.05 s"
    assert result.used == ("words", "kin")


def test_one_that_hangs_for_good_is_soon_not_asked_any_more(
    hanging: Hanging, calls: list[str]
) -> None:
    with opened(hanging) as memory:
        memory.remember_many(f"note {n}" for n in range(3))
        results = [memory.recall("note") for _ in range(8)]
        assert len(calls) == MAX_ABANDONED
        assert results[-1].skipped["meaning"] == "the embedder is still busy with 4 earlier calls"


def test_upkeep_does_not_wait_for_it_again_and_again(hanging: Hanging, calls: list[str]) -> None:
    with opened(hanging) as memory:
        memory.remember_many(f"note {n}" for n in range(600))
        before = len(calls)
        report = memory.maintain()
        assert (report.embedded, report.owed) == (0, 600)
        assert 0 < before <= len(calls) <= before + 2


def test_the_packaged_embedders_are_called_directly() -> None:
    here = threading.get_ident()
    for name in ("table", "hash"):
        model = embedder_of(name)
        assert model is not None
        assert call_with_deadline(threading.get_ident, model, 60.0) == here
    assert call_with_deadline(threading.get_ident, ToyEmbedder(), 60.0) != here


def test_an_error_of_the_embedder_comes_through() -> None:
    def fails() -> None:
        raise KeyError("no such model")

    with pytest.raises(KeyError):
        call_with_deadline(fails, ToyEmbedder(), 60.0)
    over = threading.Event()
    with pytest.raises(EmbedderTimeout, match=r"within 0.01 s"):
        call_with_deadline(over.wait, ToyEmbedder(), 0.01)
    over.set()


@pytest.mark.parametrize(
    "timeout", ["5", (1,), (1, 2, 3), 0, -1, float("nan"), True, (5, None), {}]
)
def test_a_wrong_timeout_is_refused(timeout: object) -> None:
    with pytest.raises(memoriter.InputError, match="embed_timeout"):
        memoriter.open(":memory:", embed_timeout=timeout)  # pyright: ignore[reportArgumentType]  # on purpose


def test_a_given_vector_never_asks_a_server_for_its_length() -> None:
    model = HttpEmbedder("none", "http://127.0.0.1:9/v1", query_seconds=0.01, record_seconds=0.01)
    with memoriter.open(":memory:", embedder=model) as memory:
        memory.remember("port")
        log_of(memory).commit(_vector(space_of(model), [1.0, 0.0]))
        asked: list[object] = []
        model.embed = lambda *args: asked.append(args) or []  # type: ignore[method-assign]  # pyright: ignore[reportAttributeAccessIssue]  # a trap
        result = memory.recall("port", vector=[1.0, 0.0], recipe="semantic")
        assert (result[0].score, asked) == (1.0, [])
        with pytest.raises(memoriter.BadQuery, match="expected 2 numbers, got 3"):
            memory.recall("port", vector=[1.0, 0.0, 0.0])
        assert not asked


def _vector(space: str, values: list[float]) -> Any:
    from memoriter.core.batch import Batch, Embed, Vector  # noqa: PLC0415  # for this one

    body = np.array(values, "<f4").tobytes()
    act = Embed(1, space, Vector(space, 0, "unit", body))
    return Batch("default", (act,), START)
