"""The kin lane as a caller sees it: what met what, where, and why it did not run."""

from __future__ import annotations

import pytest

import memoriter
from memoriter.core.errors import NothingToRun
from memoriter.testing.fakes import ToyEmbedder

KIN = {"kind": "kin", "pool": 100, "min_cosine": 0.4}
ALONE = {
    "name": "kin-alone", "version": 1, "analyzer": "memoriter", "lanes": {"kin": KIN},
    "pass": [{"fuse": {"kind": "weighted", "scale": "max", "weights": {"kin": 1.0}}}],
}  # fmt: skip
FILLER = "numbers without end " * 40


def test_a_hit_says_which_word_met_which_and_how_nearly() -> None:
    memory = memoriter.open()
    memory.remember("My sister had her wedding in June")
    (hit,) = memory.recall("sibling married", recipe=ALONE)
    why = hit.lanes["kin"].why
    assert [part.label for part in why.parts] == ["married ~ wedding", "sibling ~ sister"]
    facts = why.parts[0].facts
    assert (facts["asked"], facts["met"], facts["df"], facts["records"]) == (
        "married", "wedding", 0, 1,
    )  # fmt: skip
    assert round(float(str(facts["cosine"])), 2) == 0.75
    assert sum(float(str(part.facts["weight"])) for part in why.parts) == pytest.approx(1.0)
    assert sum(part.value for part in why.parts) == why.value == hit.lanes["kin"].score
    assert hit.snippet() == "My <mark>sister</mark> had her <mark>wedding</mark> in June"


def test_words_count_together_only_where_they_stand_together() -> None:
    memory = memoriter.open()
    memory.remember(f"The sister came. {FILLER} The wedding was late.", id="apart")
    memory.remember(f"{FILLER} The sister came to the wedding.", id="together")
    first, second = memory.recall("sibling married", recipe=ALONE)
    assert (first.id, second.id) == ("together", "apart")
    window, windows = (first.lanes["kin"].why.facts[key] for key in ("window", "windows"))
    assert window == windows == 3
    assert [part.label for part in second.lanes["kin"].why.parts] == ["married ~ wedding"]


def test_the_title_is_read_too() -> None:
    memory = memoriter.open()
    memory.remember("In June, by the lake", title="Wedding", id="a")
    assert [hit.id for hit in memory.recall("married", recipe=ALONE)] == ["a"]


def test_a_memory_with_any_embedder_has_kin() -> None:
    for embedder in (ToyEmbedder(), "given:2", "table"):
        memory = memoriter.open(embedder=embedder)
        memory.remember("My sister had her wedding in June")
        assert "kin" in memory.recall("sibling married").used


def test_a_memory_without_an_embedder_says_why_it_has_none() -> None:
    memory = memoriter.open(embedder=None)
    memory.remember("My sister had her wedding in June")
    result = memory.recall("my wedding")
    assert result.used == ("words",)
    assert result.skipped["kin"] == "a memory without an embedder has no table of words"
    assert memory.recall("my wedding", mode="auto").status == "complete"


def test_a_query_without_a_word_of_the_table_is_not_answered() -> None:
    memory = memoriter.open()
    memory.remember("My sister had her wedding in June")
    with pytest.raises(NothingToRun, match="no word of the query is in the table"):
        memory.recall("…", recipe=ALONE)


def test_a_word_alone_meets_only_itself() -> None:
    memory = memoriter.open()
    memory.remember("My sister had her wedding in June", id="a")
    alone = {**ALONE, "lanes": {"kin": {**KIN, "neighbours": 1}}}
    assert not memory.recall("married", recipe=alone)
    assert memory.recall("wedding", recipe=alone)[0].id == "a"


def test_the_lightest_words_of_a_question_are_left_out_together() -> None:
    memory = memoriter.open()
    for day in range(40):
        memory.remember(f"It is the day {day}")
    memory.remember("My sister had her wedding", id="wedding")
    light = {**ALONE, "lanes": {"kin": {**KIN, "ignore": 0.1}}}
    question = "who is the sibling that married?"
    every = memory.recall(question, recipe=ALONE, limit=100)
    (hit,) = memory.recall(question, recipe=light, limit=100)
    assert len(every) > 1
    assert hit.id == every[0].id == "wedding"
    weights = [float(str(part.facts["weight"])) for part in hit.lanes["kin"].why.parts]
    before = [float(str(part.facts["weight"])) for part in every[0].lanes["kin"].why.parts]
    assert sum(weights) > sum(before)  # what is left makes up the whole question
    why = memory.why_not(memory.recall(question, recipe=light), every[1].id)
    assert why.change == {"overrides": {"lanes.kin.ignore": 0.0}}
    assert "hardly about" in why.reason


def test_an_option_without_effect_changes_no_fingerprint() -> None:
    plain = {**ALONE, "lanes": {"kin": {**KIN, "ignore": 0.0}}}
    memory = memoriter.open()
    memory.remember("My sister had her wedding in June")
    before, after = (memory.recall("married", recipe=each) for each in (ALONE, plain))
    assert before.plan.recipe.fingerprint == after.plan.recipe.fingerprint
