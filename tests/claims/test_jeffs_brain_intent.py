"""What jeffs-brain promises of intents, as far as texts alone decide: JB-31 to JB-37."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims.corpus import CORPUS, path_of

from memoriter.core.record import Content, Source
from memoriter.rank.fuse import rrf_parts
from memoriter.text import stops
from memoriter.text.english import ENGLISH, OTHERS, is_english
from memoriter.text.intent import LONG, factors, intent_of, traits_of

PREFER, COUNT, BOTH = "recommend a bike", "how many bikes", "suggest a list"
GLOBAL = "memory/global/"


def note(text: str, path: str | None = None, **fields: object) -> Content:
    return Content(text=text, created=0, source=Source(path=path), **fields)  # type: ignore[arg-type]


def factor(query: str, record: Content) -> float:
    by_name = factors(intent_of(query), traits_of(record))
    assert all(reason for reason, _ in by_name)
    return round(math.prod(each for _, each in by_name), 6)


@pytest.mark.parametrize("query", ["", "pricing berlin", "the kubernetes cluster", "did I like it"])
def test_jb_31_a_question_of_no_kind_has_no_factors(query: str) -> None:
    assert intent_of(query) == (None, ())
    rich = note("I bought tips, a summary", f"{GLOBAL}user-preference-user-fact-x.md")
    assert factors(intent_of(query), traits_of(rich)) == ()


def test_jb_31_the_label_the_signs_and_every_factor_are_told() -> None:
    intent = intent_of("Suggest a list of tips: what should I buy?")
    assert intent == ("both", ("suggest", "tips", "what should i", "list"))
    assert (intent.preference, intent.concrete) == (True, True)
    assert factors(intent, traits_of(note("tips summary", "raw/both.md"))) == (
        ("generic advice", 0.82), ("roll-up", 0.9), ("roll-up", 0.45), ("generic advice", 0.75),
    )  # fmt: skip


@pytest.mark.parametrize(
    "query",
    [
        "what do I prefer?",
        "my favourite coffee",
        "What is my FAVORITE colour",
        "what do i like for breakfast: do I like eggs",
        "my preferences for the flat",
        "recommend a restaurant",
        "can you suggest something?",
        "any recommendations for coffee?",
        "a suggestion please",
        "coffee tips",
        "one tip for the exam",
        "advice on mortgages",
        "gift ideas",
        "what should I cook",
        "Which should I take?",
    ],
)
def test_jb_32_preference_fires(query: str) -> None:
    assert intent_of(query).label == "preference"


@pytest.mark.parametrize(
    "query",
    [
        "what's the version of X?",
        "what’s the version of X?",
        "What is the phone number of Ada?",
        "what was the price of the bike",
        "what is my passport number?",
        "when did Y happen?",
        "when was the release",
        "when did I submit my paper",
        "how many books did I read in total",
        "How  many\nchairs",
        "total spent on food",
        "count the chairs",
        "add up my bills",
        "list the projects and clients",
        "what are all the open tasks",
        "have I visited Rome",
        "did I pick up the parcel",
        "was I ever told what I ordered",
        "did I buy milk",
    ],
)
def test_jb_33_concrete_fact_fires(query: str) -> None:
    assert intent_of(query).label == "concrete-fact"


@pytest.mark.parametrize(
    "query",
    [
        "what's the point of it", "tipping point", "ideal account", "listen",
        "the recommended dose", "bought milk", "what is the version control policy like here",
    ],
)  # fmt: skip
def test_jb_33_words_are_matched_whole(query: str) -> None:
    assert intent_of(query).label is None


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("oat milk", f"{GLOBAL}user-preference-coffee.md", 2.35),
        ("I prefer oat milk", f"{GLOBAL}user-preference-coffee.md", 2.35),
        ("she likes oat milk", f"{GLOBAL}notes.md", 2.1),
        ("looking for a flat", f"{GLOBAL}notes.md", 2.1),
        ("nothing of note", f"{GLOBAL}misc.md", 1.0),
        ("tips and advice", f"{GLOBAL}misc.md", 1.0),
        ("tips and advice guide", "raw/doc.md", 0.82),
        ("summary recap of the year", "raw/sum.md", 0.9),
        ("I like it", "wiki/e.md", 1.0),
        ("oat milk", "wiki/user-preference-coffee.md", 1.0),
        ("summary of facts", f"{GLOBAL}user-fact-total.md", 0.9),
        ("The press is cleaned weekly", "raw/documents/press.md", 0.82),
        ("tips and advice guide", "raw/documents/press.md", 0.82),
        ("summary recap of the year", "raw/documents/press.md", 0.738),
        ("I prefer oat milk", "raw/documents/user-preference-coffee.md", 0.82),
        ("The press is cleaned weekly", "wiki/press.md", 1.0),
        ("The press is cleaned weekly", "raw/press.md", 1.0),
    ],
)
def test_jb_34_preference_lifts_memories_and_lowers_documents(
    text: str, path: str, expected: float
) -> None:
    assert factor(PREFER, note(text, path)) == expected


def test_jb_34_corpus_a() -> None:
    coffee = [record for record in CORPUS if record.id in ("m05", "m06")]
    ranked = rrf_parts(np.array([[1.0, 2.0]]), np.ones(1))[0]
    lifted = [
        score * factor("recommend a coffee", note(record.text, path_of(record.id)))
        for record, score in zip(coffee, ranked, strict=True)
    ]
    assert lifted == pytest.approx([0.038525, 0.016129], abs=1e-6)
    assert lifted[0] == pytest.approx(2.35 / 61, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("ran ten kilometres", f"{GLOBAL}user-fact-2024-05-01-run.md", 2.2),
        ("moved house", "wiki/milestone-house.md", 2.2),
        ("I bought a bike for 200", "wiki/e.md", 2.2),
        ("We went to Rome", "wiki/e.md", 2.2),
        ("[date: 2024-05-01] bike", "wiki/d.md", 2.2),
        ("[Observed on: 2024-05-01] bike", "wiki/d.md", 2.2),
        ("I bought tips", "raw/doc.md", 2.2),
        ("summary recap of the year", "raw/sum.md", 0.45),
        ("[date: 2024] a recap", "raw/sum.md", 0.45),
        ("tips and advice guide", "raw/doc.md", 0.75),
        ("tips and advice guide", f"{GLOBAL}doc.md", 1.0),
        ("a bike", "wiki/c.md", 1.0),
        ("The version is 1.29", "wiki/c.md", 2.2),
        ("version is 1.29", f"{GLOBAL}misc.md", 2.2),
        ("Version v1.29", "raw/documents/c.md", 2.2),
        ("k8s", "wiki/c.md", 1.0),
        ("10 tips for bikes", "wiki/c.md", 0.75),
        ("the migration happened in March", "wiki/c.md", 2.2),
        ("the migration happened on Tuesday", "wiki/c.md", 2.2),
        ("the bike came yesterday", "raw/documents/c.md", 2.2),
        ("the bike comes today", f"{GLOBAL}misc.md", 2.2),
        ("bikes may march on", "wiki/c.md", 1.0),
        ("tips for Monday", "wiki/c.md", 0.75),
        ("a recap of March", "wiki/c.md", 0.45),
        ("a bike", "wiki/yesterday.md", 1.0),
        ("a summary: 7 bikes", "wiki/c.md", 0.45),
        ("a bike", "raw/documents/c.md", 1.0),
        ("a bike", "wiki/2024-05-01.md", 1.0),
    ],
)
def test_jb_35_concrete_fact_lifts_single_facts(text: str, path: str, expected: float) -> None:
    assert factor(COUNT, note(text, path)) == expected


def test_jb_35_long_prose_falls_and_is_no_fact() -> None:
    short, long = "I bought a bike. ".ljust(LONG, "x"), "I bought a bike. ".ljust(LONG + 1, "x")
    assert factor(COUNT, note(short, "wiki/e.md")) == 2.2
    assert factor(COUNT, note(long, "wiki/e.md")) == 0.45
    assert factor(COUNT, note("The version is 1.29. ".ljust(LONG + 1, "x"), "wiki/e.md")) == 0.45
    assert factor(COUNT, note(f"{long} a summary", "wiki/e.md")) == 0.45
    assert factor(COUNT, note(long, f"{GLOBAL}user-fact-bike.md")) == 0.99
    assert factor(PREFER, note(long, "wiki/e.md")) == 1.0


@pytest.mark.parametrize(
    ("fields", "preferring", "counting"),
    [
        ({}, 2.1, 1.0),
        ({"kind": "preference"}, 2.35, 1.0),
        ({"kind": "Fact"}, 2.1, 2.2),
        ({"kind": "milestone"}, 2.1, 2.2),
        ({"occurred": 1}, 2.1, 2.2),
        ({"kind": "document"}, 0.82, 0.75),
        ({"role": "document"}, 0.82, 0.75),
        ({"kind": "chunk", "occurred": 1}, 0.82, 2.2),
        ({"path": "raw/x.md", "kind": "preference"}, 0.82, 0.75),
    ],
)
def test_jb_35_a_record_without_a_path_is_judged_by_its_kind_and_role(
    fields: dict[str, object], preferring: float, counting: float
) -> None:
    record = note("she likes tips", **fields)  # type: ignore[arg-type]
    assert (factor(PREFER, record), factor(COUNT, record)) == (preferring, counting)


def test_jb_35_title_summary_and_path_are_read_too() -> None:
    for fields in ({"title": "Weekly recap"}, {"summary": "an overview"}, {"path": "raw/recap.md"}):
        assert traits_of(note("bikes", **fields)).rollup  # type: ignore[arg-type]
    assert not traits_of(note("bikes", "raw/x.md", title="recapitulate")).rollup


def test_jb_36_factors_multiply() -> None:
    both = note("tips summary", "raw/both.md")
    assert factor(COUNT, both) == 0.3375
    assert factor(PREFER, both) == 0.738
    assert factor(BOTH, both) == round(0.738 * 0.3375, 6)
    assert factor(COUNT, note("summary of facts", f"{GLOBAL}user-fact-total.md")) == 0.99
    assert factor(BOTH, note("summary of facts", f"{GLOBAL}user-fact-total.md")) == 0.891


@pytest.mark.parametrize(
    "query",
    [
        "Geef me tips voor koffie",
        "¿Tienes una idea?",
        "Was kostet das total?",
        "Heb je een idea voor het weekend",
        "wat is het total van deze maand",
        "Hast du tips für mich",
        "Wie viel ist das total",
        "Quel est le total ?",
        "donne-moi une idea",
        "cuál es el total de gastos",
        "lista total de gastos",
        "dame ideas para cenar",
        "qual é o total das compras",
        "hai una idea per la cena",
        "qual è il total",
        "har du tips til middag",
        "vad är total",
        "jaki jest total",
        "toplam için total",
        "berapa total saya",
        "мне нужны tips",
        "東京 tips",
        "نصائح tips",
        "Wann wird deployt und warum nicht?",
        "WAS KOSTET DAS TOTAL?",
        "Is dit total in orde",
        "Ist Peter da",
        "Danke. Warum?",
        "El total a pagar",
        "Wohnt sie in Berlin",
    ],
)
def test_jb_37_another_language_flows_through_unchanged(query: str) -> None:
    assert not is_english(query)
    assert intent_of(query).label is None


@pytest.mark.parametrize(
    "query",
    [
        "my favourite café", "recommend a café in Zürich", "how many days in Rio de Janeiro",
        "list hotels in Den Haag", "what’s the version of El Capitan?", "tips", "total budget 2024",
        "any ideas for Los Angeles?", "I'm after advice", "",
        "LA office phone number", "Los Angeles office phone", "UN report deadline",
        "Is El Paso far?", "Is Acme.io slow?", "is la cucina open", "price of el camino tickets",
    ],
)  # fmt: skip
def test_jb_37_foreign_names_do_not_make_a_question_foreign(query: str) -> None:
    assert is_english(query)


def test_jb_37_no_word_speaks_for_both_sides() -> None:
    assert not ENGLISH & OTHERS
    assert not OTHERS & (stops.ENGLISH_STOPS | stops.LATIN_STOPS)
    assert {word for word in ENGLISH | OTHERS if not word.isascii()} == set()


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_question_and_any_record_can_be_judged(query: str, text: str) -> None:
    judged = factors(intent_of(query), traits_of(note(text, query or None, title=text)))
    assert 0.2 < math.prod(each for _, each in judged) < 6
