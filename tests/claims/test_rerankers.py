"""What two of the systems promise of rerankers by themselves: agreement, failures, deadlines."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memoriter.rank.top import top
from memoriter.rerank.call import TIMEOUT_MS, Failed, RerankScores, ask_reranker
from memoriter.rerank.callable import FunctionReranker
from memoriter.rerank.unanimity import ENOUGH, AgreeBy, agreement
from memoriter.testing.fakes import ToyReranker


@pytest.fixture
def toy() -> Iterator[ToyReranker]:
    made = ToyReranker()
    yield made
    made.released.set()


def rows(letters: str) -> list[int]:
    return [ord(letter) for letter in letters]


@pytest.mark.parametrize(
    ("words", "vectors", "agreements", "skipped"),
    [
        ("abc", "abx", 2, True),
        ("abcd", "abxy", 2, True),
        ("abc", "axc", 2, True),
        ("abc", "abc", 3, True),
        ("abc", "xyc", 1, False),
        ("abc", "bac", 1, False),
        ("abc", "cab", 0, False),
        ("abcd", "xyzd", 0, False),
        ("abc", "ab", 0, False),
        ("ab", "abc", 0, False),
        ("", "", 0, False),
    ],
)
def test_jb_27_two_of_three_at_the_same_place_make_a_reranker_needless(
    words: str, vectors: str, agreements: int, *, skipped: bool
) -> None:
    for made in (
        agreement(rows(words), rows(vectors)),
        agreement(np.array(rows(words), np.int64), np.array(rows(vectors), np.int64)),
    ):
        assert made == agreements
        assert (made >= ENOUGH) is skipped


@pytest.mark.parametrize(
    ("words", "vectors", "depth", "kind", "agreements"),
    [
        ("abc", "bac", 3, "overlap", 3),
        ("abc", "cxy", 3, "overlap", 1),
        ("abcd", "dxyz", 3, "overlap", 0),
        ("ab", "ab", 3, "overlap", 0),
        ("abcde", "abxde", 5, "positional", 4),
        ("ab", "ab", 2, "positional", 2),
    ],
)
def test_jb_27_overlap_and_depth_are_options(
    words: str, vectors: str, depth: int, kind: AgreeBy, agreements: int
) -> None:
    assert agreement(rows(words), rows(vectors), depth, kind) == agreements


def test_jb_29_a_language_model_may_judge() -> None:
    def judge(query: str, texts: list[str]) -> list[float]:
        assert query == "which pet?"
        return [10.0 if "dog" in text else 0.0 for text in texts]

    outcome = ask_reranker(
        FunctionReranker(judge, "judge-1"), "which pet?", ["a cat", "a dog"], 60_000
    )
    assert isinstance(outcome, RerankScores)
    assert outcome.values.tolist() == [0.0, 10.0]


@pytest.mark.parametrize("answer", [[], None, "sorry", [float("nan")] * 2, [1.0]])
def test_jb_29_an_error_or_an_empty_answer_is_rerank_failed(toy: ToyReranker, answer: Any) -> None:
    toy.answer = answer
    toy.failing = answer is None
    outcome = ask_reranker(toy, "q", ["a", "b"], 60_000)
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("rerank_failed: ")


def test_co_24_ties_of_the_reranker_keep_the_order_before() -> None:
    outcome = ask_reranker(
        FunctionReranker(lambda *_: [0.2, 0.9, 0.2, 0.9], "tied"), "q", list("abcd"), 60_000
    )
    assert isinstance(outcome, RerankScores)
    order = top(outcome.values, np.arange(4), 4)
    assert order.tolist() == [1, 3, 0, 2]


def test_co_25_a_late_reranker_is_left_after_800_ms_with_a_reason(toy: ToyReranker) -> None:
    toy.hanging = True
    start = time.monotonic()
    outcome = ask_reranker(toy, "q", ["a"])
    assert TIMEOUT_MS == 800
    assert time.monotonic() - start >= 0.8  # it hangs on: that we are here shows that it was left
    assert outcome == Failed("rerank_timeout: no answer within 800 ms")
    assert any(thread.daemon for thread in threading.enumerate() if "rerank" in thread.name)
