"""Laws of signals: the order of lanes says nothing, and neither does a lane that is silent."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.laws import law
from tests.property.pipelines import (
    Data,
    World,
    any_recipes,
    asks,
    lived,
    pipelines,
    questions,
    worlds,
)
from tests.property.refusals import REFUSALS
from tests.property.strategies import EXAMPLES
from tests.property.worlds import open_toy

from memoriter.core.explanation import Explanation
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import overridden, recipe_of
from memoriter.rank.grid import STEP
from memoriter.testing.fakes import HandClock
from memoriter.why.result import Result


def at(world: World, **more: Any) -> Memory:
    clock = HandClock()
    return lived(open_toy(clock=clock, **more), clock, world)


def asked(memory: Memory, text: str, recipe: Any, **ask: Any) -> Result | None:
    try:
        return memory.recall(text, 100, recipe=recipe, **ask)
    except REFUSALS:
        return None


def details(result: Result | None) -> list[object]:
    """Every hit with its score and its reasons, in whatever order the reasons are told."""
    if result is None:
        return []
    return [
        (hit.id, hit.score, _unordered(hit.explanation), hit.moves, sorted(hit.lanes))
        for hit in result
    ]


def _unordered(node: Explanation) -> object:
    parts = sorted(repr(_unordered(part)) for part in node.parts)
    return node.label, node.value, node.op, parts, sorted(node.facts.items())


@settings(max_examples=2 * EXAMPLES)
@law(worlds, questions, any_recipes, asks(), st.randoms(use_true_random=False))
def test_lane_order(world: World, text: str, recipe: Any, ask: Data, random: Any) -> None:
    memory = at(world)
    data = recipe_of(recipe).to_data()
    order = list(data["lanes"])
    random.shuffle(order)
    permuted = {**data, "lanes": {label: data["lanes"][label] for label in order}}
    assert list(recipe_of(permuted).lanes) == order
    assert details(asked(memory, text, permuted, **ask)) == details(
        asked(memory, text, recipe, **ask)
    )


def redistributing(recipe: Any) -> Data:
    """A recipe whose first pass gives the weight of the silent to the others.

    What answers when no other lane can run is left out: a list can always run.
    """
    data = recipe_of(recipe).to_data()
    passes = [_absent(data, "redistribute"), *data["pass"][1:]]
    # Relevance needs fixed weights.
    final = {**data["final"], "min_relevance": None}
    return {**data, "pass": passes, "otherwise": None, "relevance": None, "final": final}


def _absent(data: Data, how: str) -> Data:
    first = data["pass"][0]
    return {**first, "fuse": {**first["fuse"], "absent": how}}


@settings(max_examples=2 * EXAMPLES)
@law(worlds, questions, any_recipes, asks())
def test_silence(world: World, text: str, recipe: Any, ask: Data) -> None:
    memory, own = at(world), redistributing(recipe)
    with_it = asked(memory, text, own, lists={"nobody": []}, **ask)
    without = asked(memory, text, own, **ask)
    if without is not None:
        assert with_it is not None
        assert "nobody" in with_it.used
        assert details(with_it) == details(without)


@st.composite
def unboosted(draw: st.DrawFn) -> Data:
    """A recipe that fuses its lanes and does nothing else."""
    data = draw(pipelines())
    first = {"fuse": _plain(data), "boosts": []}
    bare = {"boosts": {}, "pass": [first], "order": [], "final": {}, "otherwise": None}
    return {**data, **bare}


def _plain(data: Data) -> Data:
    fuse = {**data["pass"][0]["fuse"], "absent": "keep"}
    if fuse["kind"] == "weighted":
        fuse["weights"] = {n: w for n, w in fuse["weights"].items() if n in data["lanes"]}
    return fuse


@settings(max_examples=2 * EXAMPLES)
@given(worlds, questions, unboosted(), asks())
def test_silence_that_is_kept_leaves_the_order(
    world: World, text: str, recipe: Data, ask: Data
) -> None:
    """But for what lies nearer than the grid can tell apart."""
    memory = at(world)
    with_it = asked(memory, text, recipe, lists={"nobody": []}, **ask)
    without = asked(memory, text, recipe, **ask)
    if with_it is None or without is None:
        return
    place = {hit.id: hit.rank for hit in with_it}
    score = {hit.id: hit.score for hit in with_it}
    hits = list(without)
    assert set(place) == {hit.id for hit in hits}
    for n, one in enumerate(hits):
        for two in hits[n + 1 :]:
            near = 2 * STEP * len(recipe["lanes"])
            apart = min(one.score - two.score, abs(score[one.id] - score[two.id]))
            assert place[one.id] < place[two.id] or apart <= near


@given(worlds, questions, pipelines(), asks(), st.sampled_from(["keep", "redistribute"]))
def test_a_lane_that_cannot_run_never_weighs(
    world: World, text: str, recipe: Data, ask: Data, absent: str
) -> None:
    memory = at(world, embedder=None)
    data = recipe_of(recipe).to_data()
    own = recipe_of({**data, "pass": [_absent(data, absent), *data["pass"][1:]]})
    if "meaning" not in own.lanes or own.otherwise == "meaning":
        return
    off = overridden(own, {"lanes.meaning.enabled": False})
    assert details(asked(memory, text, own, **ask)) == details(asked(memory, text, off, **ask))


def pools(count: int, **more: Any) -> Data:
    """The default recipe with other pools, and without what drops rows after the first pass."""
    data = recipe_of("memoriter").to_data()
    lanes = {label: {**lane, "pool": count} for label, lane in data["lanes"].items()}
    return {**data, "lanes": lanes, "order": [], **more}


@settings(max_examples=3 * EXAMPLES)
@law(
    worlds, questions, asks(), st.integers(1, 4), st.integers(1, 20), st.sampled_from([True, False])
)
def test_pool(
    world: World,
    text: str,
    ask: Data,
    small: int,
    more: int,
    talk: bool,  # noqa: FBT001  # drawn
) -> None:
    memory = at(world)
    boosts: Data = {} if talk else {"boosts": {}}
    step = {**recipe_of("memoriter").to_data()["pass"][0], **({} if talk else {"boosts": []})}
    recipes = [pools(n, **boosts, **{"pass": [step]}) for n in (small, small + more)]
    few, many = (asked(memory, text, recipe, **ask) for recipe in recipes)
    wide = {hit.id: (hit.score, hit.relevance) for hit in many or ()}
    for hit in few or ():
        assert wide[hit.id] == (hit.score, hit.relevance)
