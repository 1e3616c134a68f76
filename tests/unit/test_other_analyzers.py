"""The analyzers beside our own: plain runs, and the tokenizers of FTS5."""

from __future__ import annotations

import threading
import time
from itertools import groupby

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoriter.core.errors import BadRecipe
from memoriter.systems.runs import LEMMAS
from memoriter.text.analyzers import analyzer, analyzer_names
from memoriter.text.default import DefaultAnalyzer
from memoriter.text.port import Analyzer

PORTER2 = analyzer("porter2")
SIMPLE = analyzer("simple")
FTS5 = analyzer("fts5-porter")
CJK = analyzer("fts5-porter-cjk")
DASHED = analyzer("fts5-dashed")
OTHERS = (PORTER2, SIMPLE, FTS5, CJK, DASHED)


# ------------------------------------------------------------------------------- by their names


def test_a_recipe_names_one_of_six_and_all_who_ask_share_it() -> None:
    assert analyzer_names() == (
        "memoriter", "fts5-dashed", "fts5-porter", "fts5-porter-cjk", "porter2", "simple",
    )  # fmt: skip
    for name in analyzer_names():
        assert analyzer(name).name == name
        assert analyzer(name) is analyzer(name)
    assert isinstance(analyzer("memoriter"), DefaultAnalyzer)


def test_a_name_that_nobody_has_is_an_error_that_lists_the_others() -> None:
    with pytest.raises(BadRecipe, match="'klingon'") as caught:
        analyzer("klingon")
    assert caught.value.field == "analyzer"
    assert all(name in caught.value.hint for name in analyzer_names())


def test_each_has_a_fingerprint_of_its_own_that_does_not_change() -> None:
    assert len({analyzer(name).fingerprint for name in analyzer_names()}) == len(analyzer_names())
    for each in OTHERS:
        assert each.fingerprint.startswith(f"{each.name}-words/1:")
        assert each.fingerprint == type(each)().fingerprint


def test_all_read_our_fields_but_the_dashed_one_reads_text_and_essence() -> None:
    assert DASHED.fields == ("text", "essence")
    for each in OTHERS[:4]:
        assert each.fields == DefaultAnalyzer().fields
    words = DASHED.analyse({"text": ["One two"], "essence": ["two"], "title": ["three"]})
    assert words.terms == ("one", "two")
    assert words.tokens == ((0, 1), (1,))
    assert words.lengths == (2, 1)


# ----------------------------------------------------------------------------------- plain runs


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("BM25-style Search_v1; Graph", ["bm25", "style", "search", "v1", "graph"]),
        ("Graph+Expansion", ["graph", "expans"]),
        ("   ---   ", []),
        ("", []),
        ("generically", ["generic"]),
        ("prefers preferred preferences", ["prefer"]),
        ("backend engineer", ["backend", "engin"]),
        ("sister's", ["sister", "s"]),
        ("Cat CAT cat", ["cat"]),
        ("x² ½ Ⅷ", ["x²", "½", "ⅷ"]),
        ("日本語の本", ["日本語の本"]),
        ("हिन्दी में", ["हिन", "दी", "में"]),
        ("ที่ดี", ["ที", "ดี"]),
        ("ΟΔΟΣ", ["οδοσ"]),
        ("İstanbul", ["i̇stanbul"]),
        ("Ⓐ🅰", ["ⓐ🅰"]),
        ("cafe\u0301", ["cafe"]),
        ("a\x00b \ud800c", ["a", "b", "c"]),
        ("🎉", []),
    ],
)  # fmt: skip
def test_a_run_of_letters_and_digits_is_a_word_and_porter2_stems_it(
    query: str, terms: list[str]
) -> None:
    assert PORTER2.terms(query) == terms


def test_architect_does_not_find_architecture() -> None:
    words = PORTER2.analyse({"text": ["the architecture"]})
    assert words.terms == ("architectur", "the")
    assert PORTER2.terms("architect") == ["architect"]


def test_an_irregular_form_also_asks_for_its_base() -> None:
    assert PORTER2.terms("went") == ["went", "go"]
    assert PORTER2.terms("WENT gave ran") == ["went", "go", "gave", "give", "ran", "run"]
    assert PORTER2.terms("He went, go on") == ["he", "went", "go", "on"]
    assert PORTER2.terms("arose") == ["aros", "aris"]
    store = PORTER2.analyse({"text": ["We must go to the store today."]})
    weather = PORTER2.analyse({"text": ["The weather is sunny."]})
    assert set(PORTER2.terms("went")) & set(store.terms) == {"go"}
    assert not set(PORTER2.terms("went")) & set(weather.terms)


@pytest.mark.parametrize("word", ["go", "walked", "regular", "was", "goes"])
def test_a_base_or_a_regular_form_asks_for_nothing_else(word: str) -> None:
    assert len(PORTER2.terms(word)) == 1


def test_neither_a_record_nor_a_phrase_gets_the_base() -> None:
    assert PORTER2.analyse({"text": ["she went"]}).terms == ("she", "went")
    assert PORTER2.tokens("she went") == [("she", 0), ("went", 1)]


def test_there_are_171_forms_of_120_verbs() -> None:
    assert len(LEMMAS) == 171
    assert len(set(LEMMAS.values())) == 120
    assert LEMMAS["lay"] == "lie"
    assert LEMMAS["laid"] == "lay"
    assert all(word.isascii() and word.islower() for pair in LEMMAS.items() for word in pair)


def test_simple_keeps_words_as_they_are() -> None:
    assert SIMPLE.terms("Pricing, PRICING & went") == ["pricing", "went"]
    words = SIMPLE.analyse({"text": ["Machine learning_v2"]})
    assert words.terms == words.surfaces == ("learning", "machine", "v2")


def test_a_record_keeps_stems_and_the_words_behind_them() -> None:
    words = PORTER2.analyse({"text": ["The cats were running."], "tags": ["red wine", "", "white"]})
    assert words.terms == ("cat", "red", "run", "the", "were", "white", "wine")
    assert words.surfaces == ("cats", "red", "running", "the", "were", "white", "wine")
    assert words.tokens[0] == (3, 0, 4, 2)
    assert words.lengths == (4, 0, 0, 3, 0, 0, 0, 0)
    assert words.positions is not None
    assert words.positions[3] == (0, 1, 202)


def test_the_last_word_of_a_beginning_is_not_stemmed() -> None:
    assert PORTER2.tokens("running running", prefix=True) == [("run", 0), ("running", 1)]
    assert SIMPLE.tokens("Machine Learn", prefix=True) == [("machine", 0), ("learn", 1)]
    assert PORTER2.tokens("", prefix=True) == []


# ------------------------------------------------------------------------------ FTS5 tokenizers


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("", []),
        ("   ---   ", []),
        ("running run", ["run"]),
        ("generically", ["gener"]),
        ("price pricing", ["price"]),
        ("Café CAFE cafe\u0301", ["cafe"]),
        ("user_id sister's", ["user", "id", "sister", "s"]),
        ("went", ["went"]),
        ("日本語の本", ["日本語の本"]),
        ("Ёлка ЁЛКА", ["ёлка"]),
        ("a\x00b \ud800c", ["a", "b", "c"]),
        ("🎉", []),
    ],
)
def test_fts5_folds_and_stems(query: str, terms: list[str]) -> None:
    assert FTS5.terms(query) == terms


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("a-b-c", ["a-b-c"]),
        ("REQ-FUNC-12", ["req-func-12"]),
        ("__init__", ["__init__"]),
        ("café-crème", ["cafe-creme"]),
        ("sister's", ["sister", "s"]),
        ("http://example.com", ["http", "example", "com"]),
        ("12:30", ["12", "30"]),
        ("!!!", []),
        ("learning", ["learning"]),
    ],
)
def test_hyphen_and_underscore_can_be_letters(query: str, terms: list[str]) -> None:
    assert DASHED.terms(query) == terms


def test_fts5_keeps_the_unstemmed_words_as_surfaces() -> None:
    words = FTS5.analyse({"text": ["Éclairs were pricing"]})
    assert words.terms == ("eclair", "price", "were")
    assert words.surfaces == ("eclairs", "pricing", "were")


letters = st.characters(exclude_categories=["Cs"])
written = st.text(letters) | st.text(
    st.sampled_from("abEs019 _-'.\x00éÉß\u0301жאש٣कि東ガกำ🎉가İΣﬁ²"), max_size=40
)
worded = st.lists(
    st.sampled_from(["relational", "Happiness", "flies_x", "CARESSES", "hopping-mad", "ünités"])
).map(" ".join)
texts = written | worded

TABLES = {"fts5-porter": "porter unicode61", "fts5-dashed": "unicode61 tokenchars '-_'"}


class Table:
    """A table of FTS5 and what it indexes."""

    def __init__(self, tokenizer: str) -> None:
        self._database = apsw.Connection(":memory:")
        self._database.execute(f'CREATE VIRTUAL TABLE t USING fts5(x, tokenize="{tokenizer}")')
        self._database.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")

    def hold(self, text: str) -> None:
        """Let the text be its only row."""
        self._database.execute("DELETE FROM t")
        self._database.execute("INSERT INTO t(rowid, x) VALUES (1, ?)", (text,))

    def tokens(self) -> list[tuple[str, int]]:
        """(term, position) of all that is indexed."""
        rows = self._database.execute('SELECT term, "offset" FROM v ORDER BY "offset"')
        return [(str(term), int(str(place))) for term, place in rows]

    def finds(self, query: str) -> bool:
        """Whether a query of FTS5 finds the row."""
        return bool(self._database.execute("SELECT 1 FROM t WHERE t MATCH ?", (query,)).fetchall())


@pytest.mark.parametrize("name", TABLES)
def test_the_tokens_are_those_that_a_table_of_fts5_indexes(name: str) -> None:
    table = Table(TABLES[name])

    @given(texts)
    def indexed(text: str) -> None:
        table.hold(text)
        assert analyzer(name).tokens(text) == table.tokens()
        words = analyzer(name).analyse({"text": [text]})
        assert words.lengths[0] == len(table.tokens())
        assert [words.terms[n] for n in words.tokens[0]] == [term for term, _ in table.tokens()]

    indexed()


@pytest.mark.parametrize("beginning", ["gener", "generical", "generically", "prici", "pricin", "z"])
@pytest.mark.parametrize("name", TABLES)
def test_the_beginning_of_a_word_finds_what_it_finds_in_fts5(name: str, beginning: str) -> None:
    text = "generically pricing generous price"
    table = Table(TABLES[name])
    table.hold(text)
    [(term, _)] = analyzer(name).tokens(beginning, prefix=True)
    ours = any(word.startswith(term) for word in analyzer(name).analyse({"text": [text]}).terms)
    assert ours == table.finds(f'"{beginning}" *')


@given(texts)
def test_without_grams_the_two_porters_agree(text: str) -> None:
    spaced = "".join(c for c in text if c < "\u0e01")
    assert CJK.tokens(spaced) == FTS5.tokens(spaced)


# ------------------------------------------------------------------------ scripts without spaces


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("日本語の本", "日本"),
        ("我昨天在图书馆借了三本书", "图书馆"),
        ("우리는 학교에서 만났다", "학교"),
        ("ฉันทำงานที่โรงพยาบาล", "โรงพยาบาล"),
        ("Tokyo東京Tower", "東京"),
        ("Tokyo東京Tower", "tower"),
        ("ｶﾞｰﾙ", "ガール"),
        ("ガール", "カ\u3099ール"),
        ("𠮷野家", "𠮷野"),
    ],
)
def test_a_part_of_a_text_without_spaces_finds_it(text: str, part: str) -> None:
    terms = CJK.terms(part)
    assert terms
    assert set(terms) <= set(CJK.analyse({"text": [text]}).terms)


def test_a_pair_stands_on_its_first_character_and_does_not_lengthen_the_field() -> None:
    words = CJK.analyse({"text": ["My 東京都 trips, ok"]})
    assert [words.terms[n] for n in words.tokens[0]] == [
        "my", "東", "東京", "京", "京都", "都", "trip", "ok",
    ]  # fmt: skip
    assert words.positions is not None
    assert words.positions[0] == (0, 1, 1, 2, 2, 3, 4, 5)
    assert words.lengths[0] == 6
    assert "trips" in words.surfaces


@pytest.mark.parametrize("name", ["memoriter", "fts5-porter-cjk"])
def test_a_text_without_stacked_tokens_needs_no_positions(name: str) -> None:
    for text in ("東", "go 東 go", "go", ""):
        assert analyzer(name).analyse({"text": [text]}).positions is None


def test_vowel_signs_of_thai_tell_words_apart() -> None:
    assert CJK.terms("กิน") == ["กิ", "กิน", "น"]
    assert CJK.terms("กัน") == ["กั", "กัน", "น"]


def test_words_with_letters_of_other_blocks_are_not_cut() -> None:
    assert CJK.terms("tiếng Việt “ngữ”…") == ["tiếng", "việt", "ngữ"]
    assert CJK.terms("ሰላም ለዓለም") == ["ሰላም", "ለዓለም"]


# --------------------------------------------------------------------------------- hostile input


STRANGE = (
    "", "\x00", "\ud800", "\udfff\ud800x", "\n\r\u2028", "🎉👨‍👩‍👧❤️", "\u0301", "_-",
    "\ufffe\U0010ffff", "東\ud800京", "\U000ffffd東 x\U000ffffdy",
)  # fmt: skip


@pytest.mark.parametrize("each", OTHERS, ids=lambda each: each.name)
def test_nothing_written_is_too_strange(each: Analyzer) -> None:
    for text in [*STRANGE, "".join(STRANGE)]:
        words = each.analyse({"text": [text], "tags": STRANGE})
        words.encode()
        assert all(term and "\n" not in term for term in words.terms + words.surfaces)
        assert each.tokens(text, prefix=True) is not None
        assert set(each.terms(text)) <= set(words.terms)


@pytest.mark.parametrize("each", OTHERS, ids=lambda each: each.name)
def test_an_endless_word_is_cut(each: Analyzer) -> None:
    for letter in "xéжḥ":
        [term] = each.terms(letter * 1000)
        assert len(term) == 256


@pytest.mark.parametrize(
    "piece", ["a", "a b ", "é-", "東", "a東", "e\u0301\u0316", "İ", "\x00", "กิ"]
)
@pytest.mark.parametrize("each", OTHERS, ids=lambda each: each.name)
def test_time_grows_with_the_text_and_no_faster(each: Analyzer, piece: str) -> None:
    started = time.thread_time()
    each.analyse({"text": [piece * (100_000 // len(piece))]})
    assert time.thread_time() - started < 10.0  # the slowest take 0.6; by the square, hours


@pytest.mark.parametrize("each", OTHERS, ids=lambda each: each.name)
def test_threads_share_one_analyzer(each: Analyzer) -> None:
    answers: list[list[str]] = []
    text = " ".join(f"running{n}ing walking-{n} went 東京{n}" for n in range(500))

    def read() -> None:
        answers.append(each.terms(text))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4
    assert len(list(groupby(answers))) == 1
