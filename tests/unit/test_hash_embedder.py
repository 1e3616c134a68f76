"""The hash embedder `local-text-v1`: its published cosines and its rules, feature by feature."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from memoriter.embed.hash import Hash
from memoriter.embed.port import Embedder
from memoriter.rank.grid import unit

HASH = Hash()


def vector(text: str) -> np.ndarray:
    (made,) = HASH.embed([text], "record")
    assert made is not None
    return made.astype(np.float64)


def by_hand(features: dict[bytes, float]) -> np.ndarray:
    sums = np.zeros(256)
    for feature, weight in features.items():
        digest = hashlib.sha256(feature).digest()
        sign = 1.0 if digest[8] % 2 == 0 else -1.0
        sums[int.from_bytes(digest[0:4], "little") % 256] += weight * sign
        sums[int.from_bytes(digest[4:8], "little") % 256] -= 0.5 * weight * sign
    made = unit(sums)
    assert made is not None
    return made.astype(np.float64)


def test_it_is_an_embedder_with_a_name_a_fingerprint_and_a_dimension() -> None:
    embedder: Embedder = HASH
    assert (embedder.name, embedder.fingerprint, embedder.dimension) == (
        "hash", "local-text-v1", 256,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("Performance budget for database latency", 0.95858),
        ("Invoice reconciliation for vendor payments", 0.15991),
    ],
)
def test_the_cosines_are_the_published_ones(other: str, expected: float) -> None:
    one = vector("Latency budget for database performance")
    assert float(one @ vector(other)) == pytest.approx(expected, abs=5e-6)


def test_a_word_weighs_one_and_a_triple_a_third_and_triples_span_words() -> None:
    features = {b"ab": 1.0, b"c1": 1.0, b"abc": 0.35, b"bc1": 0.35}
    assert vector("AB, c1!") == pytest.approx(by_hand(features), abs=1e-6)


def test_a_repeated_word_counts_again() -> None:
    features = {b"go": 2.0, b"gog": 0.35, b"ogo": 0.35}
    assert vector("go go") == pytest.approx(by_hand(features), abs=1e-6)


def test_letters_beyond_ascii_part_words_and_are_not_hashed() -> None:
    assert vector("café").tolist() == vector("caf").tolist()


def test_a_text_without_ascii_words_is_hashed_whole_and_trimmed() -> None:
    assert vector(" 東京 ") == pytest.approx(by_hand({"東京".encode(): 1.0}), abs=1e-6)


def test_a_blank_text_has_no_vector_and_a_lone_surrogate_does_no_harm() -> None:
    assert HASH.embed(["", " \n"], "query") == [None, None]
    assert vector("\ud800") == pytest.approx(by_hand({b"?": 1.0}), abs=1e-6)


def test_a_vector_stands_on_the_grid() -> None:
    steps = vector("Prod SSH port is 49222") * 2**23
    assert (steps == np.rint(steps)).all()
