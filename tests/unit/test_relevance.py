"""Relevance by hand: what a question asks for, what counts as evidence, what it becomes."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest

import memoriter
from memoriter.core.errors import BadQuery, BadRecipe
from memoriter.core.ranking import Spread
from memoriter.pipeline.relevance import Covered, QuestionFacts, Relevance
from memoriter.text.analyzers import analyzer
from memoriter.text.background import UNLISTED, background_idf
from memoriter.text.question import MOST_NAMES, informative_terms, question_names

LINE = ((0.0, 0.0), (1.0, 1.0))


def rule(**more: Any) -> Relevance:
    plain = {"seen": 0.0, "mass": 0.0, "unseen_name": 1.0, "words": 1_000, "apart": 0.0}
    return Relevance(**{**plain, "knots": LINE, **more})


def facts(*terms: tuple[str, float, int], names: Any = ()) -> QuestionFacts:
    return QuestionFacts(terms or (("port", 4.0, 1),), tuple(names))


def one(
    spec: Relevance, question: QuestionFacts, share: float, apart: float = 0.0, words: int = 1
) -> float:
    covered = Covered(np.array([share]), np.array([apart]), np.array([float(words)]))
    return float(spec.of(question, covered).values[0])


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("What is it for, and with whom?", ()),
        ("Who is paying for the hosting?", ("pay", "host")),
        ("port port", ("port",)),
        ("", ()),
    ],
)
def test_function_words_carry_no_information(question: str, terms: tuple[str, ...]) -> None:
    assert informative_terms(question, analyzer("memoriter")) == terms


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which street did Marcus move to?", ("Marcus",)),
        ("Marcus moved where?", ()),
        ("What did Ana and Bo say in March?", ("Ana", "Bo")),
        ("Done. Anything else for I?", ()),
        ("who is kornhaus", ()),
    ],
)
def test_a_name_is_a_word_with_a_capital_inside_of_a_sentence(
    question: str, names: tuple[str, ...]
) -> None:
    assert question_names(question) == names


def test_rare_words_weigh_more_in_general_english() -> None:
    assert background_idf("the") < background_idf("meet") < background_idf("qwzyx") == UNLISTED


def test_a_long_record_falls_with_the_fourth_root_of_its_length() -> None:
    spec = rule(words=16)
    assert one(spec, facts(), 0.5, words=16) == one(spec, facts(), 0.5, words=2) == 0.5
    assert one(spec, facts(), 0.5, words=256) == 0.25


def test_what_a_lane_reads_apart_counts_the_more_the_less_else_is_asked() -> None:
    spec = rule(mass=4.0, apart=0.5)
    assert one(spec, QuestionFacts((), ()), 0.0, apart=1.0) == 0.5
    assert one(spec, facts(("port", 4.0, 1)), 0.0, apart=1.0) == 0.25
    assert one(spec, facts(("port", 12.0, 1)), 0.5, apart=0.5) == 0.75 * 0.5 + 0.25 * 0.25


def test_a_question_that_asks_little_has_little_relevance() -> None:
    assert one(rule(mass=4.0), facts(("port", 4.0, 1)), 1.0) == 0.5
    assert one(rule(mass=4.0), facts(("port", 12.0, 1)), 1.0) == 0.75
    assert one(rule(mass=4.0), QuestionFacts((), ()), 1.0) == 0.0


def test_words_that_the_store_has_seen_count_by_their_mass() -> None:
    question = facts(("port", 3.0, 7), ("zebra", 9.0, 0))
    assert question.seen == 0.25
    assert one(rule(seen=0.5), question, 1.0) == 0.5 * 1.0 + 0.5 * 0.25


def test_a_name_that_no_record_has_lowers_the_relevance() -> None:
    known, unknown = facts(names=[("Ana", 3)]), facts(names=[("Ana", 3), ("Bo", 0)])
    assert unknown.unseen_names == ("Bo",)
    spec = rule(unseen_name=0.25)
    assert one(spec, unknown, 1.0) == 0.25 * one(spec, known, 1.0)


def test_evidence_counts_the_less_the_more_records_there_are() -> None:
    spec = rule(few=2.0, records=1)
    alone = QuestionFacts((("port", 4.0, 1),), (), records=1)
    assert one(spec, alone, 0.5) == 0.5
    many = QuestionFacts((("port", 4.0, 1),), (), records=1_000)
    assert one(spec, many, 0.5) == pytest.approx(0.5 * 2.0 / (2.0 + math.log(1_000)))
    assert one(spec, QuestionFacts((("port", 4.0, 1),), ()), 0.5) == 0.5  # none counts as one


@pytest.mark.parametrize(
    ("score", "times"), [(0.5, 1.0), (0.75, 2.0), (1.0, 2.0), (0.25, 0.25), (0.0, 0.25)]
)
def test_evidence_beyond_weak_counts_by_how_far_a_record_stands_out(
    score: float, times: float
) -> None:
    # Four records of which two score 0 and two score 0.5: the mean and the deviation are 0.25.
    spec = rule(stands_out="kin", deviations=1.0, prior=(2.0, 0.25, 0.25), weak=0.25)
    spread = Spread(2, 0.5, 0.25)
    question = QuestionFacts((("port", 4.0, 1),), (), records=2, spread=spread)
    covered = Covered(np.array([0.375]), np.zeros(1), np.ones(1), np.array([score]))
    assert float(spec.of(question, covered).values[0]) == 0.25 + 0.125 * times
    weak = covered._replace(share=np.array([0.2]))
    assert float(spec.of(question, weak).values[0]) == pytest.approx(0.2)


def test_knots_turn_evidence_into_relevance_and_thresholds_into_strength() -> None:
    spec = rule(knots=((0.0, 0.0), (0.5, 0.25), (1.0, 1.0)), weak=0.25, strong=0.75)
    assert one(spec, facts(), 0.5) == 0.25
    assert [spec.strength(x) for x in (0.2, 0.25, 0.75)] == ["none", "weak", "strong"]


def test_knots_must_ascend() -> None:
    with pytest.raises(ValueError, match="needs more evidence"):
        rule(knots=((0.5, 0.0), (0.5, 1.0)))
    with pytest.raises(ValueError, match="model_knots: each point needs more evidence"):
        rule(model_knots=((0.5, 0.0), (0.5, 1.0)))
    with pytest.raises(ValueError, match="a curve needs at least two"):
        rule(model_knots=((0.5, 0.0),))


def test_a_model_has_knots_of_its_own() -> None:
    spec = rule(model_knots=((0.0, 0.0), (1.0, 0.5)))
    assert one(spec.with_model(has_model=True), facts(), 0.5) == 0.25
    assert one(spec.with_model(has_model=False), facts(), 0.5) == 0.5
    assert one(rule().with_model(has_model=True), facts(), 0.5) == 0.5


# -- through the engine ----------------------------------------------------------------------------


@pytest.fixture
def memory() -> memoriter.Memory:
    out = memoriter.open(":memory:")
    out.remember("Deploys of the billing service run on Tuesdays", id="deploy")
    out.remember("The office plants are watered by Ana", id="plants")
    return out


def test_a_question_about_nothing_has_no_relevant_answer(memory: memoriter.Memory) -> None:
    assert memory.recall("banana").strength == "none"
    assert memory.recall("what is the capital of Mongolia?").strength == "none"
    assert memory.recall("when are deploys of the billing service?").strength == "strong"


def test_a_hit_has_the_same_relevance_whatever_the_others_are(memory: memoriter.Memory) -> None:
    alone = memory.recall("billing deploys", where={"id": "deploy"})[0].relevance
    assert memory.recall("billing deploys")[0].relevance == alone


def test_relevance_is_verified(memory: memoriter.Memory) -> None:
    receipt = memory.recall("billing deploys").receipt
    report = memoriter.verify(receipt)
    assert report.ok
    assert "slate/columns/relevance" in report.checked
    assert "question" in report.attested


def test_hits_below_the_minimum_are_dropped_and_why_not_says_so(memory: memoriter.Memory) -> None:
    result = memory.recall("billing deploys", min_relevance=0.3)
    assert [hit.id for hit in result] == ["deploy"]
    assert memoriter.verify(result.receipt).ok
    nothing = memory.recall("billing deploys", min_relevance=0.99)
    assert not len(nothing)
    assert memory.why_not(nothing, "deploy").stage == "min_relevance"


def test_a_minimum_must_be_a_share(memory: memoriter.Memory) -> None:
    with pytest.raises(BadQuery, match="from 0 to 1"):
        memory.recall("billing", min_relevance=7)
    with pytest.raises(BadQuery, match="does not compute a relevance"):
        memory.recall("billing", recipe="lexical", min_relevance=0.5)


def test_relevance_needs_scores_that_can_be_compared(memory: memoriter.Memory) -> None:
    with pytest.raises(BadRecipe, match="coverage"):
        memory.recall("billing", overrides={"pass.0.fuse.scale": "max"})


def test_an_embedder_without_calibration_makes_the_strength_unknown() -> None:
    memory = memoriter.open(":memory:", embedder=lambda texts: [[1.0, 0.5]] * len(texts))
    memory.remember("Deploys run on Tuesdays")
    result = memory.recall("when are deploys?")
    assert result.strength == "unknown"
    assert "calibrate" in result.remarks[0]


def test_a_question_in_another_language_makes_the_strength_unknown(
    memory: memoriter.Memory,
) -> None:
    assert memory.recall("Wann wird das deployt und warum nicht?").strength == "unknown"


def test_the_arithmetic_of_a_whole_recall_by_hand(memory: memoriter.Memory) -> None:
    result = memory.recall("billing deploys")
    spec = result.plan.recipe.relevance
    assert spec is not None
    body: Any = result.receipt.to_dict()
    terms = body["question"]["terms"]
    mass = math.fsum(idf for _, idf, _ in terms)
    assert [df for _, _, df in terms] == [1, 1]
    weights = result.plan.recipe.fusion(has_model=False).weighed
    whole = weights["words"] + weights["kin"] + weights["meaning"]
    hit = result[0]
    own = hit.score / whole * (1 - spec.seen) + spec.seen
    evidence = own * mass / (mass + spec.mass)  # the record is short, no time is named
    assert body["question"]["records"] == 2
    assert spec.few is not None
    evidence *= (spec.few + math.log(spec.records)) / (spec.few + math.log(2))
    # How far it stands out: in deviations of the kin scores of both records and of the prior.
    kin = [hit.lanes["kin"].score, 0.0]
    count, mean, deviation = spec.prior
    middle = (sum(kin) + count * mean) / (2 + count)
    squares = sum(each**2 for each in kin) + count * (mean**2 + deviation**2)
    width = math.sqrt(squares / (2 + count) - middle**2)
    times = min((kin[0] - middle) / width / spec.deviations, 2.0)
    least = next(x for x, y in spec.knots if y == spec.weak)
    evidence = least + (evidence - least) * times
    expected = np.interp(evidence, [x for x, _ in spec.knots], [y for _, y in spec.knots])
    assert hit.relevance == pytest.approx(float(expected), abs=1e-6)


def test_what_others_keep_in_the_store_changes_no_relevance() -> None:
    memory = memoriter.open(":memory:")
    own = memory.scoped(user="bob")
    own.remember("The cabin is cold")
    before = own.recall("What did we say about Zanzibar in the cabin?")
    memory.scoped(user="alice").remember("Zanzibar is the name of the wifi")
    after = own.recall("What did we say about Zanzibar in the cabin?")
    assert after.remarks == before.remarks == ("no memory mentions Zanzibar",)
    facts = [cast("Any", each.receipt.to_dict()["question"]) for each in (before, after)]
    for key in ("terms", "names", "records"):
        assert facts[0][key] == facts[1][key]


def test_a_budget_that_cuts_everything_is_not_nothing_relevant(memory: memoriter.Memory) -> None:
    whole = memory.recall("billing deploys")
    cut = memory.recall("billing deploys", budget_chars=1)
    assert not len(cut)
    assert (cut.strength, cut.relevance) == (whole.strength, whole.relevance)
    assert cut.remarks == ("a relevant memory does not fit into the budget",)


@pytest.mark.parametrize(
    "question",
    [
        "WHICH PORT FOR PROD SSH?",
        "Which Port Is Used For Prod?",
        '"prod ssh" AND NOT cache',
        "Tell me, Where did it go?",
    ],
)
def test_capitals_that_name_nobody_are_no_names(question: str) -> None:
    assert question_names(question) == ()


def test_a_very_long_question_has_few_names() -> None:
    words = " ".join(f"and Name{n} is one of them" for n in range(2_000))
    assert len(question_names(f"what of {words}")) == MOST_NAMES


def test_the_time_that_a_question_names_is_no_part_of_what_it_asks() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("The boiler was repaired", created="2026-03-05")
    memory.remember("Ana moved to Leeds", created="2026-01-20")

    def body(question: str, mode: str | None = None) -> Any:
        return memory.recall(question, mode=mode, now="2026-03-06").receipt.to_dict()

    named, plain = body("what about the boiler yesterday?"), body("what about the boiler?")
    assert named["question"]["terms"] == plain["question"]["terms"]
    assert named["outcomes"]["vector"] == plain["outcomes"]["vector"]
    other = body("what about the boiler last year?")
    assert named["strength"]["relevance"] > other["strength"]["relevance"]
    # Where no lane reads the time, its words are words like others.
    words = body("what about the boiler yesterday?", "bm25")
    assert words["question"]["terms"] != plain["question"]["terms"]


def test_a_question_about_a_time_alone_is_answered_by_what_happened_then() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("The boiler was repaired", created="2026-03-05")
    memory.remember("Ana moved to Leeds", created="2025-01-20")
    result = memory.recall("what was on 5 March 2026?", now="2026-04-02")
    assert result.strength != "none"
    assert result[0].record.text == "The boiler was repaired"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The meeting is on Friday", "What is on Friday?"),
        ("Anna's birthday is on 4 May", "What is on 4 May?"),
        ("The quarterly sales report is due Friday", "what is due on Friday?"),
    ],
)
def test_a_text_that_names_the_day_of_the_question_is_evidence(text: str, question: str) -> None:
    memory = memoriter.open(":memory:")
    memory.remember(text, created="2024-02-01")
    result = memory.recall(question, now="2026-11-17")
    assert result.strength != "none"
    assert memoriter.verify(result.receipt.to_bytes()).ok
    assert memory.recall("What is on 9 June?", now="2026-11-17").strength == "none"


def test_a_question_that_names_every_speaker_names_known_people() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("I adopted a puppy named Biscuit", source={"who": "Lena"})
    result = memory.recall("Which puppy did Lena adopt?")
    assert (result.strength, result.remarks) == ("strong", ())


@pytest.mark.parametrize("question", ["what can you do?", "why?", "do it", "..."])
def test_a_question_without_an_informative_word_has_no_relevant_answer(
    memory: memoriter.Memory, question: str
) -> None:
    assert memory.recall(question).strength == "none"


def test_a_lane_without_a_scale_cannot_be_called_known() -> None:
    memory = memoriter.open(":memory:", embedder="hash")
    memory.remember("Deploys run on Tuesdays")
    body: Any = memory.recall("when are deploys?").receipt.to_dict()
    assert memoriter.verify(body).ok
    body["strength"]["unknown"] = None
    report = memoriter.verify(body)
    assert any("has no scale" in problem for problem in report.problems)
