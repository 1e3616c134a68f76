"""What holds for the words of any text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from recollect.core.fold import bare, fold
from recollect.core.words import Words
from recollect.embed.static import words
from recollect.text.chunk import chunks
from recollect.text.own import Own

OWN = Own()

anything = st.text(st.characters(exclude_categories=()))
dense = st.text(
    st.sampled_from(
        "abzS019__..::'',;-/\\@ \n\x00\ud800\"éß·’‿\u0301\u200d\ufe0fжאבש٣،कि東京カーกำ🎉🏽🇩🇪ᄀ가ﷺ"
    ),
    max_size=40,
)
texts = anything | dense
crowded = st.text(st.sampled_from("ab1 2_.:',;-/\\@+#&=%?~\"()!"), max_size=40)
ascii_texts = st.text(st.characters(max_codepoint=127)) | crowded
records = st.dictionaries(st.sampled_from(OWN.fields), st.lists(texts, max_size=3), max_size=4)


@given(records)
def test_the_words_of_any_record_survive_the_log(record: Mapping[str, Sequence[str]]) -> None:
    analysed = OWN.analyse(record)
    assert Words.decode(analysed.encode()) == analysed


@given(records)
def test_words_are_sorted_distinct_and_in_place(record: Mapping[str, Sequence[str]]) -> None:
    analysed = OWN.analyse(record)
    assert list(analysed.terms) == sorted(set(analysed.terms))
    assert list(analysed.surfaces) == sorted(set(analysed.surfaces))
    assert all(term and "\n" not in term for term in analysed.terms + analysed.surfaces)
    assert {n for field in analysed.tokens for n in field} == set(range(len(analysed.terms)))
    placed = analysed.positions or [range(len(field)) for field in analysed.tokens]
    for tokens, places, length in zip(analysed.tokens, placed, analysed.lengths, strict=True):
        assert len(tokens) == len(places)
        assert all(one <= following for one, following in pairwise(places))
        assert len(set(places)) == length


@given(texts)
def test_a_text_and_a_query_have_the_same_terms(text: str) -> None:
    terms = OWN.terms(text)
    assert len(terms) == len(set(terms))
    assert tuple(sorted(terms)) == OWN.analyse({"text": [text]}).terms


@given(texts)
def test_reading_a_text_again_changes_nothing(text: str) -> None:
    assert Own().analyse({"text": [text]}) == OWN.analyse({"text": [text]})


@given(texts, texts)
def test_a_space_parts_texts(one: str, other: str) -> None:
    # A mark needs a letter to stand on, so the second text begins with one.
    assert chunks(f"{one} q{other}") == chunks(one) + chunks(f"q{other}")


@given(ascii_texts)
@example("1,2 a,b 1;2 a.b a..b a:b 1:a __a__b_ a_._b a'b 'a' 1'2 a'_b x://y x:///y")
def test_the_short_way_for_ascii_is_the_way_of_any_text(text: str) -> None:
    # The quotation mark parts what stands around it, and its neighbour is not ASCII: so each
    # word before it goes the long way.
    for word in text.split():
        assert chunks(f"{word}\u201cж") == [*chunks(word), "ж"]


@given(texts)
def test_folding_again_changes_nothing(text: str) -> None:
    once = bare(fold(text))
    assert bare(once) == once


@given(texts)
def test_the_case_of_ascii_text_does_not_matter(text: str) -> None:
    lower = "".join(c.lower() if c.isascii() else c for c in text)
    upper = "".join(c.upper() if c.isascii() else c for c in text)
    assert OWN.terms(lower) == OWN.terms(upper)


@given(texts)
def test_the_table_has_words_for_any_text(text: str) -> None:
    assert all(word and "_" not in word for word in words(text))
