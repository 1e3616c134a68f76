"""What holds for any text in any dialect, and that expert texts mean what SQLite says."""

from __future__ import annotations

import re
from itertools import product

import apsw
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.unit.query_trees import PLAIN, leaves, satisfies
from tests.unit.spellings import similar_words

from memoriter.systems.engrava import dialect as engrava
from memoriter.systems.jeffs_brain import dialect as jeffs_brain
from memoriter.systems.jeffs_brain.dialect import longest_word
from memoriter.text.default import DefaultAnalyzer
from memoriter.text.dialects import Options, dialect_names, read_query
from memoriter.text.dialects.expression import DEPTH, parse_expression
from memoriter.text.dialects.grammar import Malformed
from memoriter.text.dialects.parts import LEAVES
from memoriter.text.retry import (
    content_words,
    jaccard,
    sanitised,
    trigrams,
)
from memoriter.text.tree import And, Node, Or, Without

OWN = DefaultAnalyzer()

anything = st.text(st.characters(exclude_categories=()))
pieces = st.sampled_from(
    [
        "AND", "OR", "NOT", "(", ")", '"', "'", "*", "+", ",", ";", ":", "^", "^2.5", "{", "}", "-",
        "NEAR(", "NEAR/2(", "title:", "content:", "essence:", '"a"', "foo", "bar*", "a-b", "k8s",
        "the", "日本語", "🎉", "\ud800", "\0", "c++", "http://x.y", "12:30", "__init__", "हिन्दी",
    ]
)  # fmt: skip
dense = st.lists(st.tuples(pieces, st.sampled_from([" ", " ", ""])), max_size=25).map(
    lambda each: "".join(piece + space for piece, space in each)
)
texts = anything | dense
options = st.builds(
    Options,
    expert=st.booleans(),
    stop=st.sampled_from(["none", "latin"]),
    aliases=st.dictionaries(
        st.sampled_from(["k8s", "foo", "a-b"]), st.lists(texts, max_size=3), max_size=2
    ),
)


def depth(node: Node | None) -> int:
    match node:
        case And(parts) | Or(parts):
            assert len(parts) > 1
            return 1 + max(map(depth, parts))
        case Without(keep, drop):
            return 1 + max(depth(keep), depth(drop))
        case _:
            return 1


@given(st.sampled_from(dialect_names()), texts, options)
def test_any_text_is_read_in_any_dialect(dialect: str, text: str, how: Options) -> None:
    asked = read_query(dialect, text, OWN, how)
    assert asked == read_query(dialect, text, OWN, how)
    assert len(leaves(asked.tree)) <= LEAVES
    assert depth(asked.tree) <= 4 * (DEPTH + 1)
    assert all(OWN.tokens(each) for each in leaves(asked.tree))
    assert how.expert or not asked.expert


@given(texts)
def test_a_text_without_signs_is_any_of_its_terms(text: str) -> None:
    bare = re.sub(r"AND|OR|NOT|[\"*:]", "", text)
    assert leaves(read_query("bare", bare, OWN).tree) == OWN.terms(bare)


@given(texts)
def test_printing_and_normalising_any_text_is_total(text: str) -> None:
    ast = jeffs_brain.parse_query(text)
    assert jeffs_brain.clean_text(ast.raw) == ast.raw
    assert bool(jeffs_brain.compiled(ast)) == bool(ast.tokens)
    form, expert = engrava.normal_form(text)
    assert isinstance(form, str)
    if not expert:
        assert '"' not in re.sub(r'"[\w*-]+"', "", form)


# --- engrava's expressions and SQLite's -----------------------------------------------------------

WORDS = ["", "a", "b", "ab", "a b", "b a", "a c b", "a b c", "c c c a", "b x x a"]
ROWS = [{"text": text, "essence": essence} for text, essence in product(WORDS, ["", "a", "b c"])]


def table() -> apsw.Connection:
    made = apsw.Connection(":memory:")
    tokenizer = "unicode61 tokenchars '-_'"
    made.execute(f'create virtual table t using fts5(content, essence, tokenize="{tokenizer}")')
    made.executemany("insert into t values (?, ?)", [(row["text"], row["essence"]) for row in ROWS])
    return made


TABLE = table()


def sqlite_finds(expression: str) -> set[int] | None:
    """The rows that FTS5 finds, or None where it sees a mistake."""
    try:
        cursor = TABLE.execute("select rowid from t where t match ?", (expression,))
        return {rowid - 1 for (rowid,) in cursor}
    except apsw.SQLError:
        return None


def we_find(tree: Node | None) -> set[int]:
    return {nth for nth, row in enumerate(ROWS) if satisfies(tree, row)}


words = st.sampled_from(["a", "b", "c", "a*", '"a b"', '"b"*', '"a"+"b"', "x", "ab", "c-c"])
nears = st.builds(
    '{}NEAR("{}" "{}"{})'.format,
    st.sampled_from(["", "content:"]),
    st.sampled_from(["a", "b", "a c"]),
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["", ", 0", ", 1", ", 2"]),
)
columns = st.builds(
    "{}{}".format, st.sampled_from(["content:", "ESSENCE:"]), st.sampled_from(["a", "b", '"b c"'])
)
simple = words | nears | columns
rows_of = st.lists(simple, min_size=1, max_size=3).map(" ".join)
expressions = st.recursive(
    rows_of,
    lambda inner: st.builds(
        "{} {} {}".format,
        inner | inner.map("({})".format),
        st.sampled_from(["AND", "OR", "NOT"]),
        inner | inner.map("({})".format),
    ),
    max_leaves=6,
)


@given(expressions)
@example("a OR b AND c NOT a b")
@example("a NOT b NOT c")
@example('NEAR("a" "b", 1) AND (content:a OR ESSENCE:"b c")')
def test_a_well_formed_expression_finds_what_sqlite_finds(text: str) -> None:
    form, expert = engrava.normal_form(text)
    asked = read_query("engrava", text, PLAIN)
    assert asked.expert == expert
    assert asked.note is None
    assert we_find(asked.tree) == sqlite_finds(form)


loose = st.sampled_from(
    ["a", "b", "c*", "x", '"a b"', "AND", "OR", "NOT", "(", ")", "content:", "+", "*", "NEAR(", ","]
)


@given(st.lists(loose, min_size=1, max_size=9).map(" ".join))
def test_what_is_an_expression_and_what_is_not_is_as_sqlite_says(text: str) -> None:
    assume("AND NOT" not in text)  # ours takes away; there it is a mistake
    assume(not re.search(r"\*\s*\+", text))  # a prefix inside a phrase: there it means something
    try:
        tree, _ = parse_expression(text, engrava.GRAMMAR, PLAIN)
    except Malformed:
        assert sqlite_finds(text) is None
    else:
        assert we_find(tree) == sqlite_finds(text)


# --- the second try ----------------------------------------------------------------------------

short = st.text(st.sampled_from("abcAB-_ é$İΣ\n日"), max_size=8) | st.text()


@given(
    st.lists(short, max_size=4), st.lists(short, max_size=20), st.sampled_from([0.1, 0.3, 0.5, 1])
)
def test_words_spelt_alike_are_those_that_the_definition_names(
    asked: list[str], vocabulary: list[str], floor: float
) -> None:
    tried = [trigrams(token) for token in asked if len(token) >= 3]
    best = {
        word: max((jaccard(trigrams(word), grams) for grams in tried), default=0.0)
        for word in vocabulary
    }
    assert similar_words(asked, vocabulary, floor) == {
        word: similarity for word, similarity in best.items() if similarity >= floor
    }


@given(texts)
def test_the_words_of_a_second_try_are_words_of_the_query(text: str) -> None:
    assert sanitised(sanitised(text)) == sanitised(text)
    words_of_query = content_words(text)
    assert len(set(words_of_query)) == len(words_of_query)
    strong = longest_word(text, lambda word: len(word) % 2)
    assert (strong in words_of_query) if words_of_query else strong is None
