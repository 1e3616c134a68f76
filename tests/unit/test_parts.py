"""Parts of long texts: every word is in one, neighbours share exactly the overlap."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoriter.core.errors import InputError
from memoriter.embed.hash import Hash
from memoriter.embed.static import Static
from memoriter.embed.vector_space import split_text, window_of

WORDS = st.lists(st.integers(0, 99).map(str), max_size=200)


@given(WORDS, st.integers(1, 30), st.data())
def test_parts_cover_all_words_and_share_exactly_the_overlap(
    words: list[str], window: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, window - 1))
    parts = [part.split() for part in split_text(" ".join(words), window, overlap)]
    assert all(len(part) == window for part in parts[:-1])
    assert len(parts[-1]) <= window
    again = parts[0]
    for before, after in pairwise(parts):
        assert len(after) > overlap
        assert before[len(before) - overlap :] == after[:overlap]
        again += after[overlap:]
    assert again == words


def test_a_short_text_is_one_part_as_it_is() -> None:
    assert split_text("  a\n b ", 2) == ["  a\n b "]
    assert split_text("", 2) == [""]
    assert split_text("a b c", None) == ["a b c"]


def test_the_overlap_is_a_quarter_unless_it_is_said() -> None:
    text = " ".join("abcdefghijk")
    assert split_text(text, 8) == ["a b c d e f g h", "g h i j k"]
    assert split_text(text, 8, 0) == ["a b c d e f g h", "i j k"]


def test_a_part_is_a_piece_of_the_text_with_its_own_spaces() -> None:
    assert split_text("a\n\nb  c d", 3, 1) == ["a\n\nb  c", "c d"]


def test_scripts_without_spaces_and_endless_words_are_cut_as_well() -> None:
    assert split_text("東京大阪京都", 4, 0) == ["東京大阪", "京都"]
    assert split_text("x" * 80, 2, 0) == ["x" * 64, "x" * 16]


def test_an_overlap_as_long_as_the_window_is_refused() -> None:
    with pytest.raises(InputError, match="overlap: expected 0 to 2 words, got 3"):
        split_text("a b c d e", 3, 3)


def test_embedders_say_how_much_they_read_or_nothing() -> None:
    assert window_of(Static()) is None
    assert window_of(Hash()) is None
    assert window_of(object()) is None
    assert window_of(type("Short", (), {"window": 12})()) == 12
