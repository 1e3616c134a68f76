"""What holds for the words of any text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoriter.core.fold import bare, fold
from memoriter.core.word_table import WordTable
from memoriter.core.words import RecordWords
from memoriter.embed.static import static_words
from memoriter.index.build import word_arrays
from memoriter.kernel import split
from memoriter.text.analyzers import analyzer, analyzer_names
from memoriter.text.chunk import chunks
from memoriter.text.default import DefaultAnalyzer
from memoriter.text.port import Analyzer

ALL = [analyzer(name) for name in analyzer_names()]
each_analyzer = pytest.mark.parametrize("each", ALL, ids=analyzer_names())

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
fields = sorted({field for each in ALL for field in each.fields})
records = st.dictionaries(st.sampled_from(fields), st.lists(texts, max_size=3), max_size=4)


@each_analyzer
@given(record=records)
def test_the_words_of_any_record_survive_the_log(
    each: Analyzer, record: Mapping[str, Sequence[str]]
) -> None:
    analysed = each.analyse(record)
    assert RecordWords.decode(analysed.encode()) == analysed


@each_analyzer
@given(record=records)
def test_words_are_sorted_distinct_and_in_place(
    each: Analyzer, record: Mapping[str, Sequence[str]]
) -> None:
    analysed = each.analyse(record)
    assert list(analysed.terms) == sorted(set(analysed.terms))
    assert list(analysed.surfaces) == sorted(set(analysed.surfaces))
    assert all(term and "\n" not in term for term in analysed.terms + analysed.surfaces)
    assert {n for field in analysed.tokens for n in field} == set(range(len(analysed.terms)))
    placed = analysed.positions or [range(len(field)) for field in analysed.tokens]
    for tokens, places, length in zip(analysed.tokens, placed, analysed.lengths, strict=True):
        assert len(tokens) == len(places)
        assert all(one <= following for one, following in pairwise(places))
        assert len(set(places)) == length


@each_analyzer
@given(text=texts)
def test_a_text_and_a_query_have_the_same_terms(each: Analyzer, text: str) -> None:
    terms = each.terms(text)
    assert len(terms) == len(set(terms))
    stems = each.analyse({"text": [text]}).terms
    assert tuple(sorted(terms)) == stems or (each.name == "porter2" and set(terms) > set(stems))


@each_analyzer
@given(text=texts)
def test_a_text_and_a_phrase_have_the_same_tokens(each: Analyzer, text: str) -> None:
    analysed = each.analyse({"text": [text]})
    tokens = each.tokens(text)
    assert [term for term, _ in tokens] == [analysed.terms[n] for n in analysed.tokens[0]]
    placed = analysed.positions[0] if analysed.positions else range(len(tokens))
    assert [place for _, place in tokens] == list(placed)
    assert each.tokens(text, prefix=True)[:-1] == tokens[:-1]


@each_analyzer
@given(text=texts)
def test_reading_a_text_again_changes_nothing(each: Analyzer, text: str) -> None:
    other = type(each)()
    assert other.analyse({"text": [text]}) == each.analyse({"text": [text]})


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


@each_analyzer
@given(text=texts)
def test_the_case_of_ascii_text_does_not_matter(each: Analyzer, text: str) -> None:
    lower = "".join(c.lower() if c.isascii() else c for c in text)
    upper = "".join(c.upper() if c.isascii() else c for c in text)
    assert each.terms(lower) == each.terms(upper)


@given(texts)
def test_the_table_has_words_for_any_text(text: str) -> None:
    assert all(word and "_" not in word for word in static_words(text))


SENTENCES = {
    "English": "The librarian found my grandmother's letters in an old wooden box.",
    "Russian": "Моя сестра хранит старые письма в деревянной шкатулке.",
    "Greek": "Η γιαγιά μου μένει σε ένα μικρό χωριό κοντά στη θάλασσα.",
    "Hebrew": "אחותי קנתה אתמול לחם טרי בשוק של ירושלים.",
    "Arabic": "وصلت الرسالة إلى البيت القديم قبل غروب الشمس.",
    "Hindi": "मेरी बहन हर शनिवार को बाज़ार से ताज़े फल लाती है।",
    "Amharic": "እህቴ ትናንት በአዲስ አበባ ገበያ ቡና ገዛች።",
    "Korean": "우리 선생님은 어제 도서관에서 역사책을 빌리셨습니다.",
    "Chinese": "我昨天在图书馆借了三本关于长城的书。",
    "Japanese": "祖母は京都の小さな図書館で日本語を教えています。",
    "Thai": "พี่สาวของฉันทำงานที่โรงพยาบาลในเชียงใหม่",
    "Khmer": "បងស្រីរបស់ខ្ញុំធ្វើការនៅមន្ទីរពេទ្យក្នុងភ្នំពេញ",
}
UNSPACED = {
    "Chinese": "我 昨天 在 图书馆 借了 三本 关于 长城 的 书",
    "Japanese": "祖母 は 京都 の 小さな 図書館 で 日本語 を 教えて います",
    "Thai": "พี่สาว ของ ฉัน ทำงาน ที่ โรงพยาบาล ใน เชียงใหม่",
    "Khmer": "បងស្រី របស់ ខ្ញុំ ធ្វើការ នៅ មន្ទីរពេទ្យ ក្នុង ភ្នំពេញ",
}


@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("name", ["memoriter", "fts5-porter-cjk"])
def test_a_document_is_found_by_any_of_its_own_words_in_12_scripts(
    name: str, language: str
) -> None:
    sentence = SENTENCES[language]
    held = set(analyzer(name).analyse({"text": [sentence]}).terms)
    for word in UNSPACED.get(language, sentence).split():
        assert word in sentence
        query_terms = analyzer(name).terms(word)
        assert query_terms
        assert held.issuperset(query_terms)


@pytest.mark.parametrize("kernel", ["native", "numpy"])
@given(many=st.lists(records, max_size=5))
def test_many_records_have_the_words_that_each_has(
    kernel: str, many: list[Mapping[str, Sequence[str]]]
) -> None:
    own = DefaultAnalyzer()
    with pytest.MonkeyPatch.context() as patched:
        if kernel == "numpy":
            patched.setattr(split, "native_library", lambda: None)
        columns = {name: [each.get(name, ()) for each in many] for name in own.fields}
        made = word_arrays(own.word_table(columns, len(many)))
    alone = word_arrays(WordTable.of([own.sketch(each) for each in many], len(own.fields)))
    for name, array in alone.items():
        assert made[name].dtype == array.dtype
        assert np.array_equal(made[name], array), name
