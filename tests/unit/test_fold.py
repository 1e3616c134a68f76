"""Folding: which spellings are the same text."""

from __future__ import annotations

import time

import pytest

from memoriter.core.fold import bare, calm, fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("", ""),
        ("Hello WORLD", "hello world"),
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("ﬁre", "fire"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("ﾃｽﾄ", "テスト"),
        ("x²", "x2"),
        ("Σίσυφος ΣΊΣΥΦΟΣ", "σίσυφοσ σίσυφοσ"),
        ("cafe\u0301", "café"),
        ("İ", "i\u0307"),
    ],
)
def test_spellings_of_one_text_fold_to_one(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("café crème", "cafe creme"),
        ("Ελλάδα", "Ελλαδα"),
        ("ёлка", "елка"),
        ("điện", "đien"),
        ("مُحَمَّد", "محمد"),
        ("שָׁלוֹם", "שלום"),
    ],
)
def test_accents_and_optional_points_go(text: str, stripped: str) -> None:
    assert bare(text) == stripped


@pytest.mark.parametrize("text", ["हिन्दी", "ภาษาไทย", "தமிழ்", "がぎぐ", "한국어", "أحمد", "বাংলা"])
def test_marks_that_carry_vowels_or_make_letters_stay(text: str) -> None:
    assert bare(text) == text


def test_a_lone_surrogate_passes() -> None:
    assert fold("A\ud800é") == "a\ud800é"
    assert bare("a\ud800é") == "a\ud800e"


def test_thirty_marks_are_left_alone_and_endless_marks_are_parted() -> None:
    assert calm("é" + "\u0301" * 30) == "é" + "\u0301" * 30
    assert calm("é" + "\u0301" * 31) == "é" + "\u0301" * 30 + "\u034f\u0301"


def test_endless_marks_fold_in_linear_time() -> None:
    text = "a" + "\u0301\u0316" * 200_000
    started = time.thread_time()
    bare(fold(text))
    assert time.thread_time() - started < 10.0  # it takes 0.3
