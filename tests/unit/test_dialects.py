"""What each dialect makes of a text: the vectors of the four, and what the trees mean."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterable
from itertools import product

import pytest
from tests.night import NIGHT
from tests.unit.query_trees import PLAIN, leaves, satisfies

import memoriter
from memoriter.core.errors import BadRecipe
from memoriter.systems.engrava import dialect as engrava
from memoriter.systems.jeffs_brain import dialect as jeffs_brain
from memoriter.text import stops
from memoriter.text.analyzers import analyzer
from memoriter.text.default import DefaultAnalyzer
from memoriter.text.dialects import Options, dialect_names, read_query
from memoriter.text.dialects.expression import DEPTH, NEIGHBOURS
from memoriter.text.dialects.parts import LEAVES, leaf
from memoriter.text.port import Analyzer
from memoriter.text.tree import (
    And,
    Leaf,
    NearLeaves,
    Node,
    Or,
    ParsedQuery,
    Term,
    Without,
    tree_text,
)

OWN = DefaultAnalyzer()


def rows_matched(
    dialect: str, text: str, rows: Iterable[str], options: Options | None = None
) -> list[str]:
    tree = read_query(dialect, text, PLAIN, options or Options()).tree
    return [row for row in rows if satisfies(tree, {"text": row, "essence": ""})]


FOO_BAR_BAZ = ["foo", "bar", "baz", "foo bar", "foo baz", "bar baz", "foo bar baz"]


# --- what holds for all ------------------------------------------------------------------------


def test_there_are_four_dialects_and_no_fifth() -> None:
    assert dialect_names() == ("bare", "engrava", "jeffs-brain", "mnestic")
    with pytest.raises(BadRecipe, match="no dialect 'lucene'"):
        read_query("lucene", "text", OWN, Options())


def test_the_stop_lists_are_complete() -> None:
    lists = (stops.ENGLISH_STOPS, jeffs_brain.DUTCH, stops.LATIN_STOPS, stops.RETRY_STOPS)
    assert [len(each) for each in lists] == [183, 84, 107, 94]


HOSTILE = [
    "((((", '"', '"a', "NOT ", "AND ", "a AND NOT ", "a*b*", "title:", "content:", "\ud800\0🎉",
    "a-", "NEAR(", "NEAR/3(a ", "a OR ", '"a" ', "a", "*", 'foo" ', "{ ", "^", "(a ", ") ", "a (",
    " ", "'", "a^9", "text:(text:(", "NOT(a ", "a+", "a, ", "\u0301",
]  # fmt: skip


@pytest.mark.parametrize("dialect", dialect_names())
@pytest.mark.parametrize("piece", HOSTILE)
def test_long_texts_of_anything_are_read_soon(dialect: str, piece: str) -> None:
    size = 65_536 if NIGHT else 16_384
    text = (piece * size)[:size]
    begun = time.thread_time()
    asked = read_query(dialect, text, PLAIN, Options())
    assert time.thread_time() - begun < 10  # of this thread alone: the slowest take 0.3
    assert len(leaves(asked.tree)) <= LEAVES


@pytest.mark.parametrize("dialect", dialect_names())
@pytest.mark.parametrize(
    "text", ["", "   ", "!!!", "AND", "NOT", '"', '""', "()", "🎉", "c++", "it's C# & .NET", "a:b"]
)
def test_odd_little_texts_are_no_errors(dialect: str, text: str) -> None:
    assert isinstance(read_query(dialect, text, OWN, Options()), ParsedQuery)


@pytest.mark.parametrize("dialect", dialect_names())
def test_without_expert_reading_operators_are_not_read(dialect: str) -> None:
    rows = ["foo bar", "foo", "bar"]
    asked = read_query(dialect, 'foo "bar" NOT baz', PLAIN, Options(expert=False))
    assert not asked.expert
    assert rows_matched(dialect, 'foo "bar" NOT foo', rows, Options(expert=False)) == rows


@pytest.mark.parametrize("dialect", dialect_names())
def test_and_not_means_without(dialect: str) -> None:
    rows = ["pricing berlin", "pricing", "berlin", "and not"]
    assert rows_matched(dialect, "pricing AND NOT berlin", rows) == ["pricing"]
    assert rows_matched(dialect, "pricing NOT berlin", rows) == ["pricing"]


@pytest.mark.parametrize("dialect", dialect_names())
def test_foo_and_bar_not_baz_has_both_and_not_the_third(dialect: str) -> None:
    assert rows_matched(dialect, "foo AND bar NOT baz", FOO_BAR_BAZ) == ["foo bar"]
    assert rows_matched(dialect, "foo AND bar AND NOT baz", FOO_BAR_BAZ) == ["foo bar"]


@pytest.mark.parametrize("dialect", ["bare", "engrava", "mnestic"])
def test_what_is_taken_from_a_bracket_is_taken_from_all_of_it(dialect: str) -> None:
    assert rows_matched(dialect, "(foo OR bar) NOT baz", FOO_BAR_BAZ) == ["foo", "bar", "foo bar"]


@pytest.mark.parametrize("dialect", ["bare", "engrava", "mnestic"])
def test_brackets_nested_too_deep_are_malformed(dialect: str) -> None:
    fine, deep = ("(" * depth + '"a b" AND c' + ")" * depth for depth in (DEPTH, DEPTH + 1))
    assert read_query(dialect, fine, PLAIN, Options()).expert
    asked = read_query(dialect, deep, PLAIN, Options())
    assert not asked.expert
    assert "more than 50 brackets inside each other" in (asked.note or "")


@pytest.mark.parametrize("dialect", ["engrava", "mnestic"])
def test_too_many_words_in_near_are_malformed(dialect: str) -> None:
    fine, wide = ('NEAR("a"' + ' "a"' * more + ")" for more in (NEIGHBOURS - 1, NEIGHBOURS))
    assert read_query(dialect, fine, PLAIN, Options()).expert
    asked = read_query(dialect, wide, PLAIN, Options())
    assert not asked.expert
    assert "more than 32 words in NEAR" in (asked.note or "")


@pytest.mark.parametrize("dialect", dialect_names())
def test_of_very_many_words_the_first_are_looked_for(dialect: str) -> None:
    text = "! " + " ".join(f"word{nth}" for nth in range(3_000))
    asked = read_query(dialect, text, PLAIN, Options())
    assert leaves(asked.tree) == [f"word{nth}" for nth in range(LEAVES)]
    assert "only the first 1,024 of 3,000 words" in (asked.note or "")


# --- ours --------------------------------------------------------------------------------------


def test_bare_text_is_any_of_its_terms() -> None:
    assert read_query("bare", "The cats, running", OWN, Options()) == ParsedQuery(
        Or((Term("the"), Term("cat"), Term("run")))
    )
    assert read_query("bare", "cats", OWN, Options()).tree == Term("cat")
    assert read_query("bare", "…!", OWN, Options()) == ParsedQuery(None)


@pytest.mark.parametrize(
    "text",
    [
        "salt and pepper", "this or that", "12:30", "http://example.com", "path://x", "title: x",
        "text::y", "he said \"run", '"" nothing', "AND", "AND salt", "salt AND", "salt NOT", "x*",
        "**bold**", "*emphasis*", "2 * 3", "state-of-the-art -word", "note:this", "subtitle:x",
        "AND OR NOT", ":-)", "f(x)", "it's",
    ],
)  # fmt: skip
def test_ordinary_text_is_not_read_as_an_expression(text: str) -> None:
    asked = read_query("bare", text, OWN, Options())
    assert (asked.expert, asked.note) == (False, None)
    assert leaves(asked.tree) == OWN.terms(text)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ('"machine learning"', Leaf("machine learning")),
        ("learn*", Leaf("learn", prefix=True)),
        ("(learn*)", Leaf("learn", prefix=True)),
        ('"machine lear"*', Leaf("machine lear", prefix=True)),
        ("title:berlin", Leaf("berlin", fields=("title",))),
        ('title:"new york"', Leaf("new york", fields=("title",))),
        ("path:/usr/bin", Leaf("/usr/bin", fields=("path",))),
        ("title:path:x", Leaf("path:x", fields=("title",))),
        (
            "tags:(a b) c",
            Or((Leaf("a", fields=("tags",)), Leaf("b", fields=("tags",)), Term("c"))),
        ),
        ("a AND b", And((Term("a"), Term("b")))),
        ("a OR b AND c", Or((Term("a"), And((Term("b"), Term("c")))))),
        ("user_id AND x", And((Or((Term("user_id"), Term("user"), Term("id"))), Term("x")))),
        ("a AND !!!", Term("a")),
        ("foo bar NOT baz", Without(Or((Term("foo"), Term("bar"))), Term("baz"))),
        ("a AND (NOT b)", Without(Term("a"), Term("b"))),
        ("NOT b AND a", Without(Term("a"), Term("b"))),
        ("a NOT b NOT c", Without(Term("a"), Or((Term("b"), Term("c"))))),
        ("a (NOT b) AND c", And((Without(Term("a"), Term("b")), Term("c")))),
    ],
)
def test_an_expression_of_ours_becomes_a_tree(text: str, tree: Node) -> None:
    assert read_query("bare", text, OWN, Options()) == ParsedQuery(tree, expert=True)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("NOT foo", ["foo", "foo bar", "foo baz", "foo bar baz"]),
        ("foo OR NOT bar", [row for row in FOO_BAR_BAZ if row != "baz"]),
        ("NOT NOT foo", ["foo", "foo bar", "foo baz", "foo bar baz"]),
    ],
)
def test_a_not_with_nothing_to_keep_looks_for_its_words(text: str, kept: list[str]) -> None:
    assert rows_matched("bare", text, FOO_BAR_BAZ) == kept
    assert "has nothing to take from" in (read_query("bare", text, OWN, Options()).note or "")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("foo AND )", '")" without "(" at character 9; read as bare words'),
        ("(foo AND bar", '"(" without ")" at character 1; read as bare words'),
        ("foo AND OR bar", 'an unexpected "OR" at character 9; read as bare words'),
        ('"foo" AND', "the expression ends too early at character 9; read as bare words"),
        ("title:(path:x)", "one column inside another at character 8; read as bare words"),
    ],
)
def test_a_malformed_expression_is_read_as_bare_words_and_says_so(text: str, note: str) -> None:
    asked = read_query("bare", text, OWN, Options())
    assert (asked.expert, asked.note) == (False, note)
    assert leaves(asked.tree) == OWN.terms(text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("dentist appointment", ["dentist", "appointment"]),
        ("what have we built together", ["built", "together"]),
        ("и", ["и"]),
        ("the 日本語 is great", ["日本語", "great"]),
        ("שלום مرحبا The", ["שלום", "مرحبا"]),
        ('say "Hello" to NOT-me', ["say", "Hello"]),
        ('in"side AND title:x*', ["inside", "title", "x"]),
        ("", []),
        ("   ", []),
        ("!!!", []),
        ("what is the", []),
    ],
)
def test_latin_stop_words_are_left_out_and_the_rest_stays_as_written(
    text: str, kept: list[str]
) -> None:
    asked = read_query("bare", text, PLAIN, Options(expert=False, stop="latin"))
    assert leaves(asked.tree) == kept
    assert not asked.expert


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I don't know", ["know"]),
        ("what's Anna's port?", ["Anna", "port"]),
        ("What’s Anna’s port?", ["Anna", "port"]),
        ("haven't we met Jess's boss", ["met", "Jess", "boss"]),
        ("I can't, won't and shan't swim", ["swim"]),
        ("O'Brien's rock'n'roll in the 90's", ["O", "Brien", "rock", "n", "roll", "90", "s"]),
        ("don't", []),
    ],
)
def test_a_contraction_is_read_as_its_first_word_and_an_owner_as_a_name(
    text: str, kept: list[str]
) -> None:
    assert leaves(read_query("bare", text, OWN, Options(stop="latin")).tree) == kept


def test_a_contraction_in_an_expression_is_read_so_too() -> None:
    asked = read_query("bare", "don't salt AND Anna's soup", OWN, Options(stop="latin"))
    assert tree_text(asked.tree) == "salt AND (anna OR soup)"


def test_where_the_records_have_both_halves_of_a_contraction_so_has_the_question() -> None:
    asked = read_query("bare", "I don't know", analyzer("fts5-porter-cjk"), Options(stop="latin"))
    assert leaves(asked.tree) == ["don", "t", "know"]


@pytest.mark.parametrize("apostrophe", ["'", "’", "ʼ"])
def test_every_apostrophe_is_written_and_asked_alike(apostrophe: str) -> None:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember(f"Anna{apostrophe}s flat hasn{apostrophe}t a lift", id="flat")
    for question in ("Anna's flat", "Anna’s flat", "Annaʼs flat", "anna", '"hasn\'t a lift"'):
        result = memory.recall(question, recipe="memoriter")
        assert [hit.id for hit in result] == ["flat"]
        assert "words" in result.used


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ('who drinks "the oat milk" in the morning?', 'drinks OR "the oat milk" OR morning'),
        ("the salt AND a pepper", "salt AND pepper"),
        ("coffee NOT with milk", "coffee NOT milk"),
        ("(the cat) AND dog", "(the OR cat) AND dog"),
        ("title:salt for the soup", "title:salt OR soup"),
        ("salt and pepper", "salt OR pepper"),
        ("salt OR the", "salt"),
    ],
)
def test_operators_work_where_stop_words_are_dropped(text: str, tree: str) -> None:
    assert tree_text(read_query("bare", text, PLAIN, Options(stop="latin")).tree) == tree


def test_aliases_work_where_stop_words_are_dropped() -> None:
    options = Options(stop="latin", aliases={"k8s": ["kubernetes", "k8s"]})
    assert tree_text(read_query("bare", "the K8s port", PLAIN, options).tree) == (
        "kubernetes OR k8s OR port"
    )


# --- jeffs-brain -------------------------------------------------------------------------------


def spelled_tokens(text: str) -> list[str]:
    """The tokens as `kind:text` with the operator before: short to write down."""
    tokens = jeffs_brain.parse_query(text).tokens
    return [f"{token.operator} {token}".strip() for token in tokens]


PARSED = [
    ("", []),
    ("The Kubernetes Deployment", ["kubernetes", "deployment"]),
    ('"hello world" kube*', ['"hello world"', "kube*"]),
    ('"the quick brown fox" jumps', ['"the quick brown fox"', "jumps"]),
    ("foo AND bar NOT baz", ["foo", "AND bar", "NOT baz"]),
    ("foo AND the OR bar NOT baz", ["foo", "AND the", "OR bar", "NOT baz"]),
    ("NOT alpha bravo", ["NOT alpha", "bravo"]),
    ("to do list", []),
    ('"to do list"', ['"to do list"']),
    ("kube* cluster", ["kube*", "cluster"]),
    ("cafe\u0301", ["café"]),
    ("hello\u200bworld", ["helloworld"]),
    ("hello\u00a0 world\ufeff", ["hello", "world"]),
    ("foo AND OR bar", ["foo", "OR bar"]),
    ("foo -bar (baz) c++", ["foo", "bar", "baz"]),
    ("kube*net*", ["kubenet*"]),
    ("it's C# & .NET", ["net"]),
    ("AND", []),
    ("a AND b", ["a", "AND b"]),
    ("foo AND !!! bar", ["foo", "bar"]),
    ('"unclosed phrase here', ['"unclosed phrase here"']),
    ("OR foo", ["OR foo"]),
    ('foo"bar baz"qux', ["foo", '"bar baz"', "qux"]),
    ('foo AND "" bar', ["foo", "AND bar"]),
    ("de het een", []),
    ("NOT NOT x", ["NOT x"]),
    ("wat is mijn naam", ["naam"]),
    ("émigré CAFÉ", ["émigré", "café"]),
    ("foo* AND NOT bar", ["foo*", "NOT bar"]),
    ("get-together", ["gettogether"]),
    ("not cocktail and snacks or dessert", ["cocktail", "snacks", "dessert"]),
    (
        "How many items of clothing do I need to pick up or return from a store?",
        ["clothing", "pick", "return", "store"],
    ),
    ("Can you recommend a show or movie for me to watch tonight?", ["movie"]),
    (
        "I have been having trouble with the battery life on my phone lately. Any tips?",
        ["battery", "life", "phone"],
    ),
    ("What types of doctors have I seen?", ["doctors"]),
]


@pytest.mark.parametrize(("text", "tokens"), PARSED)
def test_a_text_is_parsed_into_tokens_with_their_operators(text: str, tokens: list[str]) -> None:
    assert spelled_tokens(text) == tokens


@pytest.mark.parametrize(
    ("text", "has_operators"),
    [
        ("foo and bar", False),
        ("foo AND bar", True),
        ('"', True),
        ("ANDROID", False),
        ("x OR", True),
    ],
)
def test_quotes_and_operators_in_capitals_turn_the_stop_filter_off(
    text: str, *, has_operators: bool
) -> None:
    assert jeffs_brain.parse_query(text).has_operators is has_operators


def test_the_raw_text_is_normalised_and_keeps_its_case() -> None:
    assert jeffs_brain.parse_query("  A\u200b  Cafe\u0301\u00a0B ").raw == "A Café B"


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("The Kubernetes Deployment", "kubernetes OR deployment"),
        ('"hello world" kube*', '"hello world" OR kube*'),
        ("foo AND bar NOT baz", "foo AND bar AND NOT baz"),
        ("NOT alpha bravo", "alpha OR bravo"),
        ("foo AND OR bar", "foo OR bar"),
        ("foo -bar (baz) c++", "foo OR bar OR baz"),
        ("kube*net*", "kubenet*"),
        ("it's C# & .NET", "net"),
        ("AND", ""),
        ("a AND b", "a AND b"),
        ('"unclosed phrase here', '"unclosed phrase here"'),
        ("OR foo", "foo"),
        ('foo"bar baz"qux', 'foo OR "bar baz" OR qux'),
        ("de het een", ""),
        ("NOT NOT x", "x"),
        ("émigré CAFÉ", "émigré OR café"),
        ("foo* AND NOT bar", "foo* AND NOT bar"),
    ],
)
def test_tokens_compile_to_the_reference_string(text: str, reference: str) -> None:
    assert jeffs_brain.compiled(jeffs_brain.parse_query(text)) == reference


ALIASES = {
    "k8s": ["kubernetes", "k8s"],
    "a-ware": ["royal-aware", "a-ware"],
    "ts": ["typescript", "ts"],
    "Go": ["golang"],
    "void": ["!!!"],
}


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("k8s upgrade", "kubernetes OR k8s OR upgrade"),
        ("(K8s) upgrade?", "kubernetes OR k8s OR upgrade"),
        ("a-ware contract", '"royal aware" OR "a ware" OR contract'),
        ("foo AND k8s", "foo AND (kubernetes OR k8s)"),
        ("ts config", "typescript OR ts OR config"),
        ("go modules", "golang OR modules"),
        ('"k8s" x', '"k8s" OR x'),
        ("k8s*", "k8s*"),
        ("void space", "void OR space"),
    ],
)
def test_aliases_replace_words_before_any_are_dropped(text: str, reference: str) -> None:
    assert jeffs_brain.compiled(jeffs_brain.parse_query(text, ALIASES)) == reference


def test_the_alternatives_of_an_alias_are_one_operand() -> None:
    rows = ["foo kubernetes", "foo k8s", "foo", "k8s", "kubernetes"]
    options = Options(aliases=ALIASES)
    assert rows_matched("jeffs-brain", "foo AND k8s", rows, options) == [
        "foo kubernetes",
        "foo k8s",
    ]
    assert rows_matched("jeffs-brain", "foo NOT k8s", rows, options) == ["foo"]
    assert rows_matched("jeffs-brain", "foo AND k8s", rows) == ["foo k8s"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("foo bar", [row for row in FOO_BAR_BAZ if row != "baz"]),
        ("foo AND bar", ["foo bar", "foo bar baz"]),
        ("foo OR bar NOT baz", ["foo", "bar", "foo bar"]),
        ("(foo OR bar) NOT baz", ["foo", "bar", "foo bar"]),
        ("foo NOT baz bar", ["foo", "bar", "foo bar"]),
        ("baz OR foo AND bar", ["baz", "foo bar", "foo baz", "bar baz", "foo bar baz"]),
        ("NOT foo", ["foo", "foo bar", "foo baz", "foo bar baz"]),
        ('"bar baz"', ["bar baz", "foo bar baz"]),
        ("to do list", []),
    ],
)
def test_everything_after_not_is_taken_away_from_the_rest(text: str, kept: list[str]) -> None:
    assert rows_matched("jeffs-brain", text, FOO_BAR_BAZ) == kept


def test_what_was_read_otherwise_than_written_is_noted() -> None:
    def note(text: str) -> str | None:
        return read_query("jeffs-brain", text, OWN, Options()).note

    assert note("plain question") is None
    assert note('"unclosed phrase') == "a quote without its pair, read up to the end"
    assert note("NOT foo") == "a leading NOT has nothing to take from"
    assert note("to do list") == "only stop words, short words and operators"
    assert note("") is None


# --- engrava -----------------------------------------------------------------------------------

NORMAL = [
    ("what was my sister doing", "what OR was OR my OR sister OR doing", False),
    ("sister's", "sister OR s", False),
    ("http://example.com", "http OR example OR com", False),
    ("12:30", "12 OR 30", False),
    ('"machine learning"', '"machine learning"', True),
    ("python AND NOT snake", "python AND NOT snake", True),
    ("neur*", "neur*", False),
    ("content:berlin", "content:berlin", True),
    ("ESSENCE:Berlin", "ESSENCE:Berlin", True),
    ('he said "run', "he OR said OR run", False),
    ('"forum"?', '"forum"?', True),
    ("foo**", "foo*", False),
    ("a-b-c", '"a-b-c"', False),
    ("REQ-FUNC*", '"REQ-FUNC"*', False),
    ("NOT", "NOT", True),
    ("forum NOT body", "forum NOT body", True),
    ("and or not", "and OR or OR not", False),
    ("(pricing OR hotel) AND berlin", "(pricing OR hotel) AND berlin", True),
    ("l'école", "l OR école", False),
    ("!!!", "", False),
    ("x:y essence:z", "x y essence:z", True),
    ('""', "", False),
    ("C++ & C#", "C OR C", False),
    ("café-crème", '"café-crème"', False),
    ("12/05/2026", "12 OR 05 OR 2026", False),
    ("pricing*berlin", "pricing*berlin", False),
    ("__init__", "__init__", False),
    ("NEAR(a b)", "NEAR OR a OR b", False),
    ("content: berlin", "content OR berlin", False),
    ("AND* x", '"AND"* OR x', False),
    ('"the state-of-the-art model" AND x,y', '"the state-of-the-art model" AND x y', True),
    ("( a OR b-c! ) AND d", '( a OR "b-c" ) AND d', True),
]


@pytest.mark.parametrize(("text", "form", "expert"), NORMAL)
def test_a_text_has_a_normal_form(text: str, form: str, *, expert: bool) -> None:
    assert engrava.normal_form(text) == (form, expert)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ('"forum"?', ["forum"]),
        ("NOT", ["NOT"]),
        ("pricing AND (berlin", ["pricing", "AND", "berlin"]),
        ("a OR NOT b", ["a", "OR", "NOT", "b"]),
        ("content:foo-bar", ["content", "foo-bar"]),
        ('foo:"bar baz"', ["foo", "bar", "baz"]),
    ],
)
def test_a_malformed_normal_form_is_retried_as_bare_words(text: str, bare: list[str]) -> None:
    asked = read_query("engrava", text, PLAIN, Options())
    assert leaves(asked.tree) == bare
    assert not asked.expert
    assert (asked.note or "").endswith("read as bare words")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("C++ & C#", Or((Leaf("C"), Leaf("C")))),
        ("a-b-c", Leaf("a-b-c")),
        ("REQ-FUNC*", Leaf("REQ-FUNC", prefix=True)),
        ("neur* berlin", Or((Leaf("neur", prefix=True), Leaf("berlin")))),
        (
            "pricing*berlin x",
            Or((And((Leaf("pricing", prefix=True), Leaf("berlin"))), Leaf("x"))),
        ),
        ("!!!", None),
    ],
)
def test_bare_words_are_alternatives_and_duplicates_stay(text: str, tree: Node | None) -> None:
    assert read_query("engrava", text, PLAIN, Options()) == ParsedQuery(tree)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("content:berlin", Leaf("berlin", fields=("text",))),
        ("ESSENCE:Berlin", Leaf("Berlin", fields=("essence",))),
        ('"machine lear"*', Leaf("machine lear", prefix=True)),
        ('"a"+"b c"', Leaf("a b c")),
        ('"a""b"', Leaf('a"b')),
        ('NEAR("a" "b c", 3)', NearLeaves((Leaf("a"), Leaf("b c")), 3)),
        ('NEAR("a" "b")', NearLeaves((Leaf("a"), Leaf("b")), 10)),
        ("a b OR c", Or((And((Leaf("a"), Leaf("b"))), Leaf("c")))),
        (
            "a OR b AND c NOT d",
            Or((Leaf("a"), Without(And((Leaf("b"), Leaf("c"))), Leaf("d")))),
        ),
        ("a b NOT c d", Without(And((Leaf("a"), Leaf("b"))), And((Leaf("c"), Leaf("d"))))),
    ],
)
def test_an_expert_text_is_read_as_sqlite_reads_it(text: str, tree: Node) -> None:
    asked = read_query("engrava", text, PLAIN, Options())
    assert asked.expert
    rows = [
        {"text": " ".join(words), "essence": "berlin machine learning"}
        for words in product(["", "a", "c"], ["", "b", "berlin"], ["c", "d", "machine learning"])
    ]
    assert [satisfies(asked.tree, row) for row in rows] == [satisfies(tree, row) for row in rows]
    assert sorted(leaves(asked.tree)) == sorted(leaves(tree))


# --- mnestic -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("pricing berlin", And((Leaf("pricing"), Leaf("berlin")))),
        ("pricing OR berlin", Or((Leaf("pricing"), Leaf("berlin")))),
        ("a, b; c", Or((Leaf("a"), Leaf("b"), Leaf("c")))),
        ("pricing or berlin", And((Leaf("pricing"), Leaf("or"), Leaf("berlin")))),
        ("pricing NOT berlin", Without(Leaf("pricing"), Leaf("berlin"))),
        ("a NOT b AND c", Without(Leaf("a"), And((Leaf("b"), Leaf("c"))))),
        ("a AND b OR c", And((Leaf("a"), Or((Leaf("b"), Leaf("c")))))),
        ("a b OR c", Or((And((Leaf("a"), Leaf("b"))), Leaf("c")))),
        ("(a OR b) AND c", And((Or((Leaf("a"), Leaf("b"))), Leaf("c")))),
        ("(a OR b) c", And((Or((Leaf("a"), Leaf("b"))), Leaf("c")))),
        ("learn*", Leaf("learn", prefix=True)),
        ("pricing^3 OR berlin", Or((Leaf("pricing", boost=3.0), Leaf("berlin")))),
        ("learn*^2.5", Leaf("learn", prefix=True, boost=2.5)),
        ('"machine learning"', Leaf("machine learning")),
        ("'machine learning'^2", Leaf("machine learning", boost=2.0)),
        (
            "NEAR/2(machine learning)",
            NearLeaves((Leaf("machine"), Leaf("learning")), 2, chained=True),
        ),
        ("NEAR / 2 (a b)", NearLeaves((Leaf("a"), Leaf("b")), 2, chained=True)),
        (
            "NEAR(a b* 'c'^2)",
            NearLeaves(
                (Leaf("a"), Leaf("b", prefix=True), Leaf("c", boost=2.0)), 10, chained=True
            ),
        ),
        ("हिन्दी", Leaf("हिन्दी")),
        ("ANDROID NOTE", And((Leaf("ANDROID"), Leaf("NOTE")))),
        ("a^99999999999999999999", Leaf("a", boost=100.0)),
    ],
)  # fmt: skip
def test_a_mnestic_expression_becomes_a_tree(text: str, tree: Node) -> None:
    assert read_query("mnestic", text, PLAIN, Options()) == ParsedQuery(tree, expert=True)


@pytest.mark.parametrize(
    ("text", "words", "note"),
    [
        ("sister's", ["sister", "s"], "' without its pair at character 7"),
        ("http://example.com", ["http", "example", "com"], '":" means nothing here at character 5'),
        ("what is the price?", ["what", "is", "the", "price"], '"?" means nothing here'),
        ('"machine lear"*', ["machine", "lear"], 'a phrase before "*" at character 1'),
        ('NEAR("a b" c)', ["near", "a", "b", "c"], "a phrase in NEAR at character 6"),
        ("NOT a", ["not", "a"], 'an unexpected "NOT" at character 1'),
        ("a AND", ["a", "and"], "the expression ends too early"),
        ("a – b", ["a", "b"], '"–" means nothing here'),
        ("a \0", ["a"], r'"\x00" means nothing here'),
    ],
)
def test_what_is_no_mnestic_expression_is_any_of_its_words(
    text: str, words: list[str], note: str
) -> None:
    asked = read_query("mnestic", text, PLAIN, Options())
    assert leaves(asked.tree) == words
    assert not isinstance(asked.tree, And)
    assert not asked.expert
    assert (asked.note or "").startswith(note)
    assert (asked.note or "").endswith("; read as bare words")


def test_any_analyzer_will_do() -> None:
    analyzer: Analyzer = PLAIN
    assert read_query("bare", "a b", analyzer).tree == Or((Term("a"), Term("b")))


def test_a_long_word_is_not_kept_and_a_leaf_keeps_few_tokens() -> None:
    han = "".join(chr(0x4E00 + n % 2_000) for n in range(10_000))
    made = leaf(analyzer("memoriter"), han)
    assert made is not None
    assert made.tokens == ()
    tracemalloc.start()
    try:
        for n in range(100):
            long = f"x{n}" * 10_000
            read_query("bare", long, analyzer("memoriter"), Options(stop="latin"))
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()
