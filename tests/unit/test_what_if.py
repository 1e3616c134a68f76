"""What if a number were another: the answer of a recall with that override, without a search."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from tests.night import NIGHT
from tests.property.strategies import EXAMPLES

import memoriter
from memoriter.core.errors import BadQuery, BadRecipe, Expired, NothingToRun
from memoriter.lanes.bm25 import Bm25Lane
from memoriter.lanes.vector import VectorLane
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import library, overridden, recipe_of
from memoriter.pipeline.numbers import RecipeNumber, numbers_of
from memoriter.why.result import Result

QUESTION = "which ssh port do we use?"


@pytest.fixture(scope="module")
def stored() -> Memory:
    memory = memoriter.open(":memory:")
    for n, text in enumerate(
        ("Prod SSH listens on port 22", "The firewall knows ports", "ssh keys, not passwords",
         "the harbour is a port for ships", "Ana prefers tea", "a shell through a tunnel")
    ):  # fmt: skip
        memory.remember(text, id=f"m{n}", session="s", importance=n / 10, tags=["ops"])
    memory.link("m4", "m0", "related_to")
    return memory


def same(stored: Memory, result: Result, recipe: str, overrides: dict[str, Any]) -> None:
    """A what-if and a recall at the same moment have the same receipt, byte for byte."""
    now = result.receipt.body["query"]["now"]  # type: ignore[index]
    again = stored.recall(QUESTION, 5, recipe=recipe, overrides=overrides, now=now)
    assert result.what_if(overrides).receipt.to_bytes() == again.receipt.to_bytes(), overrides


def other(number: RecipeNumber) -> float | int:
    """Another value within the bounds."""
    low, high, step = number.reach
    value = number.value or 0.0
    now = value + step if value + step <= high else low
    return int(now) if number.whole else round(now, 6)


def _stride(recipe: str) -> int:
    """Every number at night; by day each of our recipe's second, and some of every other's."""
    return 1 if NIGHT else 2 if recipe == "memoriter" else 8


@pytest.mark.parametrize("recipe", sorted(library()))
def test_every_number_of_every_recipe_gives_what_a_recall_gives(
    stored: Memory, recipe: str
) -> None:
    try:
        result = stored.recall(QUESTION, 5, recipe=recipe)
    except NothingToRun:
        pytest.skip("it needs seeds or a list")
    for number in numbers_of(recipe_of(recipe))[:: _stride(recipe)]:
        changed = {number.path: other(number)}
        try:
            overridden(recipe_of(recipe), changed)
        except BadRecipe:  # knots must ascend, weak stays below strong: a bound between numbers
            continue
        same(stored, result, recipe, changed)


def test_several_changes_and_a_switched_off_lane_too(stored: Memory) -> None:
    result = stored.recall(QUESTION, 5)
    same(stored, result, "memoriter", {"lanes.kin.enabled": False})
    both = {"pass.0.fuse.weights.words": 1.0, "lanes.words.k1": 0.0, "boosts.around.enabled": False}
    same(stored, result, "memoriter", both)
    linked = stored.recall(QUESTION, 5, recipe="linked")
    same(stored, linked, "linked", {"lanes.words.pool": 1})
    same(stored, linked, "linked", {"lanes.links.max_depth": 1})


def test_a_changed_weight_runs_no_lane(stored: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    result = stored.recall(QUESTION, 5)
    ran: list[str] = []
    for lane in (Bm25Lane, VectorLane):
        start = lane.start

        def counted(self: Any, ctx: Any, start: Any = start) -> Any:
            # The search of the lane, not a question about single rows.
            if ctx.running.scores_further:
                ran.append(ctx.label)
            return start(self, ctx)

        monkeypatch.setattr(lane, "start", counted)
    result.what_if({"pass.0.fuse.weights.meaning": 2.0})
    assert ran == []
    result.what_if({"lanes.words.k1": 2.0})
    assert ran == ["words"]


def test_it_stays_on_its_view(stored: Memory) -> None:
    memory = memoriter.open(":memory:")
    memory.remember("ssh port 22", id="old")
    result = memory.recall("ssh port")
    memory.remember("ssh port 49222", id="new")
    assert [hit.id for hit in result.what_if({"lanes.words.k1": 2.0})] == ["old"]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"select.archived": "show"}, "`select` of the recipe cannot be changed after"),
        ({"analyzer": "code"}, "analyzer|there is no"),
        ({"ties": ["id"]}, "`ties` of the recipe cannot be changed after"),
        ({"lanes.nothing.k1": 1}, "the recipe has no"),
        ({"lanes.words.k1": "many"}, "k1"),
    ],
)
def test_what_would_read_other_records_is_refused(
    stored: Memory, overrides: dict[str, Any], message: str
) -> None:
    with pytest.raises((BadQuery, BadRecipe), match=message):
        stored.recall(QUESTION).what_if(overrides)


def test_a_lane_whose_vector_was_never_made_is_refused(stored: Memory) -> None:
    lane = {"kind": "vector", "pool": 10, "min_cosine": 0.0}
    fused = {"pass.0.fuse.weights": {"words": 1.0, "meaning": 1.0}}
    with pytest.raises(BadQuery, match="needs the vector of the question"):
        stored.recall(QUESTION, recipe="lexical").what_if({"lanes.meaning": lane, **fused})


def test_a_number_inside_a_list_can_be_overridden() -> None:
    recipe = overridden(recipe_of("memoriter"), {"boosts.around.shares.1": 0.25})
    assert recipe.to_data()["boosts"]["around"]["shares"] == [0.2, 0.25]
    with pytest.raises(BadRecipe, match="known there: 0, 1"):
        overridden(recipe_of("memoriter"), {"boosts.around.shares.2": 0.25})


@pytest.mark.parametrize("recipe", sorted(library()))
def test_a_slider_reaches_its_value_and_stays_within_the_bounds(recipe: str) -> None:
    numbers = numbers_of(recipe_of(recipe))
    assert len({number.path for number in numbers}) == len(numbers) > 5
    for number in numbers:
        low, high, step = number.reach
        assert low < high
        assert step > 0
        assert number.about
        assert number.value is None or low <= number.value <= high
        assert number.most is None or high <= number.most
        if number.value is not None:
            assert overridden(recipe_of(recipe), {number.path: number.value}) == recipe_of(recipe)


@pytest.mark.parametrize("recipe", sorted(library()))
def test_the_ends_of_a_slider_are_values_that_the_recipe_takes(recipe: str) -> None:
    for number in numbers_of(recipe_of(recipe)):
        for end in number.reach[:2]:
            overridden(recipe_of(recipe), {number.path: int(end) if number.whole else end})


@pytest.mark.parametrize("recipe", sorted(library()))
def test_every_position_of_a_slider_is_taken_whatever_the_others_are(recipe: str) -> None:
    """Knots ascend, weak is at most strong: the reach of one follows from the other."""
    own, draw = recipe_of(recipe), random.Random(recipe)
    overrides: dict[str, Any] = {}
    for _ in range(EXAMPLES // 2):
        chosen = draw.sample(numbers_of(own, overridden(own, overrides)), 5)
        linked = [n for n in chosen if n.group == "relevance"] or chosen
        number = draw.choice(linked)
        low, high, step = number.reach
        last = math.floor((high - low) / step + 1e-9)
        position = round(low + draw.choice([0, draw.randint(0, last), last]) * step, 9)
        overrides[number.path] = int(position) if number.whole else position
        overridden(own, overrides)
    for number in numbers_of(own, overridden(own, overrides)):
        assert number.reach[0] <= number.reach[1]


def test_a_slider_goes_no_further_than_a_neighbour_or_a_server_allows() -> None:
    own = recipe_of("memoriter")
    reach = {n.path: n.reach[:2] for n in numbers_of(own)}
    assert own.relevance is not None
    assert reach["relevance.weak"] == (0.0, own.relevance.strong)
    assert reach["relevance.strong"] == (own.relevance.weak, 1.0)
    moved = numbers_of(own, overridden(own, {"relevance.weak": 0.4}))
    assert {n.path: n.reach[:2] for n in moved}["relevance.strong"] == (0.4, 1.0)
    walk = {n.path: n for n in numbers_of(recipe_of("mentisdb"), most={"max_depth": 4})}
    [depth] = [n for path, n in walk.items() if path.endswith(".max_depth")]
    assert (depth.reach[1], depth.most) == (4, 4)


def test_numbers_that_a_recipe_does_not_take_are_left_out() -> None:
    paths = {recipe: {each.path for each in numbers_of(recipe_of(recipe))} for recipe in library()}
    assert "final.min_relevance" in paths["memoriter"]
    assert "final.min_relevance" not in paths["lexical"]
    assert "lanes.meaning.ef" not in paths["memoriter"]
    knots = [n for n in numbers_of(recipe_of("memoriter")) if n.path.startswith("relevance.knots")]
    assert {(n.least, n.most) for n in knots if n.path.endswith(".1")} == {(0.0, 1.0)}


def test_timings_are_for_people_only(stored: Memory) -> None:
    result = stored.recall(QUESTION)
    assert set(result.timings) >= {"words", "kin", "meaning", "fuse"}
    assert all(spent >= 0 for spent in result.timings.values())
    assert set(result.timings) <= {step.name for step in result.plan.steps}
    assert set(stored.recall("ssh port", recipe="lexical").timings) == {
        "select",
        "words",
        "fuse",
        "limit",
    }
    assert "timings" not in result.to_dict()
    assert "timings" not in result.receipt.body


def test_what_was_forgotten_does_not_come_back() -> None:
    with memoriter.open(":memory:") as memory:
        memory.remember("The vault code is zanzibar", id="vault")
        memory.remember("The vault is in the cellar", id="cellar")
        result = memory.recall("vault code")
        memory.forget("vault", now=True)
        with pytest.raises(Expired, match="was forgotten since"):
            result.what_if({"fusion.weights.words": 0.5})
