"""Our analyzer: which words a text has, and where they stand."""

from __future__ import annotations

import threading
import time

import pytest

from memoriter.text.default import DefaultAnalyzer
from memoriter.text.port import Analyzer

OWN = DefaultAnalyzer()


def test_it_is_an_analyzer_with_a_name_a_fingerprint_and_fields() -> None:
    analyzer: Analyzer = OWN
    assert analyzer.name == "memoriter"
    assert analyzer.fingerprint.startswith("memoriter-words/1:")
    assert len(analyzer.fingerprint) == len("memoriter-words/1:") + 16
    assert analyzer.fingerprint == DefaultAnalyzer().fingerprint
    assert analyzer.fields == (
        "text", "title", "summary", "tags", "concepts", "entities", "agent", "path",
    )  # fmt: skip


def test_a_sentence_becomes_stems_in_order() -> None:
    words = OWN.analyse({"text": ["The cats were running, the cat ran."]})
    assert words.terms == ("cat", "ran", "run", "the", "were")
    assert words.surfaces == ("cat", "cats", "ran", "running", "the", "were")
    assert words.tokens[0] == (3, 0, 4, 2, 3, 0, 1)
    assert words.lengths == (7, 0, 0, 0, 0, 0, 0, 0)
    assert words.positions is None


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("", []),
        ("  …  !? ", []),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("sister's", ["sister"]),
        ("sister’s", ["sister"]),
        ("sisters'", ["sister"]),
        ("can't", ["can't"]),
        ("l'amour", ["l'amour", "l", "amour"]),
        ("O’Neil", ["o'neil", "o", "neil"]),
        ("Café CAFE cafe\u0301", ["cafe"]),
        ("Straße", ["strass"]),
        ("REQ-12", ["req-12", "req", "12"]),
        ("user_id", ["user_id", "user", "id"]),
        ("user_id's", ["user_id", "user", "id"]),
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("__init__", ["init"]),
        ("v1.2.3", ["v1.2.3", "v1", "2", "3"]),
        ("std::vector", ["std::vector", "std", "vector"]),
        ("3.14 1,000", ["3.14", "3", "14", "1,000", "1", "000"]),
        ("me@example.com", ["me@example.com", "me", "exampl", "com"]),
        ("http://example.com/x", ["http://example.com/x", "http", "exampl", "com", "x"]),
        ("camelCase", ["camelcas"]),
        ("one,two;three--four", ["one", "two", "three", "four"]),
        ("well\u2011known", ["well-known", "well", "known"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("a\x00b \ud800c", ["a", "b", "c"]),
        ("🎉", ["🎉"]),
        ("x💯y", ["x", "💯", "y"]),
        ("❤️", ["❤"]),
        ("👍🏽", ["👍🏽", "👍"]),
        ("👨‍👩‍👧", ["👨‍👩‍👧", "👨", "👩", "👧"]),
        ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
        ("1️⃣", ["1"]),
        ("東京都", ["東", "東京", "京", "京都", "都"]),
        ("カ_abc", ["カ", "abc"]),
        ("Tokyo東京", ["tokyo", "東", "東京", "京"]),
        ("ສະ", ["ສ", "ສະ", "ະ"]),
        ("วัน", ["วั", "วัน", "น"]),
        ("हिन्दी", ["हिन्दी"]),
        ("صُحُف", ["صحف"]),
        ('צה"ל', ['צה"ל', "צה", "ל"]),
    ],
)
def test_a_query_has_these_terms(query: str, terms: list[str]) -> None:
    assert OWN.terms(query) == terms


def test_an_identifier_stands_on_its_first_part_and_does_not_lengthen_the_field() -> None:
    words = OWN.analyse({"text": ["set user_id now"]})
    assert words.terms == ("id", "now", "set", "user", "user_id")
    assert words.tokens[0] == (2, 4, 3, 0, 1)
    assert words.positions is not None
    assert words.positions[0] == (0, 1, 1, 2, 3)
    assert words.lengths[0] == 4


def test_a_pair_stands_on_its_first_character() -> None:
    words = OWN.analyse({"text": ["東京都"]})
    assert words.positions is not None
    assert [words.terms[n] for n in words.tokens[0]] == ["東", "東京", "京", "京都", "都"]
    assert words.positions[0] == (0, 0, 1, 1, 2)
    assert words.lengths[0] == 3


def test_no_phrase_reaches_from_one_tag_into_the_next() -> None:
    words = OWN.analyse({"tags": ["red wine", "", "white"], "title": ["a b"]})
    assert words.positions is not None
    assert words.positions[3] == (0, 1, 202)
    assert words.positions[1] == (0, 1)
    assert words.lengths[3] == 3


def test_stacked_tokens_and_gaps_that_cancel_out_keep_their_positions() -> None:
    words = OWN.analyse({"tags": ["a_b " * 100, "c"]})
    assert words.positions is not None
    assert words.positions[3][-1] == 300
    assert words.lengths[3] == 201


def test_fields_that_it_does_not_know_are_left_alone() -> None:
    words = OWN.analyse({"nonsense": ["secret"]})
    assert words.terms == ()
    assert words.lengths == (0,) * 8


def test_an_endless_word_is_cut_and_an_endless_identifier_keeps_only_its_parts() -> None:
    assert OWN.terms("x" * 1000) == ["x" * 256]
    assert OWN.terms("ab_" * 1000) == ["ab"]


SCRIPTS = {
    "Latin": "Zażółć gęślą jaźń façade",
    "Greek": "Η γρήγορη αλεπού πηδάει",
    "Cyrillic": "Съешь ещё этих мягких булок",
    "Armenian": "Բարեւ աշխարհ այսօր",
    "Georgian": "გამარჯობა მსოფლიო დღეს",
    "Hebrew": "שלום עולם טוב",
    "Arabic": "مرحبا بالعالم الجميل",
    "Devanagari": "नमस्ते दुनिया अच्छी",
    "Bengali": "আমার সোনার বাংলা",
    "Tamil": "வணக்கம் உலகம் இனிய",
    "Hangul": "안녕하세요 세계 여러분",
    "Ethiopic": "ሰላም ለዓለም ሁሉ",
    "Han": "我們 昨天 去了 圖書館",
    "Japanese": "きのう 図書館 へ カタカナ ガール",
    "Thai": "สวัสดี ชาวโลก ทำงาน",
    "Lao": "ສະບາຍດີ ຊາວໂລກ",
    "Khmer": "សួស្តី ពិភពលោក",
    "Burmese": "မင်္ဂလာပါ ကမ္ဘာလောက",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_word_of_a_text_finds_it_in_any_script(script: str) -> None:
    text = SCRIPTS[script]
    terms = set(OWN.analyse({"text": [text]}).terms)
    for word in text.split():
        for spelled in (word, word.upper(), f"({word})"):
            asked = OWN.terms(spelled)
            assert asked
            assert terms.issuperset(asked)


@pytest.mark.parametrize("script", ["Han", "Japanese", "Thai", "Lao", "Khmer", "Burmese"])
def test_a_word_is_found_inside_a_text_without_spaces(script: str) -> None:
    words = SCRIPTS[script].split()
    terms = set(OWN.analyse({"text": ["".join(words)]}).terms)
    for word in words:
        assert terms.issuperset(OWN.terms(word))


def test_threads_share_one_analyzer() -> None:
    answers: list[list[str]] = []
    text = " ".join(f"running{n}ing walking-{n} 東京{n}" for n in range(500))

    def read() -> None:
        answers.append(OWN.terms(text))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(terms == answers[0] for terms in answers)
    assert len(answers) == 4


@pytest.mark.parametrize(
    "piece",
    ["a_", "a b ", "a", "a____", "東", "ж ", "ж_", "🎉", "สวัสดี", "e\u0301\u0316", "ж...", "a'"],
)
def test_time_grows_with_the_text_and_no_faster(piece: str) -> None:
    started = time.thread_time()
    OWN.analyse({"text": [piece * (300_000 // len(piece))]})
    assert time.thread_time() - started < 10.0  # the slowest take 0.8; by the square, hours
