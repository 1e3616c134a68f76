"""The nearest words of the packaged table: the file, the order, the numbers."""

from __future__ import annotations

import hashlib
import math
from importlib import resources

import numpy as np
import pytest
from tools.kin import nearest

from memoriter.core.errors import Corrupt
from memoriter.embed import kin as room
from memoriter.embed.kin import NEIGHBOURS, SHA256, KinTable, neighbours
from memoriter.embed.port import Kindred
from memoriter.embed.static import Static, table

KIN: Kindred = KinTable(Static())


def token(word: str) -> int:
    return table().entries[word]


def test_the_packaged_list_is_the_one_the_fingerprint_names() -> None:
    body = resources.files("memoriter.embed").joinpath("static_en", "kin.npy").read_bytes()
    assert hashlib.sha256(body).hexdigest() == SHA256
    assert neighbours().shape == (len(table().rows), NEIGHBOURS)
    assert KIN.fingerprint == KinTable(Static()).fingerprint
    assert KIN.fingerprint.startswith("kin-en/1:")


def test_a_damaged_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "SHA256", "0" * 64)
    with pytest.raises(Corrupt):
        neighbours.__wrapped__()


@pytest.mark.parametrize("first", [0, 4_711, 29_106])
def test_a_sample_of_the_list_is_what_the_tool_makes(first: int) -> None:
    assert (nearest(first, first + 8) == neighbours()[first : first + 8]).all()


@pytest.mark.parametrize("word", ["married", "sister", "the", "##ing", "1962"])
def test_the_list_of_a_word_is_that_of_a_plain_search(word: str) -> None:
    rows, own = table().rows.astype(np.int64), token(word)
    squares = (rows * rows).sum(axis=1).tolist()
    dots = (rows @ rows[own]).tolist()
    cosines = [
        round(dot / math.sqrt(squares[own] * square) * 2**32) / 2**32
        for dot, square in zip(dots, squares, strict=True)
    ]
    others = sorted((-cosine, n) for n, cosine in enumerate(cosines) if n != own)
    expected = [own, *(n for _, n in others[: NEIGHBOURS - 1])]
    near = KIN.nearest(own)
    assert near.tokens.tolist() == expected
    assert near.cosines.tolist() == [cosines[n] for n in expected]


def test_a_word_is_its_own_nearest_and_its_kin_follow() -> None:
    near = KIN.nearest(token("married"))
    assert [KIN.word(n) for n in near.tokens[:5].tolist()] == [
        "married", "marriage", "marry", "marriages", "wedding",
    ]  # fmt: skip
    assert near.cosines[0] == 1.0
    assert (np.diff(near.cosines) <= 0.0).all()


def test_a_word_that_says_much_is_longer_than_one_that_says_little() -> None:
    assert KIN.norm(token("the")) < KIN.norm(token("when")) < KIN.norm(token("married"))
    row, scale = table().rows[token("the")].tolist(), float(table().scales[token("the")])
    assert KIN.norm(token("the")) == math.sqrt(sum(x * x for x in row)) * scale


def test_the_words_of_a_text_are_those_that_the_embedder_reads() -> None:
    text = "Café du Monde, 1962: antidisestablishmentarianism!"
    assert KIN.tokens(text) == Static().tokens(text)
    assert "".join(KIN.word(n).removeprefix("##") for n in KIN.tokens("unwedded")) == "unwedded"
