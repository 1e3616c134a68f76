"""Laws of an answer: determinism, reconciliation, prefix, filter, and what a plan shows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.inside import reranker_of
from tests.oracle.wheres import passes
from tests.property.laws import law
from tests.property.pipelines import Data, World, any_recipes, asks, lived, questions, worlds
from tests.property.refusals import REFUSALS
from tests.property.strategies import EXAMPLES, drafts, moments, queries, recipes, wheres
from tests.property.worlds import open_toy
from tests.sound import sound

from memoriter.core.explanation import Explanation
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import HandClock, ToyReranker
from memoriter.why.hit import Hit

ROOT = Path(__file__).parents[2]
corpora = st.lists(drafts(), min_size=1, max_size=8)
weights = st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0, 3.0, 1000.0])
Corpus = list[Any]


def filled(corpus: Corpus, **more: Any) -> Memory:
    memory = open_toy(**more)
    memory.remember_many(corpus)
    return memory


def at(world: World) -> Memory:
    clock = HandClock()
    return lived(open_toy(clock=clock), clock, world)


def _reranker(memory: Memory) -> ToyReranker:
    reranker = reranker_of(memory)
    assert isinstance(reranker, ToyReranker)
    return reranker


def answered(memory: Memory, text: str, limit: int = 100, **ask: Any) -> bytes | str:
    """The whole answer as bytes: hits, plan, receipt."""
    try:
        result = memory.recall(text, limit, **ask)
    except REFUSALS as nothing:
        return str(nothing)
    return repr(result.to_dict()).encode() + result.receipt.to_bytes()


@law(worlds, questions, any_recipes, asks())
def test_determinism(world: World, text: str, recipe: Any, ask: Data) -> None:
    one, two = at(world), at(world)
    first = answered(one, text, recipe=recipe, **ask)
    assert answered(one, text, recipe=recipe, **ask) == first
    assert answered(two, text, recipe=recipe, **ask) == first


@given(corpora, queries, recipes, st.none() | wheres(), st.none() | moments)
def test_determinism_of_any_record(
    corpus: Corpus, text: str, recipe: str, where: dict[str, Any] | None, as_of: int | None
) -> None:
    one, two = filled(corpus), filled(corpus)
    first = answered(one, text, recipe=recipe, where=where, as_of=as_of)
    assert answered(one, text, recipe=recipe, where=where, as_of=as_of) == first
    assert answered(two, text, recipe=recipe, where=where, as_of=as_of) == first


_SCRIPT = """
import hashlib, memoriter
from memoriter.testing.fakes import CountedEntropy, HandClock
from tests.inside import log_of
from memoriter.testing.whole import whole
memory = memoriter.open(":memory:", clock=HandClock(), entropy=CountedEntropy())
memory.remember_many({"text": f"port {n % 7} of ssh cache {n % 3}", "tags": ["ops", f"t{n % 5}"],
    "metadata": {"b": n, "a": [1, n]}} for n in range(60))
state = hashlib.sha256()
for recipe in ("memoriter", "lexical", "semantic"):
    for text in ("ssh port 3", "cache ops", "memory of ports"):
        result = memory.recall(text, 30, recipe=recipe, where={"tags": {"any": {"ops", "t1"}}})
        state.update(repr(result.to_dict()).encode() + result.receipt.to_bytes())
state.update(repr(whole(log_of(memory), "default")).encode())
print(state.hexdigest())
"""


def test_determinism_across_hash_seeds_and_threads() -> None:
    outputs = {
        subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-c", _SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        ).stdout
        for seed, threads in (("0", "1"), ("1", "2"), ("4242", "4"))
    }
    assert len(outputs) == 1


@settings(max_examples=2 * EXAMPLES)
@law(worlds, questions, any_recipes, asks(), st.sampled_from(["sound", "failing"]))
def test_reconciliation(world: World, text: str, recipe: Any, ask: Data, reranker: str) -> None:
    memory = at(world)
    _reranker(memory).failing = reranker == "failing"
    try:
        result = sound(memory.recall(text, 100, recipe=recipe, **ask))
    except REFUSALS:
        return
    for hit in result:
        _reaches_the_lanes(hit, result.plan.recipe.lanes)


def _reaches_the_lanes(hit: Hit, lanes: Mapping[str, object]) -> None:
    """What a lane says of a hit is what its explanation says: one number, told once."""
    for node in _nodes(hit.explanation):
        if node.label in lanes and "rank" in node.facts:
            assert node.facts["rank"] == hit.lanes[node.label].rank


def _nodes(node: Explanation) -> Iterator[Explanation]:
    yield node
    for part in node.parts:
        yield from _nodes(part)


@given(corpora, queries, st.fixed_dictionaries({"words": weights, "meaning": weights}))
def test_reconciliation_of_any_weights(
    corpus: Corpus, text: str, by_lane: dict[str, float]
) -> None:
    memory = filled(corpus)
    overrides: dict[str, object] = {f"pass.0.fuse.weights.{k}": v for k, v in by_lane.items()}
    overrides["pass.1.enabled"] = False  # no reranker: the score is that of the first pass
    try:
        result = memory.recall(text, 100, overrides=overrides)
    except REFUSALS:
        return
    for hit in result:
        boosted, *lent = hit.explanation.parts
        assert boosted.value + sum(part.value for part in lent) == hit.score
        fuse = next(node for node in _nodes(hit.explanation) if node.label == "fuse")
        assert set(hit.lanes) == {part.label for part in fuse.parts}
    assert [hit.score for hit in result] == sorted((hit.score for hit in result), reverse=True)


@settings(max_examples=2 * EXAMPLES)
@law(worlds, questions, any_recipes, asks(), st.integers(1, 8), st.integers(1, 8))
def test_prefix(world: World, text: str, recipe: Any, ask: Data, a: int, b: int) -> None:
    memory = at(world)
    small, large = sorted((a, b))
    try:
        few = memory.recall(text, small, recipe=recipe, **ask)
        many = memory.recall(text, large, recipe=recipe, **ask)
    except REFUSALS:
        return
    assert [hit.to_dict() for hit in few] == [hit.to_dict() for hit in many[:small]]
    assert few.total == many.total


@given(worlds, questions, any_recipes, asks())
def test_a_plan_that_is_shown_is_the_one_that_runs(
    world: World, text: str, recipe: Any, ask: Data
) -> None:
    memory = at(world)
    try:
        shown = memory.plan(text, 100, recipe=recipe, **ask)
        ran = memory.recall(text, 100, recipe=recipe, **ask)
    except REFUSALS:
        return
    again = memory.recall(text, 100, recipe=shown.recipe.to_data(), **ask)
    assert again.to_dict() == ran.to_dict()
    assert again.receipt.to_bytes() == ran.receipt.to_bytes()
    assert [step.name for step in ran.plan.steps] == [step.name for step in shown.steps]
    for before, after in zip(shown.steps, ran.plan.steps, strict=True):
        if after.skipped is None:
            assert before.skipped is None
            assert before.shows.items() <= after.shows.items()


@given(worlds, questions, any_recipes, wheres())
def test_filter_of_any_recipe(world: World, text: str, recipe: Any, where: dict[str, Any]) -> None:
    try:
        result = at(world).recall(text, 100, recipe=recipe, where=where)
    except REFUSALS:
        return
    assert all(passes(where, hit.record) for hit in result)


@settings(max_examples=2 * EXAMPLES)
@law(corpora, queries, recipes, wheres(), wheres())
def test_filter(
    corpus: Corpus, text: str, recipe: str, where: dict[str, Any], more: dict[str, Any]
) -> None:
    memory = filled(corpus)
    try:
        narrow = memory.recall(text, 100, recipe=recipe, where={"all": [where, more]})
        wide = memory.recall(text, 100, recipe=recipe, where=where)
        everything = memory.recall(text, 100, recipe=recipe)
    except REFUSALS:
        return
    assert all(passes(where, hit.record) for hit in wide)
    assert all(passes(where, hit.record) and passes(more, hit.record) for hit in narrow)
    if everything.plan.recipe.order or everything.plan.recipe.final.min_score is not None:
        return  # what is found may then be left out for another reason
    scores = [_lexical(result) for result in (narrow, wide, everything)]
    for less, widened in pairwise(scores):
        assert less.items() <= widened.items()


def _lexical(result: Any) -> dict[str, float]:
    return {hit.id: hit.lanes["words"].score for hit in result if "words" in hit.lanes}
