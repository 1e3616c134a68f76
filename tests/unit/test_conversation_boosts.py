"""The boosts of conversations, by hand: the turns around a record, and who said it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import memoriter
from memoriter.embed.port import Side
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import ToyEmbedder
from memoriter.text.speakers import named_speakers, side_asked

Scores = dict[str, float]


def chat(*turns: tuple[str, str | None, dict[str, Any]]) -> Memory:
    memory = memoriter.open(":memory:", embedder=None)
    for n, (text, session, more) in enumerate(turns):
        memory.remember(text, id=f"t{n}", session=session, **more)
    return memory


def ranked(memory: Memory, question: str, scores: Scores, boost: dict[str, Any]) -> Any:
    """The caller's own scores, changed by one boost."""
    recipe = {
        "format": 1, "name": "given", "version": 1, "analyzer": "memoriter",
        "lanes": {"own": {"kind": "list"}},
        "boosts": {"lift": boost},
        "pass": [{"fuse": {"kind": "weighted", "scale": "none", "weights": {"own": 1.0}},
                  "boosts": ["lift"]}],
    }  # fmt: skip
    return memory.recall(question, recipe=recipe, lists={"own": list(scores.items())})


def gains(result: Any) -> dict[str, float]:
    return {
        hit.id: part.value
        for hit in result
        for part in hit.explanation.parts
        if part.label == "lift"
    }


def test_a_turn_gains_from_the_better_turn_at_each_distance() -> None:
    memory = chat(*((f"turn {n}", "s", {}) for n in range(5)), ("alone", None, {}))
    scores = {"t0": 0.5, "t1": 0.25, "t2": 1.0, "t3": 0.125, "t4": 0.0625, "t5": 0.5}
    spec = {"kind": "around", "shares": [0.5, 0.25]}
    result = ranked(memory, "turn", scores, spec)
    assert gains(result) == {
        "t0": 0.5 * 0.25 + 0.25 * 1.0,
        "t1": 0.5 * 1.0 + 0.25 * 0.125,
        "t2": 0.5 * 0.25 + 0.25 * 0.5,
        "t3": 0.5 * 1.0 + 0.25 * 0.25,
        "t4": 0.5 * 0.125 + 0.25 * 1.0,
    }
    first = next(hit for hit in result if hit.id == "t0")
    (lift,) = [part for part in first.explanation.parts if part.label == "lift"]
    assert (lift.facts["row1"], lift.facts["row2"]) == ("t1", "t2")
    assert memoriter.verify(result.receipt).ok


def test_a_long_turn_gains_less() -> None:
    memory = chat(("short turn", "s", {}), ("word " * 8, "s", {}))
    spec = {"kind": "around", "shares": [0.5], "words": 4}
    result = ranked(memory, "turn", {"t0": 1.0, "t1": 1.0}, spec)
    assert gains(result) == {"t0": 0.5, "t1": 0.25}
    assert memoriter.verify(result.receipt).ok


def test_a_turn_that_is_less_trusted_lends_nothing_if_the_recipe_says_so() -> None:
    trusts = ("learned", "external", "external", "system")
    memory = chat(*((f"turn {n}", "s", {"trust": trust}) for n, trust in enumerate(trusts)))
    spec = {"kind": "around", "shares": [0.5]}
    scores: dict[str, float] = dict.fromkeys(("t0", "t1", "t2", "t3"), 1.0)
    assert gains(ranked(memory, "turn", scores, spec)) == dict.fromkeys(scores, 0.5)
    result = ranked(memory, "turn", scores, {**spec, "less_trusted": False})
    assert gains(result) == {"t1": 0.5, "t2": 0.5}
    assert memoriter.verify(result.receipt).ok


def test_the_speaker_whom_a_question_names_gains_and_another_one_loses() -> None:
    turns = [
        ("a", {"source": {"who": "Marcus Webb"}}),
        ("b", {"source": {"who": "Lena"}}),
        ("c", {}),
    ]
    memory = chat(*((text, None, more) for text, more in turns))
    scores = {"t0": 1.0, "t1": 1.0, "t2": 1.0}
    result = ranked(memory, "What does Marcus like?", scores, {"kind": "who", "weight": 0.25})
    assert gains(result) == {"t0": 0.25, "t1": -0.25}
    assert memoriter.verify(result.receipt).ok
    nobody = ranked(memory, "What is liked?", scores, {"kind": "who"})
    both = ranked(memory, "What do Lena and Marcus like?", scores, {"kind": "who"})
    assert gains(nobody) == gains(both) == {}


@pytest.mark.parametrize(
    ("question", "side"), [("what did you say?", "t1"), ("where do I live?", "t0")]
)
def test_you_and_i_are_the_two_sides_of_a_chat(question: str, side: str) -> None:
    memory = chat(("hello", None, {"role": "user"}), ("hello", None, {"role": "assistant"}))
    result = ranked(memory, question, {"t0": 1.0, "t1": 1.0}, {"kind": "who", "weight": 0.25})
    assert result[0].id == side


def test_a_speaker_outside_of_the_scope_changes_nothing() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("a", id="t0", user="ann", source={"who": "Lena"})
    memory.remember("b", id="t1", user="bob", source={"who": "Marcus"})
    own = memory.scoped(user="ann")
    result = ranked(own, "What does Marcus like?", {"t0": 1.0}, {"kind": "who"})
    assert gains(result) == {}


def test_names_are_found_by_their_first_word_and_pronouns_by_their_side() -> None:
    speakers = ["Marcus Webb", "Marcus Aurel", "Lena"]
    assert named_speakers("Marcus's dog", speakers) == {"Marcus Webb", "Marcus Aurel"}
    assert named_speakers("the lenas", speakers) == frozenset()
    assert side_asked("Nothing about anybody") is None


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("When will the release be?", set[str]()),
        ("Will the release be in May?", {"May"}),
        ("May I ask the team?", set[str]()),
        ("It rained. Will it stop?", set[str]()),
        ("WHEN WILL THE RELEASE BE?", set[str]()),
        ("What does Will like?", {"Will"}),
        ("Will Will come?", {"Will"}),
        ("Is Will's dog here?", {"Will"}),
        ("what did the manager say", {"The Manager"}),
        ("what did lena say", {"Lena"}),
    ],
)
def test_a_common_word_names_a_speaker_only_if_it_is_written_like_a_name(
    question: str, named: set[str]
) -> None:
    assert named_speakers(question, ["Will", "May", "The Manager", "Lena"]) == named


# --- names in the embedded question -----------------------------------------------------------


EXTERNAL = {"kind": "who", "weight": 0.25, "of": ["external"]}


def spoken(*turns: tuple[str, str]) -> Memory:
    """A memory of turns, each of a speaker and of a trust."""
    own = ((who, None, {"source": {"who": who}, "trust": trust}) for who, trust in turns)
    return chat(*own)


def test_an_external_speaker_changes_nothing_for_trusted_records() -> None:
    scores: Scores = {"t0": 1.0, "t1": 1.0, "t2": 1.0}
    memory = spoken(("Lena", "learned"), ("Marcus", "system"), ("Ana", "external"))
    result = ranked(memory, "What does Ana like?", scores, EXTERNAL)
    assert gains(result) == {"t2": 0.25}
    assert memoriter.verify(result.receipt).ok
    result = ranked(memory, "What does Lena like?", scores, EXTERNAL)
    assert gains(result) == {"t0": 0.25, "t1": -0.25, "t2": -0.25}
    result = ranked(memory, "What do Lena and Marcus like?", scores, EXTERNAL)
    assert gains(result) == {"t2": -0.25}  # without the external one the question names everybody


def test_an_external_record_of_a_speaker_leaves_the_weight_to_trusted_ones() -> None:
    memory = spoken(("Lena", "learned"), ("Marcus", "learned"), ("Lena", "external"))
    result = ranked(memory, "What does Lena like?", {"t0": 1.0, "t1": 1.0, "t2": 1.0}, EXTERNAL)
    assert gains(result) == {"t0": 0.25, "t1": -0.25, "t2": 0.25}


@pytest.mark.parametrize("trust", ["learned", "external"])
def test_where_all_records_have_one_trust_it_does_not_matter_who_is_external(trust: str) -> None:
    memory = spoken(("Lena", trust), ("Marcus", trust))
    scores = {"t0": 1.0, "t1": 1.0}
    plain = {"kind": "who", "weight": 0.25}
    for question in ("What does Lena like?", "What do Lena and Marcus like?", "What is liked?"):
        both = (gains(ranked(memory, question, scores, spec)) for spec in (plain, EXTERNAL))
        assert next(both) == next(both), question


class Listening(ToyEmbedder):
    """Keeps the questions that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: list[str] = []

    def embed(self, texts: Sequence[str], side: Side) -> list[Any]:
        if side == "query":
            self.questions += texts
        return super().embed(texts, side)


@pytest.mark.parametrize(
    ("question", "embedded"),
    [
        ("What does Marcus like?", "What does like?"),
        ("Does Marcus like Lena's dog?", "Does like dog?"),
        ("What does Ana like?", "What does Ana like?"),  # no speaker of the store
        ("Who is Marcus?", "Who is Marcus?"),  # asks for nothing else
        ("What did Marcus say yesterday about tea?", "What did say about tea?"),
    ],
)
def test_speakers_are_left_out_of_the_embedded_question(question: str, embedded: str) -> None:
    model = Listening()
    memory = memoriter.open(":memory:", embedder=model)
    memory.remember("Marcus: tea", source={"who": "Marcus Webb"})
    memory.remember("Lena: coffee", source={"who": "Lena"})
    result = memory.recall(question)
    assert model.questions[-1] == embedded
    assert memoriter.verify(result.receipt).ok
    memory.recall(question, overrides={"boosts.who.embedded": True, "apart": []})
    assert model.questions[-1] == question


def test_an_external_speaker_takes_no_word_out_of_the_embedded_question() -> None:
    model = Listening()
    memory = memoriter.open(":memory:", embedder=model)
    memory.remember("tea", source={"who": "Marcus"})
    memory.remember("a page", source={"who": "Dog of the vet"}, trust="external")
    question = "Which vet does Marcus's dog see?"
    memory.recall(question)
    assert model.questions[-1] == "Which vet does dog see?"
    memory.recall(question, overrides={"select.trust": ["external"]})
    assert model.questions[-1] == "Which does Marcus's see?"  # all that may be found is external
