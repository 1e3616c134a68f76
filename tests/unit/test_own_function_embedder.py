"""A caller's own function as an embedder, and what is said when it answers wrongly."""

from __future__ import annotations

import numpy as np
import pytest

import memoriter
from memoriter.embed.callable import FunctionEmbedder
from memoriter.embed.port import Embedder
from memoriter.rank.grid import unit


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


def test_lists_and_arrays_become_unit_vectors_on_the_grid() -> None:
    expected = unit(np.array([3.0, 1.0]))
    assert expected is not None
    for function in (lengths, lambda texts: np.array(lengths(texts), np.float32)):
        embedder: Embedder = FunctionEmbedder(function, "lengths", 2)
        assert embedder.fingerprint == "callable:lengths:2"
        blank, made = embedder.embed([" ", "abc"], "query")
        assert blank is None
        assert made is not None
        assert made.dtype == np.float32
        assert made.tolist() == expected.tolist()


def test_blank_texts_are_not_asked_about_and_zeros_are_nothing() -> None:
    asked: list[list[str]] = []

    def zeros(texts: list[str]) -> list[list[int]]:
        asked.append(texts)
        return [[0, 0] for _ in texts]

    embedder = FunctionEmbedder(zeros, "zeros", 2)
    assert embedder.embed(["", "a", "\t"], "record") == [None, None, None]
    assert embedder.embed([""], "record") == [None]
    assert asked == [["a"]]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([[1.0, 2.0, 3.0]], "expected vectors of 2 numbers, got 3"),
        ([[1.0, 2.0]] * 2, "2 vectors came back for 1 texts"),
        ([1.0, 2.0], "not lists of numbers"),
        ([[1.0], [1.0, 2.0]], "not lists of numbers"),
        ([["1", "2"]], "not lists of numbers"),
        ([[True, False]], "not lists of numbers"),
        (None, "not lists of numbers"),
        ([[float("nan"), 1.0]], "NaN or infinity"),
        (np.array([[np.inf, 1.0]]), "NaN or infinity"),
    ],
)
def test_a_wrong_answer_is_named(answer: object, message: str) -> None:
    with pytest.raises(memoriter.InputError, match=message):
        FunctionEmbedder(lambda _: answer, "wrong", 2).embed(["a"], "record")


def test_a_name_and_a_size_are_needed() -> None:
    with pytest.raises(memoriter.InputError, match="name"):
        FunctionEmbedder(lengths, "", 2)
    with pytest.raises(memoriter.InputError, match="dimension"):
        FunctionEmbedder(lengths, "lengths", 0)


def test_a_memory_remembers_and_recalls_with_a_function() -> None:
    def letters(texts: list[str]) -> list[list[int]]:
        return [[text.count(letter) for letter in "aeiou"] for text in texts]

    with memoriter.open(":memory:", embedder=FunctionEmbedder(letters, "vowels", 5)) as memory:
        memory.remember("banana")
        memory.remember("kiwi")
        assert memory.recall("paprika alga")[0].record.text == "banana"


def test_a_function_that_raises_leaves_a_debt_and_no_lost_write() -> None:
    def broken(texts: list[str]) -> object:
        raise ConnectionError("away")

    with memoriter.open(":memory:", embedder=FunctionEmbedder(broken, "broken", 2)) as memory:
        memory.remember("banana")
        assert memory.recall("banana")[0].record.text == "banana"
