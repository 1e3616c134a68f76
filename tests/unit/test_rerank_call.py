"""Asking a reranker: an answer in time, or a reason; nobody waits, nothing is raised."""

from __future__ import annotations

import contextvars
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

from memoriter.core.errors import Unavailable
from memoriter.rank.grid import STEP
from memoriter.rerank.call import (
    MAX_ABANDONED,
    TIMEOUT_MS,
    Failed,
    RerankScores,
    ask_reranker,
    counts,
)
from memoriter.rerank.callable import FunctionReranker
from memoriter.testing.fakes import ToyReranker

TEXTS = ["red fish", "blue bird", "red bird"]
PATIENT = 60_000
"""Milliseconds for what answers at once: a thread that was not let run is no late answer."""


@pytest.fixture
def toy() -> Iterator[ToyReranker]:
    made = ToyReranker()
    yield made
    made.released.set()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """How long each question was ready to wait, in seconds."""
    noted: list[float | None] = []
    plain = Future[Any].exception

    def exception(self: Future[Any], timeout: float | None = None) -> BaseException | None:
        noted.append(timeout)
        return plain(self, timeout)

    monkeypatch.setattr(Future, "exception", exception)
    return noted


def asked(reranker: Any, query: str, texts: Sequence[str]) -> RerankScores | Failed:
    """An answer, without haste."""
    return ask_reranker(reranker, query, texts, PATIENT)


def soon(true: Callable[[], bool]) -> bool:
    """Whether it becomes true."""
    until = time.monotonic() + 60.0
    while not true() and time.monotonic() < until:
        time.sleep(0.01)
    return true()


def values(outcome: RerankScores | Failed) -> list[float]:
    assert isinstance(outcome, RerankScores)
    assert outcome.values.dtype == np.float64
    return outcome.values.tolist()


def reason(outcome: RerankScores | Failed) -> str:
    assert isinstance(outcome, Failed)
    return outcome.reason


def answering(answer: object) -> ToyReranker:
    toy = ToyReranker()
    toy.answer = answer
    return toy


def running() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "memoriter-rerank"}


# --- answers ---------------------------------------------------------------------------------


def test_scores_come_back_in_order_on_the_grid(toy: ToyReranker) -> None:
    assert values(asked(toy, "red bird", TEXTS)) == [0.5, 0.5, 1.0]
    assert toy.asked == [("red bird", tuple(TEXTS))]
    third, *_ = values(asked(answering([1 / 3, -1 / 3, 0.0]), "q", TEXTS))
    assert third == round(2**32 / 3) * STEP


@pytest.mark.parametrize(
    "answer",
    [
        [1, 0, -2],
        (1.0, 0.0, -2.0),
        np.array([1, 0, -2], np.int8),
        np.array([1, 0, -2], np.float32),
        [np.float16(1.0), -0.0, np.int64(-2)],
    ],
)
def test_numbers_of_any_kind_are_scores_and_there_is_one_zero(answer: object) -> None:
    assert str(values(asked(answering(answer), "q", TEXTS))) == "[1.0, 0.0, -2.0]"


def test_without_texts_nobody_is_asked(toy: ToyReranker) -> None:
    toy.failing = True
    assert values(asked(toy, "q", [])) == []
    assert toy.asked == []


def test_the_largest_score_is_exact() -> None:
    assert values(asked(answering([2.0**20, -(2.0**20), STEP]), "q", TEXTS))[2] == STEP


# --- nonsense --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "came"),
    [
        ([], "no scores"),
        ([1.0], "1 score"),
        ([1.0, 2.0], "2 scores"),
        ([1.0, 2.0, 3.0, 4.0], "4 scores"),
        ([1.0, float("nan"), 3.0], "NaN or infinity"),
        ([1.0, float("inf"), 3.0], "NaN or infinity"),
        (np.array([1, 2, np.inf], np.float16), "NaN or infinity"),
        ([1.0, 2.0, 2.0**20 + 1], "a score outside ±1,048,576"),
        ([1.0, 2.0, -1e300], "a score outside ±1,048,576"),
        (["1", "2", "3"], "a list with other things than numbers"),
        ([1.0, 2.0, "3"], "a list with other things than numbers"),
        ([1.0, 2.0, None], "a list with other things than numbers"),
        ([1, 2, 10**400], "a list with other things than numbers"),
        ([True, False, True], "a list with other things than numbers"),
        ([1j, 2j, 3j], "a list with other things than numbers"),
        ([[1.0], [2.0], [3.0]], "a table"),
        ([[1.0], [2.0, 3.0], []], "lists of different lengths"),
        ("1 2 3", "str"),
        (7.0, "float"),
        ({0: 1.0, 1: 2.0, 2: 3.0}, "dict"),
        ({1.0, 2.0, 3.0}, "set"),
        ((each for each in (1.0, 2.0, 3.0)), "generator"),
    ],
)
def test_an_answer_that_is_none_is_named(answer: object, came: str) -> None:
    outcome = asked(answering(answer), "q", TEXTS)
    assert reason(outcome) == f"rerank_failed: returned {came} instead of 3 scores"


def test_no_answer_at_all_is_named() -> None:
    def judge(*_: object) -> Any:
        return None

    expected = "rerank_failed: returned nothing instead of 1 score"
    assert reason(asked(FunctionReranker(judge), "q", ["a"])) == expected


# --- failures --------------------------------------------------------------------------------


def test_a_reranker_that_raises_is_a_reason(toy: ToyReranker) -> None:
    toy.failing = True
    expected = "rerank_failed: ConnectionError: the toy reranker was told to fail"
    assert reason(asked(toy, "q", TEXTS)) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError(), "ValueError"),
        (TimeoutError("mine"), "TimeoutError: mine"),
        (Unavailable("http://a: answered 500 (2 tries)"), "http://a: answered 500 (2 tries)"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (RuntimeError("two\nlines \x1b[31m\ud800 and " + "more " * 999), "RuntimeError: two lines"),
    ],
)
def test_whatever_is_raised_becomes_one_short_line(error: BaseException, expected: str) -> None:
    def judge(query: str, texts: list[str]) -> list[float]:
        raise error

    line = reason(asked(FunctionReranker(judge), "q", TEXTS))
    assert line.startswith(f"rerank_failed: {expected}")
    assert line.isprintable()
    assert len(line) <= 220


def test_what_is_remembered_stays_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    def judge(query: str, texts: list[str]) -> list[float]:
        raise ValueError(f"cannot read {texts[0]}")

    with caplog.at_level(logging.DEBUG):
        assert "red fish" in reason(asked(FunctionReranker(judge), "secret question", TEXTS))
    assert "ValueError" in caplog.text
    assert "red fish" not in caplog.text
    assert "secret" not in caplog.text


def test_the_reranker_cannot_change_the_texts_of_the_caller() -> None:
    def judge(query: str, texts: list[str]) -> list[float]:
        texts.clear()
        return [1.0, 2.0, 3.0]

    given = list(TEXTS)
    assert values(asked(FunctionReranker(judge), "q", given)) == [1.0, 2.0, 3.0]
    assert given == TEXTS


def test_what_the_caller_set_in_its_context_is_seen() -> None:
    trace: contextvars.ContextVar[float] = contextvars.ContextVar("trace", default=0.0)
    trace.set(7.0)
    assert values(
        asked(FunctionReranker(lambda _, texts: [trace.get()] * len(texts)), "q", ["a"])
    ) == [7.0]


# --- deadlines -------------------------------------------------------------------------------


# What hangs here is let go only when the test is over: that a call returns shows that it gave up.


def test_the_deadline_is_800_ms_unless_somebody_says(
    toy: ToyReranker, waits: list[float | None]
) -> None:
    toy.hanging = True
    start = time.monotonic()
    assert reason(ask_reranker(toy, "q", TEXTS)) == "rerank_timeout: no answer within 800 ms"
    assert time.monotonic() - start >= TIMEOUT_MS / 1000
    assert waits == [0.8]


@pytest.mark.parametrize("timeout_ms", [1, 40.5, 200])
def test_nobody_waits_longer_than_the_deadline(
    toy: ToyReranker, waits: list[float | None], timeout_ms: float
) -> None:
    toy.hanging = True
    expected = f"rerank_timeout: no answer within {timeout_ms:g} ms"
    assert reason(ask_reranker(toy, "q", TEXTS, timeout_ms)) == expected
    assert waits == [timeout_ms / 1000]


def test_an_answer_that_never_ends_is_left_at_the_deadline() -> None:
    over = threading.Event()

    class Endless(Sequence[float]):
        """It drips: each number takes a while, until nobody is to wait any more."""

        def __len__(self) -> int:
            return 10**6

        def __getitem__(self, at: Any) -> Any:
            if over.wait(0.001):
                raise IndexError
            return float(at)

    endless = answering(Endless())
    assert reason(ask_reranker(endless, "q", TEXTS, 50)).startswith("rerank_timeout")
    over.set()


def test_a_reranker_that_hangs_is_asked_no_more_until_it_ends(
    toy: ToyReranker, waits: list[float | None]
) -> None:
    toy.hanging = True
    before = running()
    for _ in range(MAX_ABANDONED):
        assert reason(ask_reranker(toy, "q", TEXTS, 10)).startswith("rerank_timeout")
    for _ in range(50):
        outcome = reason(ask_reranker(toy, "q", TEXTS, 5000))
        assert outcome == "rerank_failed: still busy with 4 earlier questions"
    assert waits == [0.01] * MAX_ABANDONED  # nobody waited for the others at all
    assert len(running() - before) == MAX_ABANDONED
    assert soon(lambda: len(toy.asked) == MAX_ABANDONED)
    assert values(asked(ToyReranker(), "red", TEXTS)) == [1.0, 0.0, 1.0]  # the others are free
    toy.hanging = False
    toy.released.set()
    assert soon(lambda: not running() - before)
    assert len(toy.asked) == MAX_ABANDONED
    assert values(asked(toy, "red", TEXTS)) == [1.0, 0.0, 1.0]


def test_many_threads_ask_at_once() -> None:
    made: list[list[float]] = []

    def ask() -> None:
        made.extend(values(ask_reranker(shared, "red", TEXTS, PATIENT)) for _ in range(20))

    shared = ToyReranker()
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [[1.0, 0.0, 1.0]] * 160


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="forking with threads warns from 3.12 on")
def test_a_child_of_a_fork_does_not_wait_for_the_threads_of_its_parent(toy: ToyReranker) -> None:
    toy.hanging = True
    for _ in range(MAX_ABANDONED):
        ask_reranker(toy, "q", TEXTS, 10)
    child = os.fork()
    if child == 0:
        toy.hanging = False
        os._exit(0 if isinstance(asked(toy, "red", TEXTS), RerankScores) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# --- the counter -----------------------------------------------------------------------------


def test_every_outcome_is_counted(toy: ToyReranker) -> None:
    before = counts()
    asked(toy, "q", TEXTS)
    asked(toy, "q", [])
    asked(answering([]), "q", TEXTS)
    toy.hanging = True
    ask_reranker(toy, "q", TEXTS, 5)
    more = {kind: count - before[kind] for kind, count in counts().items()}
    assert more == {"scored": 1, "rerank_failed": 1, "rerank_timeout": 1}
