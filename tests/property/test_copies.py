"""Laws of copies: of any texts, and of any answer in which copies are collapsed."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.strategies import EXAMPLES, texts

import memoriter
from memoriter.text.copies import (
    FILLERS,
    are_copies,
    compared_text,
    copy_groups,
    end_marks,
    end_words,
)

_PLAIN = """
    we keep release notes of our service near big shared folder where platform team can find them
    quickly when customers ask about changes today
"""
ORDINARY = _PLAIN.split()
sentences = st.lists(st.sampled_from(ORDINARY), min_size=9, max_size=24)
shares = st.sampled_from([0.5, 0.8, 0.9, 1.0])
names = st.sampled_from(["Ana", "Bob", "NYC", "Monday"])
numbers = st.sampled_from(["5", "-5", "4.5", "12:30", "two", "twice", "2nd", "5%"])
negations = st.sampled_from(["not", "no", "never", "without", "don't", "can't", "nothing"])
punctuation = st.sampled_from(["", ".", ",", "!", ";", ":", "...", " ", "\n", ")", '"', "\u2026"])


def copied(one: str, other: str, alike: float = 0.9) -> bool:
    return are_copies(compared_text(one), compared_text(other), alike)


def sentence(words: list[str]) -> str:
    return " ".join(words).capitalize()


@given(texts, texts, shares)
@settings(max_examples=EXAMPLES)
def test_of_two_texts_either_both_are_copies_or_none(one: str, other: str, alike: float) -> None:
    assert copied(one, other, alike) == copied(other, one, alike)
    assert copied(one, one, alike)


@given(st.lists(st.one_of(sentences.map(" ".join), texts), max_size=8), st.data())
@settings(max_examples=EXAMPLES)
def test_the_marks_of_an_index_give_the_same_groups_as_the_texts(
    some: list[str], data: st.DataObject
) -> None:
    copies = data.draw(st.lists(st.sampled_from(some), max_size=4)) if some else []
    keyed = [(len(text) % 2, text) for text in [*some, *(f"The {copy}!" for copy in copies)]]
    marks = [end_marks(text) for _, text in keyed]
    for alike in (0.9, 0.95, 1.0):
        assert copy_groups(keyed, alike, marks) == copy_groups(keyed, alike)


def share_an_end(one: str, other: str, alike: float) -> bool:
    first, last = zip(end_words(one, alike), end_words(other, alike), strict=True)
    return first[0] == first[1] or last[0] == last[1]


@given(texts, shares)
@settings(max_examples=EXAMPLES)
def test_the_ends_of_a_text_are_the_ends_of_its_words(text: str, alike: float) -> None:
    words = compared_text(text).words
    first, last = end_words(text, alike)
    assert first == words[: len(first)]
    assert last == words[-len(last) :]


# What a text may begin or end with so that its words are not simply what stands between spaces.
_PIECES = """
    is are Is ARE: isn't isn aren't can't cannot don't x.is (is) is. also Really please the
    The THE a aB Ann's 's 5-6 ! ? - * # .. ... word, port and
"""
pieces = st.lists(
    st.sampled_from([*_PIECES.split(), "\u2019s", "\t", "\n", "\r", "\x1c"]), max_size=9
)


@given(pieces, st.sampled_from([" ", "", "\n"]), shares)
@settings(max_examples=5 * EXAMPLES)
def test_the_ends_of_pieces_are_the_ends_of_their_words(
    parts: list[str], between: str, alike: float
) -> None:
    text = between.join([" ".join(parts[:3]), " ".join(parts[3:])])
    words = compared_text(text).words
    first, last = end_words(text, alike)
    assert first == words[: len(first)]
    assert last == words[-len(last) :]


few_words = st.lists(st.sampled_from(["tea", "milk", "cup"]), min_size=1, max_size=12)


@given(few_words, few_words, st.sampled_from([0.5, 0.6, 2 / 3, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0]))
@settings(max_examples=5 * EXAMPLES)
def test_copies_share_an_end(one: list[str], other: list[str], alike: float) -> None:
    pair = sentence(one), sentence(other)
    assert share_an_end(*pair, alike) or not copied(*pair, alike)


@given(sentences, st.integers(0, 24), st.lists(st.sampled_from(ORDINARY), max_size=3), shares)
@settings(max_examples=EXAMPLES)
def test_a_stretch_makes_copies_if_and_only_if_it_is_short(
    words: list[str], at: int, stretch: list[str], alike: float
) -> None:
    longer = [*words[:at], *stretch, *words[at:]]
    few, more = "Also: " + " ".join(words), "Also: " + " ".join(longer)
    enough = len(words) >= alike * len(longer)
    assert copied(few, more, alike) == (enough or words == longer)
    assert share_an_end(few, more, alike) or not copied(few, more, alike)
    assert copied(more, few, alike) == copied(few, more, alike)


@given(sentences, st.data())
@settings(max_examples=EXAMPLES)
def test_capital_first_letters_spaces_and_punctuation_make_no_difference(
    words: list[str], data: st.DataObject
) -> None:
    changes = st.sampled_from([str.lower, str.capitalize])
    fillers = st.sampled_from(["", *sorted(FILLERS)])
    changed = [
        f"{data.draw(changes)(word)} {data.draw(fillers)}{data.draw(punctuation)}" for word in words
    ]
    assert copied(" ".join(words), " ".join(changed), 1.0)


@given(sentences, st.sampled_from(["is", "are"]), st.integers(1, 24), shares)
@settings(max_examples=EXAMPLES)
def test_a_question_without_a_mark_is_no_copy_of_the_statement(
    words: list[str], verb: str, at: int, alike: float
) -> None:
    statement = sentence([*words[:at], verb, *words[at:]])
    question = sentence([verb, *words])
    assert not copied(statement, question, alike)
    assert copied(question, question.lower(), alike)


@given(sentences, st.data(), shares)
@settings(max_examples=EXAMPLES)
def test_a_capital_inside_of_a_word_makes_it_another_one(
    words: list[str], data: st.DataObject, alike: float
) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    changes = st.sampled_from([str.upper, lambda word: word[0] + word[1:].upper()])
    changed = [*words[:at], data.draw(changes)(words[at]), *words[at + 1 :]]
    assert not copied(sentence(words), " ".join(changed), alike)


@given(sentences, st.integers(0, 24), names | numbers | negations, shares)
@settings(max_examples=EXAMPLES)
def test_a_number_a_negation_or_a_name_more_is_no_copy(
    words: list[str], at: int, word: str, alike: float
) -> None:
    few, more = " ".join(words), " ".join([*words[:at], word, *words[at:]])
    assert not copied(f"We {few}", f"We {more}", alike)
    assert not copied(few, more, alike)


@given(sentences, st.integers(0, 23), names | numbers | negations | st.just("ana"))
@settings(max_examples=EXAMPLES)
def test_another_word_in_its_place_is_no_copy(words: list[str], at: int, word: str) -> None:
    at %= len(words)
    other = [*words[:at], word, *words[at + 1 :]]
    assert not copied(sentence(words), sentence(other), 0.5)


TEXTS = ("Port is 1", "port: 1", "The port is 1!", "Port is 2", "Port is not 1", "Other", "other.")
records = st.lists(
    st.fixed_dictionaries(
        {"text": st.sampled_from(TEXTS)},
        optional={
            "trust": st.sampled_from(["system", "external"]),
            "user": st.sampled_from(["u", "v"]),
        },
    ),
    min_size=1,
    max_size=10,
)


@given(records, st.integers(1, 10))
@settings(max_examples=EXAMPLES)
def test_copies_are_dropped_and_named_and_nothing_else_is(
    drafts: list[dict[str, Any]], limit: int
) -> None:
    with memoriter.open(":memory:") as memory:
        for n, draft in enumerate(drafts):
            memory.remember(**draft, id=str(n))
        order = {"order": [{"kind": "copies"}]}
        every = memory.recall("port other", 100, overrides=order)
        plain = memory.recall("port other", 100, overrides={"order": []})
        assert sorted(i for hit in every for i in (hit.id, *hit.copies)) == sorted(
            hit.id for hit in plain
        )
        for hit in every:
            for copy in map(memory.get, hit.copies):
                assert copied(hit.record.text, copy.text)
                assert hit.record.user == copy.user
                rank = ["external", "learned", "system"].index
                assert rank(copy.trust) <= rank(hit.record.trust)
        for one, other in combinations(every, 2):
            same = one.record.user == other.record.user
            assert not (same and copied(one.record.text, other.record.text))
        # a smaller limit is a beginning of the answer, and is filled
        few = memory.recall("port other", limit, overrides=order)
        assert [hit.id for hit in few] == [hit.id for hit in every][:limit]
        assert memoriter.verify(every).ok


@given(records, st.integers(1, 5), st.integers(1, 10))
@settings(max_examples=EXAMPLES)
def test_the_first_rows_up_to_the_head_have_no_copies_whatever_the_limit(
    drafts: list[dict[str, Any]], head: int, limit: int
) -> None:
    with memoriter.open(":memory:") as memory:
        for draft in drafts:
            memory.remember(**draft)
        order = {"order": [{"kind": "copies", "head": head}]}
        every = memory.recall("port other", 100, overrides=order)
        for one, other in combinations(every[:head], 2):
            same = one.record.user == other.record.user
            assert not (same and copied(one.record.text, other.record.text))
        few = memory.recall("port other", limit, overrides=order)
        assert [hit.id for hit in few] == [hit.id for hit in every][:limit]
        assert memoriter.verify(every).ok
