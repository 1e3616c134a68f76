"""What mnestic promises of its words: MN-31 to MN-34."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.claims.corpus import close, ids, open_texts
from tests.claims.corpus import note as note_of
from tests.claims.corpus import scores as scores_of
from tests.claims.corpus import understood as understood_of
from tests.claims.mnestic import hybrid, words

from memoriter.core.errors import BadQuery
from memoriter.memory.facade import Memory
from memoriter.why.result import Result

ANY = [
    ("m02", 3.427714), ("m17", 3.091663), ("m10", 1.791759), ("m09", 1.642446), ("m01", 1.576748),
]  # fmt: skip


def ask(memory: Memory, text: str, **numbers: Any) -> Result:
    return words(memory, text, **numbers)


def scores(result: Result) -> list[tuple[str, float]]:
    return scores_of(result, "text")


def understood(result: Result) -> str:
    return understood_of(result.plan, "text")


def note(result: Result) -> str:
    return note_of(result.plan, "text")


def test_mn_31_words_are_scored_by_okapi_bm25_and_or_adds(corpus: Memory) -> None:
    assert scores(ask(corpus, "pricing OR berlin")) == close(ANY)


def test_mn_31_only_records_with_a_word_are_counted() -> None:
    bare, padded = open_texts("pricing", "berlin"), open_texts("pricing", "berlin", "…", "!")
    assert scores(ask(padded, "pricing")) == scores(ask(bare, "pricing"))


def test_mn_32_k1_and_b_can_be_set(corpus: Memory) -> None:
    expected = [("m02", 3.583519), ("m17", 3.032208)]
    expected += [(id, 1.791759) for id in ("m01", "m09", "m10")]
    assert scores(ask(corpus, "pricing OR berlin", b=0.0)) == close(expected)
    assert dict(scores(ask(corpus, "pricing OR berlin", k1=0.0, b=0.0))) == dict(
        close([("m02", 3.583519), *((id, 1.791759) for id in ("m01", "m09", "m10", "m17"))])
    )


@pytest.mark.parametrize(
    ("score", "most", "rest"), [("tf_idf", 7.167038, 1.791759), ("tf", 4.0, 1.0)]
)
def test_mn_32_scores_can_be_counts_and_then_or_takes_the_best(
    corpus: Memory, score: str, most: float, rest: float
) -> None:
    expected = [("m17", most), *((id, rest) for id in ("m01", "m02", "m09", "m10"))]
    assert scores(ask(corpus, "pricing OR berlin", score_kind=score)) == close(expected)
    both = {"tf_idf": 2 * 1.791759, "tf": 2.0}[score]
    scored = scores(ask(corpus, "pricing AND berlin", score_kind=score))
    assert scored == close([("m02", both)], 2e-6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pricing berlin", [("m02", 3.427714)]),
        ("pricing AND berlin", [("m02", 3.427714)]),
        ("pricing decision", [("m01", None)]),
        ("pricing, berlin", ANY),
        ("pricing; berlin", ANY),
        ("pricing NOT berlin", [("m17", 3.091663), ("m01", 1.576748)]),
        ("(pricing OR hotel) AND berlin", [("m10", 4.430817), ("m02", 3.427714)]),
        ("pricing OR hotel AND berlin", [("m10", 4.430817), ("m02", 3.427714)]),
        ("pricing NOT berlin AND sales", [("m17", 3.091663), ("m01", 1.576748)]),
        ("pricing NOT berlin AND hotel", [("m17", 3.091663), ("m02", None), ("m01", 1.576748)]),
        ("NEAR/2(machine learning)", [("m18", 4.682110), ("m19", 4.256463)]),
        ("NEAR(machine notes)", [("m19", 5.278115)]),
        ("NEAR/6(machine notes)", [("m19", 5.278115)]),
        ("NEAR/5(machine notes)", []),
        ("NEAR/1(machine learning)", [("m18", 4.682110), ("m19", 4.256463)]),
        ("NEAR/0(machine learning)", []),
        ("NEAR/1(the in)", [("m07", 4.256463), ("m19", 4.256463)]),
        ("NEAR/2(the in)", [("m07", 3.583519), ("m10", 3.583519), ("m19", 3.583519)]),
        ("NEAR/1(pricing notes)", [("m17", 5.529453)]),
        ("NEAR/2(pricing notes)", [("m17", 7.491518)]),
        ("NEAR/1(from pricing)", []),
        ("NEAR/2(from pricing)", [("m17", 7.491518)]),
        ("NEAR/3(pricing the)", [("m17", 6.041432), ("m01", 5.350983)]),
        ("NEAR/1(pricing pricing)", [("m17", 6.183327), ("m02", 3.427714), ("m01", 3.153497)]),
        # Of three words the third is measured from the earliest place of the first two.
        ("NEAR/1(to Berlin for)", []),
        ("NEAR/2(to for Berlin)", [("m09", 7.257408)]),
        ("NEAR/2(notes the pricing)", [("m17", 11.237276)]),
        ('NEAR/1("in" "Berlin"^3)', [("m10", 8.512927), ("m02", 8.142800)]),
        ("NEAR/1(learn* machine)", [("m18", 4.682110), ("m19", 4.256463)]),
        ("learn*", [("m15", 1.970935), ("m18", 1.970935), ("m19", 1.791759)]),
        ("Learn*", [("m15", 1.970935), ("m18", 1.970935), ("m19", 1.791759)]),
        (
            "pricing^3 OR berlin",
            [
                ("m17", 9.27499), ("m02", 6.855428), ("m01", 4.730245),
                ("m10", 1.791759), ("m09", 1.642446),
            ],
        ),
        ("pricing^2.5 AND decision", [("m01", None)]),
        ('"machine learning"', [("m18", 2.902963)]),
        ("'machine learning'", [("m18", 2.902963)]),
        ("pricing or berlin", []),
        ("pricing and berlin", []),
    ],
)  # fmt: skip
def test_mn_33_a_text_is_an_expression(
    corpus: Memory, text: str, expected: list[tuple[str, float | None]]
) -> None:
    result = ask(corpus, text)
    assert ids(result) == [id for id, _ in expected]
    with_score = [(id, score) for id, score in expected if score is not None]
    known = dict(with_score)
    assert [pair for pair in scores(result) if pair[0] in known] == close(with_score)
    assert note(result) == ""


def test_mn_33_a_prefix_counts_a_record_once() -> None:
    """The program counts each word of it: 9 here for 5 records, and its scores are below 0."""
    texts = (
        "price pricing prices", "prices price", "pricing", "price lunch", "lunch", "pricing prices",
    )  # fmt: skip
    lengths = [len(text.split()) for text in texts]
    counts = [sum(word.startswith("pric") for word in text.split()) for text in texts]
    records, df, mean = len(texts), sum(map(bool, counts)), sum(lengths) / len(texts)
    assert (records, df, sum(counts)) == (6, 5, 9)
    idf = math.log(1 + (records - df + 0.5) / (df + 0.5))
    with open_texts(*texts) as memory:
        scored = {hit.record.text: hit.lanes["text"].score for hit in ask(memory, "pric*")}
    expected = {
        text: idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / mean))
        for text, tf, length in zip(texts, counts, lengths, strict=True)
        if tf
    }
    assert scored == pytest.approx(expected, abs=1e-9)
    assert min(scored.values()) > 0.0


def test_mn_33_a_boost_multiplies_what_its_word_adds(corpus: Memory) -> None:
    plain, boosted = scores(ask(corpus, "pricing")), scores(ask(corpus, "pricing^2.5"))
    assert boosted == close([(id, 2.5 * score) for id, score in plain], 1e-9)


def test_mn_33_vector_hits_follow_the_words(vectors: Memory) -> None:
    result = hybrid(vectors, "pricing decision", 3)
    assert result.rows() == close([("m01", 0.031545), ("m18", 0.016393), ("m13", 0.016129)])
    assert [id for id, _ in scores(result)] == ["m01"]


@pytest.mark.parametrize(
    ("text", "read", "first"),
    [
        ("sister's", "sister OR s", ["m03", "m04"]),
        ("http://example.com", "http OR example OR com", ["m13"]),
        ("what is the price?", "what OR is OR the OR price", ["m10", "m01", "m03"]),
    ],
)
def test_mn_34_a_text_that_is_no_expression_is_read_as_bare_words_and_says_so(
    corpus: Memory, text: str, read: str, first: list[str]
) -> None:
    result = ask(corpus, text)
    assert ids(result)[: len(first)] == first
    assert understood(result) == read
    assert "read as bare words" in note(result)


def test_mn_34_an_empty_text_is_an_error(corpus: Memory) -> None:
    with pytest.raises(BadQuery, match="the query has no words") as raised:
        ask(corpus, "")
    assert raised.value.field == "query"
