"""An override that does not fit shows the overrides that were meant, and those work."""

from __future__ import annotations

import ast
from typing import Any

import pytest

import memoriter
from memoriter.core.errors import BadRecipe
from memoriter.doors.hints import in_commands, in_fields
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import overridden, recipe_of

_BOTH = {"fusion.weights.meaning": 0.5, "fusion.model_weights.meaning": 0.5}
GUESSES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    *(
        ({guess: 0.5}, _BOTH)
        for guess in (
            "lanes.meaning.weight", "lanes.vector.weight", "meaning.weight", "weights.meaning",
            "meaning", "lanes.meaning", "fuse.weights.meaning", "pass.fuse.weights.meaning",
            "pass[0].fuse.weights.meaning", "passes.0.fuse.weights.meaning",
            "Lanes.Meaning.Weight", "lanes/meaning/weight",
        )
    ),
    ({"weights": {"meaning": 0.5}}, _BOTH),
    ({"lanes": {"meaning": {"weight": 0.5}}}, _BOTH),
    ({"lanes": {"words": {"k1": 1.5}}}, {"lanes.words.k1": 1.5}),
    ({"k1": 1.5}, {"lanes.words.k1": 1.5}),
    ({"bm25.k1": 1.5}, {"lanes.words.k1": 1.5}),
    ({"lanes.bm25.k1": 1.5}, {"lanes.words.k1": 1.5}),
    ({"words.pool": 5}, {"lanes.words.pool": 5}),
    ({"limit": 5}, {"final.limit": 5}),
    ({"min_score": 0.5}, {"final.min_score": 0.5}),
    ({"weak": 0.1}, {"relevance.weak": 0.1}),
    ({"superseded": "show"}, {"select.superseded": "show"}),
    ({"past.weight": 0.5}, {"boosts.past.weight": 0.5}),
    ({"rerank": False}, {"pass.1.enabled": False}),
    ({"rerank.timeout_ms": 5}, {"pass.1.rerank.timeout_ms": 5}),
    ({"order.copies.head": 5}, {"order.0.head": 5}),
    ({"orderings.copies.head": 5}, {"order.0.head": 5}),
    ({"copies": None}, {"order.0.enabled": False}),
    ({"meaning": False}, {"lanes.meaning.enabled": False}),
    ({"lanes.meaning": False}, {"lanes.meaning.enabled": False}),
    ({"lanes.meaning": None}, {"lanes.meaning.enabled": False}),
    ({"fusion": "rrf"}, {"fusion": {"kind": "rrf"}, "relevance": None}),
    ({"fusion.kind": "rrf"}, {"fusion": {"kind": "rrf"}, "relevance": None}),
    ({"mmr": True}, {"order": [{"kind": "mmr"}]}),
    ({"boosts.recency.weight": 0.5}, {"boosts.recency": {"kind": "recency"}}),
    (
        {"lanes.entities.weight": 0.5},
        {"lanes.entity": {"kind": "entity"}, "fusion.weights.entity": 0.3},
    ),
]  # fmt: skip


def refused(overrides: dict[str, Any], recipe: str = "memoriter") -> BadRecipe:
    with pytest.raises(BadRecipe) as caught:
        overridden(recipe_of(recipe), overrides)
    return caught.value


@pytest.mark.parametrize(("guess", "meant"), GUESSES)
def test_a_first_guess_is_answered_with_overrides_that_work(
    guess: dict[str, Any], meant: dict[str, Any]
) -> None:
    hint = refused(guess).hint
    assert ast.literal_eval(hint[hint.index("overrides=") + len("overrides=") :]) == meant
    assert overridden(recipe_of("memoriter"), meant) != recipe_of("memoriter")


def test_a_door_shows_it_in_its_own_words() -> None:
    hint = refused({"rerank": False}).hint
    assert in_fields(hint) == 'use "overrides": {"pass.1.enabled": false}'
    assert in_commands(hint) == "use --override pass.1.enabled=false"


def test_a_lane_that_the_recipe_lacks_is_answered_with_those_it_has() -> None:
    assert refused({"lanes.meaning.weight": 0.5}, "lexical").hint == "its lanes are words"
    options = refused({"lanes.words.zeal": 1.0}, "lexical").hint
    assert options.startswith("the options of lanes.words are ")
    assert "k1, b" in options
    assert "recipe show lexical" in refused({"nothing like it": 1}, "lexical").hint


def test_an_added_lane_takes_its_weight_from_another_override() -> None:
    entity = {"lanes.entity": {"kind": "entity"}}
    assert '"fusion.weights.entity": 0.3' in refused(entity).hint
    changed = overridden(recipe_of("memoriter"), {**entity, "fusion.weights.entity": 0.2})
    assert changed.weight("entity") == 0.2
    assert '"relevance": None' in refused({"fusion": {"kind": "rrf"}}).hint


@pytest.fixture
def memory() -> Memory:
    memory = memoriter.open(":memory:")
    memory.remember("the ssh port is 49222", id="low", importance=0.1)
    memory.remember("the ssh port is 49223", id="high", importance=0.9)
    return memory


def test_an_added_boost_is_applied(memory: Memory) -> None:
    boost = {"boosts.importance": {"kind": "importance"}}
    plain = {hit.id: hit.score for hit in memory.recall("ssh port", overrides={"order": []})}
    result = memory.recall("ssh port", overrides={"order": [], **boost})
    lifted = {hit.id: hit.score for hit in result}
    assert lifted["high"] > plain["high"]
    assert memoriter.verify(result).ok
    assert memory.replay(result).same
    # One that a pass weights or lists by name is applied once, where that pass says.
    for named in ({"pass.0.boosts": ["importance"]}, {"fusion.weights.importance": 0.2}):
        changed = overridden(recipe_of("memoriter"), {**boost, **named})
        listed = [*changed.passes[0].boosts, *changed.fused]
        assert listed.count("importance") == 1


@pytest.mark.parametrize("given", ["lanes.words.k1=1.5", ["lanes.words.k1=1.5"], 5])
def test_overrides_that_are_no_object_are_answered_with_an_example(
    memory: Memory, given: Any
) -> None:
    with pytest.raises(BadRecipe) as caught:
        memory.recall("ssh port", overrides=given)
    assert 'overrides={"lanes.words.k1": 1.5}' in caught.value.hint
