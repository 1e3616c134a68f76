"""What jeffs-brain promises of its words: JB-02 to JB-10, JB-15 to JB-26, JB-40."""

from __future__ import annotations

from typing import Any

import pytest
from tests.claims.corpus import (
    SLUGS,
    VECTOR,
    close,
    ids,
    note,
    open_empty,
    open_texts,
    path_of,
    scores,
    understood,
)

from memoriter.core.errors import BadFilter, BadQuery, Unavailable
from memoriter.memory.facade import Memory
from memoriter.systems.jeffs_brain.dialect import compiled, parse_query
from memoriter.testing.fakes import ToyEmbedder
from memoriter.text.retry import jaccard, trigrams
from memoriter.why.result import Result

WORDS = [("m02", 3.1829), ("m17", 2.7866), ("m01", 2.5707), ("m10", 1.6440), ("m09", 1.5421)]
MEANING = ["m18", "m13", "m08", "m02", "m17"]
LADDER = (
    "initial", "strongest_term", "force-refresh", "refreshed_sanitised", "refreshed_strongest",
    "trigram_fuzzy",
)  # fmt: skip


def ask(memory: Memory, text: str, mode: str = "bm25", **more: Any) -> Result:
    return memory.recall(text, 10_000, recipe="jeffs-brain", mode=mode, **more)


def rungs(result: Result) -> list[tuple[int, str, str | None, int]]:
    return [(each.rung, each.name, each.query, each.hits) for each in result.attempts]


def foo_bar_baz() -> Memory:
    return open_texts("foo", "bar", "baz", "foo bar", "foo baz", "bar baz", "foo bar baz")


def tokens_of(text: str, aliases: dict[str, list[str]] | None = None) -> list[tuple[str, str, str]]:
    return [(each.kind, each.text, each.operator) for each in parse_query(text, aliases).tokens]


def terms(text: str) -> list[tuple[str, str, str]]:
    return [("term", word, "") for word in text.split()]


# -- the query -------------------------------------------------------------------------------------

PARSED = [
    ("", [], False),
    ('"the quick brown fox" jumps', [("phrase", "the quick brown fox", ""), *terms("jumps")], True),
    (
        "foo AND the OR bar NOT baz",
        [
            ("term", "foo", ""),
            ("term", "the", "AND"),
            ("term", "bar", "OR"),
            ("term", "baz", "NOT"),
        ],
        True,
    ),
    ("kube* cluster", [("prefix", "kube", ""), *terms("cluster")], False),
    ("to do list", [], False),
    ('"to do list"', [("phrase", "to do list", "")], True),
    ("not cocktail and snacks or dessert", terms("cocktail snacks dessert"), False),
    (
        "How many items of clothing do I need to pick up or return from a store?",
        terms("clothing pick return store"),
        False,
    ),
    ("Can you recommend a show or movie for me to watch tonight?", terms("movie"), False),
    (
        "I have been having trouble with the battery life on my phone lately. Any tips?",
        terms("battery life phone"),
        False,
    ),
    ("What types of doctors have I seen?", terms("doctors"), False),
    ("The Kubernetes Deployment", terms("kubernetes deployment"), False),
    ('"hello world" kube*', [("phrase", "hello world", ""), ("prefix", "kube", "")], True),
    ("NOT alpha bravo", [("term", "alpha", "NOT"), *terms("bravo")], True),
    ("foo AND OR bar", [("term", "foo", ""), ("term", "bar", "OR")], True),
    ("foo -bar (baz) c++", terms("foo bar baz"), False),
    ("kube*net*", [("prefix", "kubenet", "")], False),
    ("AND", [], True),
    ("a AND b", [("term", "a", ""), ("term", "b", "AND")], True),
    ('"unclosed phrase here', [("phrase", "unclosed phrase here", "")], True),
    ("OR foo", [("term", "foo", "OR")], True),
    (
        'foo"bar baz"qux',
        [("term", "foo", ""), ("phrase", "bar baz", ""), ("term", "qux", "")],
        True,
    ),
    ("NOT NOT x", [("term", "x", "NOT")], True),
    ("foo* AND NOT bar", [("prefix", "foo", ""), ("term", "bar", "NOT")], True),
]


@pytest.mark.parametrize(("text", "tokens", "has_operators"), PARSED)
def test_jb_02_a_text_is_parsed_into_tokens(
    text: str, tokens: list[tuple[str, str, str]], *, has_operators: bool
) -> None:
    ast = parse_query(text)
    assert (ast.raw, tokens_of(text), ast.has_operators) == (text, tokens, has_operators)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("cafe\u0301", "café"),
        ("hello\u200bworld", "helloworld"),
        ("a\u200c\u200d\ufeffbc", "abc"),
        ("  hello\u00a0 \t world\n", "hello world"),
    ],
)
def test_jb_03_texts_are_normalised(text: str, same: str) -> None:
    assert parse_query(text) == parse_query(same)
    memory = open_texts(same, "other")
    assert ids(ask(memory, text)) == ["r0"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("to do list", ""),
        ("wat is mijn naam", "naam"),
        ("de het een", ""),
        ("salt and pepper or not", "salt pepper"),
        ("go to ai lab", "lab"),
        ("émigré CAFÉ", "émigré café"),
    ],
)
def test_jb_04_stop_words_and_short_words_are_dropped(text: str, kept: str) -> None:
    assert tokens_of(text) == terms(kept)


def test_jb_04_with_a_quote_or_an_operator_nothing_is_dropped() -> None:
    assert tokens_of("the AND to") == [("term", "the", ""), ("term", "to", "AND")]
    assert tokens_of('"to" do it') == [("phrase", "to", ""), *terms("do it")]
    memory = open_texts("to be", "to do", "the end")
    assert sorted(ids(ask(memory, "to OR end"))) == ["r0", "r1", "r2"]
    assert ids(ask(memory, '"to do"')) == ["r1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("foo bar", {"r0", "r1", "r3", "r4", "r5", "r6"}),
        ("foo AND bar", {"r3", "r6"}),
        ("foo AND bar NOT baz", {"r3"}),
        ("(foo OR bar) NOT baz", {"r0", "r1", "r3"}),
        ("foo OR bar NOT baz", {"r0", "r1", "r3"}),
        ("NOT foo bar", {"r0", "r1", "r3", "r4", "r5", "r6"}),
        ("foo* AND NOT bar", {"r0", "r4"}),
    ],
)
def test_jb_05_words_are_joined_by_or_unless_an_operator_stands_between(
    text: str, expected: set[str]
) -> None:
    assert set(ids(ask(foo_bar_baz(), text))) == expected


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("The Kubernetes Deployment", "kubernetes OR deployment"),
        ('"hello world" kube*', '"hello world" OR kube*'),
        ("foo AND bar NOT baz", "foo AND bar AND NOT baz"),
        ("NOT alpha bravo", "alpha OR bravo"),
        ("foo* AND NOT bar", "foo* AND NOT bar"),
        ("a AND b", "a AND b"),
    ],
)
def test_jb_05_the_reference_string_is_there_for_comparison(text: str, reference: str) -> None:
    assert compiled(parse_query(text)) == reference


@pytest.mark.parametrize(
    ("text", "shown", "says"),
    [
        ('"pricing decision', '"pricing decision"', "a quote without its pair"),
        ("AND", "", "only stop words, short words and operators"),
        ("c++", "", "only stop words, short words and operators"),
        ("it's C# & .NET", "net", ""),
        ("🎉", "", ""),
        ("🎉 berlin", "berlin", ""),
        ("NOT berlin", "berlin", "a leading NOT has nothing to take from"),
        ('"""', "", ""),
    ],
)
def test_jb_06_no_text_is_an_exception_and_the_plan_says_what_was_understood(
    files: Memory, text: str, shown: str, says: str
) -> None:
    plan = ask(files, text).plan
    assert understood(plan) == shown
    assert says in note(plan)


K8S = {"k8s": ["kubernetes", "k8s"]}


@pytest.mark.parametrize(
    ("text", "aliases", "read"),
    [
        ("k8s upgrade", K8S, "kubernetes OR k8s OR upgrade"),
        ("K8S upgrade", K8S, "kubernetes OR k8s OR upgrade"),
        ("k8s upgrade", {}, "k8s OR upgrade"),
        ("k8s upgrade", {"k8s": ["cluster manager"]}, '"cluster manager" OR upgrade'),
        ("k8s upgrade", {"k8s": ["kubernetes"]}, "kubernetes OR upgrade"),
        ('"k8s" x', K8S, "k8s OR x"),
        ("k8s*", K8S, "k8s*"),
        ("a-ware deal", {"a-ware": ["royal-aware", "a-ware"]}, '"royal aware" OR "a ware" OR deal'),
    ],
)  # fmt: skip
def test_jb_07_aliases_replace_a_word(
    files: Memory, text: str, aliases: dict[str, list[str]], read: str
) -> None:
    assert understood(ask(files, text, aliases=aliases).plan) == read


def test_jb_07_an_alias_finds_what_the_word_does_not(files: Memory) -> None:
    assert ids(ask(files, "k8s", overrides={"lanes.words.ladder": False})) == []
    assert ids(ask(files, "k8s", aliases=K8S)) == ["m08"]


@pytest.mark.parametrize(
    ("text", "aliases", "read"),
    [
        ("ts config", {"ts": ["typescript"]}, "typescript OR config"),
        ("go modules", {"go": ["golang", "go"]}, "golang OR go OR modules"),
        ("foo AND k8s", K8S, "foo AND (kubernetes OR k8s)"),
    ],
)
def test_jb_08_short_words_have_aliases_and_a_group_stays_together(
    files: Memory, text: str, aliases: dict[str, list[str]], read: str
) -> None:
    assert understood(ask(files, text, aliases=aliases).plan) == read


def test_jb_08_both_alternatives_need_the_other_word() -> None:
    memory = open_texts("foo kubernetes", "foo k8s", "k8s", "kubernetes", "foo")
    assert set(ids(ask(memory, "foo AND k8s", aliases=K8S))) == {"r0", "r1"}


# -- the words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pricing berlin", WORDS),
        ("price", [("m17", 2.7866), ("m01", 2.5707), ("m02", 1.5914)]),
        ("learning", [("m15", 1.7603), ("m18", 1.7603), ("m19", 1.6440)]),
        ("sisters", [("m03", 2.1143), ("m04", 1.9178)]),
        ("kubernetes upgrade", [("m08", 8.4109)]),
        ("upgrading", [("m08", 4.2055)]),
        ("kubernets", [("m08", 4.2055)]),
    ],
)
def test_jb_09_five_columns_are_weighed_and_stemmed(
    files: Memory, text: str, expected: list[tuple[str, float]]
) -> None:
    assert scores(ask(files, text)) == close(expected, 5.1e-5)


def test_jb_09_a_title_weighs_most_and_a_text_least() -> None:
    memory = open_empty()
    for nth in range(20):
        memory.remember(f"filler{nth}", title="a", summary="b", tags=["c"], source={"path": "d"})
    each: dict[str, Any] = {"text": "x", "title": "a", "summary": "b", "tags": ["c"]}
    each["source"] = {"path": "d"}
    having: dict[str, Any] = {
        "title": "zebra", "summary": "zebra", "tags": ["zebra"], "text": "zebra",
        "source": {"path": "zebra"},
    }  # fmt: skip
    for field, value in having.items():
        memory.remember(**{**each, field: value}, id=field)
    # idf = ln(20.5/5.5); all rows have five words, so each is w · 2.2 / (w + 1.2) times that.
    weights = {"title": 10.0, "summary": 5.0, "tags": 4.0, "source": 3.0, "text": 1.0}
    expected = [(id, 1.3156768 * w * 2.2 / (w + 1.2)) for id, w in weights.items()]
    assert scores(ask(memory, "zebra")) == close(expected)


def test_jb_10_there_is_one_query_and_not_four(files: Memory) -> None:
    result = ask(files, "pricing berlin")
    assert result.rows() == close(
        [("m02", 0.016393), ("m17", 0.016129), ("m01", 0.015873), ("m10", 0.015625),
         ("m09", 0.015385)]
    )  # fmt: skip
    assert rungs(result) == [(0, "initial", "pricing berlin", 5)]


# -- modes -----------------------------------------------------------------------------------------


def test_jb_15_bm25_is_words_only_and_never_touches_vectors(files_with_vectors: Memory) -> None:
    result = ask(files_with_vectors, "pricing berlin", vector=VECTOR)
    assert (result.used, result.status) == (("words",), "complete")
    assert scores(result) == close(WORDS, 5.1e-5)
    embedder = ToyEmbedder()
    memory = open_empty(embedder)
    memory.remember("berlin", id="b")
    before = embedder.calls
    assert ids(ask(memory, "berlin")) == ["b"]
    assert embedder.calls == before


def test_jb_15_semantic_ranks_by_vectors_only(files_with_vectors: Memory) -> None:
    result = ask(files_with_vectors, "pricing berlin", "semantic", vector=VECTOR)
    assert result.used == ("vector",)
    assert ids(result)[:5] == MEANING
    expected = [0.998568, 0.997054, 0.994172, 0.990202, 0.988165]
    pairs = list(zip(MEANING, expected, strict=True))
    assert scores(result, "vector")[:5] == close(pairs)
    assert all(set(hit.lanes) == {"vector"} for hit in result)


def test_jb_16_hybrid_fuses_both(files_with_vectors: Memory) -> None:
    result = ask(files_with_vectors, "pricing berlin", "hybrid", vector=VECTOR)
    assert (result.used, result.status, result.fell_back) == (
        ("words", "vector"),
        "complete",
        False,
    )
    by_rank = {hit.lanes["words"].rank: hit.id for hit in result if "words" in hit.lanes}
    assert [by_rank[rank] for rank in range(1, 6)] == [id for id, _ in WORDS]
    assert len(scores(result, "vector")) == 20


@pytest.mark.parametrize("mode", ["hybrid", "hybrid-rerank", "semantic"])
def test_jb_16_and_18_without_an_embedder_words_answer_and_say_so(files: Memory, mode: str) -> None:
    result = ask(files, "pricing berlin", mode)
    assert scores(result) == close(WORDS, 5.1e-5)
    assert (result.used, result.status, result.fell_back) == (("words",), "degraded", True)
    assert result.skipped == {"vector": "this memory has no embedder"}
    assert ids(result) == ids(ask(files, "pricing berlin"))


def test_jb_16_an_embedder_that_fails_is_as_good_as_none() -> None:
    embedder = ToyEmbedder()
    memory = open_empty(embedder)
    memory.remember("berlin", id="b")
    assert ask(memory, "berlin", "hybrid").used == ("words", "vector")
    embedder.failing = True
    result = ask(memory, "berlin", "hybrid")
    assert (ids(result), result.status, result.fell_back) == (["b"], "degraded", True)
    assert "the embedder failed" in result.skipped["vector"]


def test_jb_16_a_lane_that_is_required_makes_it_an_error(files: Memory) -> None:
    with pytest.raises(Unavailable, match="'vector' is required"):
        ask(files, "pricing berlin", "hybrid", require={"vector"})


def test_jb_17_auto_is_hybrid_with_an_embedder(files_with_vectors: Memory) -> None:
    result = ask(files_with_vectors, "pricing berlin", "auto", vector=VECTOR)
    hybrid = ask(files_with_vectors, "pricing berlin", "hybrid", vector=VECTOR)
    assert (result.used, ids(result)) == (("words", "vector"), ids(hybrid))


def test_jb_17_auto_is_bm25_without_one_and_nothing_is_missed(files: Memory) -> None:
    result = ask(files, "pricing berlin", "auto")
    assert scores(result) == close(WORDS, 5.1e-5)
    assert (result.used, result.status, result.fell_back) == (("words",), "complete", False)


def test_jb_18_an_unknown_mode_is_an_error_that_lists_the_five(files: Memory) -> None:
    with pytest.raises(BadQuery, match="no mode 'fuzzy'") as raised:
        ask(files, "pricing berlin", "fuzzy")
    assert raised.value.hint == "known: auto, bm25, semantic, hybrid, hybrid-rerank"


# -- the ladder ------------------------------------------------------------------------------------


def test_jb_19_rungs_come_in_a_fixed_order(files: Memory) -> None:
    assert tuple(each.name for each in ask(files, "zzqx wwpl").attempts) == LADDER


@pytest.mark.parametrize(
    ("text", "wins"),
    [
        ("pricing zzqx", 0),
        ("please show pricing-zz", 1),
        ("zzzzzzzzzz-berlin", 3),
        ("zzzzzzzzzz-pasport", 5),
    ],
)
def test_jb_19_the_first_rung_with_hits_wins_and_later_ones_do_not_run(
    files: Memory, text: str, wins: int
) -> None:
    attempts = ask(files, text).attempts
    assert (attempts[-1].rung, attempts[-1].name) == (wins, LADDER[wins])
    assert attempts[-1].hits > 0
    assert not any(each.hits for each in attempts[:-1])


def test_jb_19_an_error_does_not_start_the_ladder(files: Memory) -> None:
    with pytest.raises(BadQuery, match="query"):
        ask(files, "zzqx\ud800")
    with pytest.raises(BadFilter):
        ask(files, "zzqx wwpl", where={"nothing": 1})


def test_jb_20_every_attempt_is_recorded(files: Memory) -> None:
    result = ask(files, "zzqx wwpl")
    assert rungs(result) == [
        (0, "initial", "zzqx wwpl", 0),
        (1, "strongest_term", "zzqx", 0),
        (2, "force-refresh", None, 0),
        (3, "refreshed_sanitised", "zzqx wwpl", 0),
        (4, "refreshed_strongest", "zzqx", 0),
        (5, "trigram_fuzzy", "zzqx wwpl", 0),
    ]
    assert (ids(result), result.used_retry) == ([], True)
    assert not ask(files, "pricing").used_retry


def test_jb_20_hits_of_a_rung_are_fused_with_vectors(files_with_vectors: Memory) -> None:
    result = ask(files_with_vectors, "pasport", "hybrid", vector=VECTOR)
    assert scores(result) == close([("m20", 0.666667)])
    assert len(scores(result, "vector")) == 20
    assert result.used_retry


def test_jb_21_the_strongest_term_is_the_longest_word(files: Memory) -> None:
    result = ask(files, "what is the oude reimer status?")
    assert rungs(result)[1] == (1, "strongest_term", "reimer", 0)


def test_jb_21_of_equally_long_words_the_rarest_is_strongest() -> None:
    memory = open_texts("hello there", "hello you", "world", "you")
    # A rung runs only when the whole query finds nothing: here both words were joined to others.
    result = ask(memory, "hello-x world-x")
    assert rungs(result)[:2] == [
        (0, "initial", "hello-x world-x", 0),
        (1, "strongest_term", "world", 1),
    ]


def test_jb_21_without_a_strong_word_the_rung_is_skipped(files: Memory) -> None:
    assert rungs(ask(files, "the and or")) == [
        (0, "initial", "the and or", 0),
        (2, "force-refresh", None, 0),
        (3, "refreshed_sanitised", "the and or", 0),
    ]


def test_jb_21_a_strongest_term_that_is_the_whole_query_is_skipped(files: Memory) -> None:
    assert [each.rung for each in ask(files, " ZZQX ").attempts] == [0, 2, 3, 4, 5]


@pytest.mark.parametrize("text", ["zzqx wwpl", "zzqx", "the and or", "pasport"])
def test_jb_22_force_refresh_keeps_its_place_and_searches_nothing(files: Memory, text: str) -> None:
    (rung,) = [each for each in ask(files, text).attempts if each.name == "force-refresh"]
    assert (rung.rung, rung.query, rung.hits) == (2, None, 0)


def test_jb_23_the_sanitised_query_has_no_operators(files: Memory) -> None:
    assert scores(ask(files, "((pricing))!!")) == scores(ask(files, "pricing"))
    result = ask(files, "zzzzzzzzzz-berlin")
    assert rungs(result)[-1] == (3, "refreshed_sanitised", "zzzzzzzzzz berlin", 3)
    assert ids(result) == ids(ask(files, "berlin"))


def test_jb_23_the_sanitised_query_is_normalised_stop_filtered_and_alias_expanded(
    files: Memory,
) -> None:
    result = ask(files, "zzzzzzzzzz-k8s/the", aliases=K8S)
    assert rungs(result)[-1] == (3, "refreshed_sanitised", "zzzzzzzzzz k8s the", 1)
    assert ids(result) == ["m08"]


def test_jb_23_a_query_that_is_empty_when_sanitised_is_not_run(files: Memory) -> None:
    assert [each.rung for each in ask(files, "?!").attempts] == [0, 2]


def test_jb_24_the_strongest_word_of_that_form_is_tried(files: Memory) -> None:
    attempts = rungs(ask(files, "zzqxyz/wwpl"))
    assert attempts[3:5] == [
        (3, "refreshed_sanitised", "zzqxyz wwpl", 0),
        (4, "refreshed_strongest", "zzqxyz", 0),
    ]


@pytest.mark.parametrize(
    ("typed", "meant", "near"),
    [
        ("kubernets", "kubernetes", 0.5833),
        ("cofee", "coffee", 0.5714),
        ("pasport", "passport", 0.6667),
        ("dentits", "dentist", 0.40),
        ("berlni", "berlin", 0.3333),
        ("sourdoh", "sourdough", 0.4545),
        ("bosh", "bosch", 0.2857),
    ],
)
def test_jb_25_words_are_compared_by_their_trigrams(typed: str, meant: str, near: float) -> None:
    assert jaccard(trigrams(typed), trigrams(meant)) == pytest.approx(near, abs=5e-5)


@pytest.mark.parametrize(
    ("typed", "expected", "near", "meant"),
    [
        ("cofee", ["m06", "m05"], 0.571429, "coffee"),  # equal ones come by path
        ("pasport", ["m20"], 0.666667, "passport"),
        ("dentits", ["m11"], 0.4, "dentist"),
        ("berlni", ["m02", "m09", "m10"], 0.333333, "berlin"),
        ("sourdoh", ["m15"], 0.454545, "sourdough"),
    ],
)
def test_jb_25_a_word_spelled_nearly_like_it_is_found(
    files: Memory, typed: str, expected: list[str], near: float, meant: str
) -> None:
    result = ask(files, typed)
    assert scores(result) == close([(id, near) for id in expected])
    assert result.attempts[-1].name == "trigram_fuzzy"
    assert meant in result.near


def test_jb_25_text_title_and_slug_are_compared() -> None:
    memory = open_empty()
    memory.remember("one", id="text-dentist")
    memory.remember("dentist", id="text")
    memory.remember("two", id="title", title="dentist")
    memory.remember("three", id="slug", source={"path": "wiki/user-fact-dentist.md"})
    assert set(ids(ask(memory, "dentits"))) == {"text", "title", "slug"}


def test_jb_25_the_nearest_comes_first_and_too_far_is_not_found() -> None:
    memory = open_texts("dentistry", "dentist", "bosch", "ab")
    assert ids(ask(memory, "dentits")) == ["r1", "r0"]
    assert ids(ask(memory, "bosh")) == []
    assert ids(ask(memory, "ba")) == []  # words of fewer than three letters are not tried


def test_jb_25_filters_hold_for_similar_words(files: Memory) -> None:
    wiki = {"source.path": {"prefix": "wiki/"}}
    assert ids(ask(files, "cofee", where=wiki)) == []
    assert ids(ask(files, "pasport", where=wiki)) == ["m20"]


def test_jb_26_a_rung_is_one_search_of_the_lane_s_pool(files: Memory) -> None:
    result = ask(files, "zzqx wwpl")
    assert len({each.rung for each in result.attempts}) == len(result.attempts) <= 6
    few = ask(files, "berlni", overrides={"lanes.words.pool": 2})
    assert (len(few), few.attempts[-1].hits) == (2, 2)


def test_jb_26_on_an_empty_index_the_ladder_ends_at_once(files: Memory) -> None:
    assert rungs(ask(open_empty(), "zzqx wwpl")) == [(0, "initial", "zzqx wwpl", 0)]
    nothing = ask(files, "zzqx wwpl", where={"kind": "no such kind"})
    assert rungs(nothing) == [(0, "initial", "zzqx wwpl", 0)]


def test_jb_26_a_switch_turns_the_ladder_off(files: Memory) -> None:
    result = ask(files, "zzqx wwpl", overrides={"lanes.words.ladder": False})
    assert rungs(result) == [(0, "initial", "zzqx wwpl", 0)]
    assert not result.used_retry


# -- filters ---------------------------------------------------------------------------------------

WIKI = {"source.path": {"prefix": "wiki/"}}
GLOBAL = {"source.path": {"prefix": "memory/global/"}}


@pytest.mark.parametrize("mode", ["bm25", "semantic", "hybrid"])
@pytest.mark.parametrize(
    "where", [WIKI, GLOBAL, {"source.path": {"in": [path_of(id) for id in SLUGS]}}]
)
def test_jb_40_filters_by_path_hold_for_both_lanes(
    files_with_vectors: Memory, mode: str, where: dict[str, Any]
) -> None:
    text = "pricing berlin coffee kubernetes"
    result = ask(files_with_vectors, text, mode, vector=VECTOR, where=where)
    everything = ask(files_with_vectors, text, mode, vector=VECTOR)
    (test,) = where["source.path"].items()
    kept = {
        hit.id
        for hit in everything
        if (path_of(hit.id).startswith(test[1]) if test[0] == "prefix" else hit.id in SLUGS)
    }
    assert set(ids(result)) == kept
    assert kept
    for lane in result.used:  # and no score is another one
        assert dict(scores(result, lane)).items() <= dict(scores(everything, lane)).items()


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("coffee", GLOBAL),
        ("please show coffee-zz", GLOBAL),
        ("zzzzzzzzzz-berlin", WIKI),
        ("pasport", WIKI),
        ("cofee", GLOBAL),
    ],
)
def test_jb_40_filters_hold_on_every_rung(files: Memory, text: str, inside: dict[str, Any]) -> None:
    outside = WIKI if inside is GLOBAL else GLOBAL
    assert ids(ask(files, text, where=inside)) == ids(ask(files, text))
    assert ids(ask(files, text, where=outside)) == []


def test_jb_40_tags_scope_and_project_are_filters() -> None:
    memory = open_empty()
    memory.remember("coffee", id="both", tags=["a", "b"], metadata={"project": "x"}, agent="ann")
    memory.remember("coffee", id="one", tags=["a"], metadata={"project": "y"}, agent="bob")
    for text in ("coffee", "cofee"):
        assert ids(ask(memory, text, where={"tags": {"all": ["a", "b"]}})) == ["both"]
        assert len(ask(memory, text, where={"tags": {"all": ["a"]}})) == 2
        assert ids(ask(memory, text, where={"metadata.project": "y"})) == ["one"]
        assert ids(ask(memory.scoped(agent="ann"), text)) == ["both"]
