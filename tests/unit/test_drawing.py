"""What a drawing shows: it adds up, it says what every number means, and no text is cut wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memoriter
from memoriter.core.errors import NothingToRun
from memoriter.core.explanation import Explanation
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import library
from memoriter.text.figures import figure
from memoriter.why.drawing import adding_up, draw_answer, draw_explanation


@pytest.fixture(scope="module")
def stored() -> Memory:
    memory = memoriter.open(":memory:")
    memory.remember("Prod SSH port 🔥 is 49222 since March", id="port", session="s")
    memory.remember("The firewall knows that port", id="wall", session="s", importance=0.9)
    memory.remember("SSH port of prod", id="copy", title="ssh", tags=["ops"])
    memory.remember("keys instead of words", id="keys", entities=["Ana"])
    memory.link("keys", "port", "derived_from")
    return memory


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for part in node["parts"]:
        yield from nodes(part)


def trees(drawing: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for hit in drawing["hits"]:
        yield from nodes(hit["tree"])
        for lane in hit["before"]:
            yield from nodes(lane["tree"])


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=12))
def test_rounded_parts_add_up_to_the_rounded_total(values: list[float]) -> None:
    total = figure(sum(values))
    parts = adding_up(values, total)
    step = Decimal(1).scaleb(min(int(Decimal(total).as_tuple().exponent), 0))
    off = abs(sum(map(Decimal, parts)) - Decimal(total))
    assert off == 0 or abs(sum(values)) < 1e-6  # what cancels out has no digits left to share
    for value, part in zip(values, parts, strict=True):
        assert abs(Decimal(part) - Decimal(repr(value))) <= 2 * step


@pytest.mark.parametrize("recipe", sorted(library()))
def test_every_sum_adds_up_and_every_fact_has_plain_words(stored: Memory, recipe: str) -> None:
    try:
        result = stored.recall("which ssh port in march?", recipe=recipe)
    except NothingToRun:
        pytest.skip("it needs seeds or a list")
    drawing = draw_answer(result)
    assert len(drawing["hits"]) == len(result)
    for hit in drawing["hits"]:
        shown = sum(Decimal(part["text"]) for part in hit["sum"])
        assert shown == Decimal(hit["total"])
    for node in trees(drawing):
        if node["op"] == "sum" and node["parts"]:
            assert sum(Decimal(p["value"]) for p in node["parts"]) == Decimal(node["value"])
    for hit in result:
        for label, lane in hit.lanes.items():
            words = result.plan.recipe.lanes[label].fact_words
            assert set(facts_of(lane.why)) <= set(words), (recipe, label)


def facts_of(node: Explanation) -> Iterator[str]:
    yield from node.facts
    for part in node.parts:
        yield from facts_of(part)


def test_marks_stand_where_the_words_are_behind_a_wide_character(stored: Memory) -> None:
    [hit] = [hit for hit in draw_answer(stored.recall("ssh port"))["hits"] if hit["id"] == "port"]
    assert (
        "".join(piece["text"] for piece in hit["text"]) == "Prod SSH port 🔥 is 49222 since March"
    )
    assert [piece["text"] for piece in hit["text"] if piece["mark"]] == ["SSH", "port"]


def test_pictures_show_pairs_of_words_paths_and_turns(stored: Memory) -> None:
    drawing = draw_answer(stored.recall("ssh port", recipe="linked"))
    paths = [
        node["picture"]["path"] for node in trees(drawing) if node.get("picture", {}).get("path")
    ]
    assert any([hop["id"] for hop in path] == ["port", "keys"] for path in paths)
    drawing = draw_answer(stored.recall("ssh port"))
    pictures = [node["picture"] for node in trees(drawing) if node.get("picture")]
    assert any(
        {"asked": "port", "met": "port", "cosine": 1.0} in p.get("pairs", ()) for p in pictures
    )
    assert any(turn["id"] == "port" for p in pictures for turn in p.get("turns", ()))


def test_the_funnel_has_every_step_with_what_it_left_or_why_it_did_not_run(stored: Memory) -> None:
    result = stored.recall("ssh port", 2)
    funnel = {stage["stage"]: stage for stage in draw_answer(result)["funnel"]}
    assert funnel["view"]["rows"] == 4
    assert funnel["limit"]["rows"] == 2
    assert funnel["moment"]["skipped"] == "the question names no time"
    assert not funnel["moment"]["missed"]
    assert {step.name for step in result.plan.steps} - {"select"} <= set(funnel)
    assert all(stage["about"] for stage in funnel.values())


def test_an_explanation_alone_can_be_drawn() -> None:
    tree = Explanation("fuse", 0.5, "sum", (Explanation("a", 0.26), Explanation("b", 0.24)))
    drawing = draw_explanation(tree)
    assert [part["text"] for part in drawing["sum"]] == ["0.260", "0.240"]
    assert drawing["tree"]["value"] == drawing["total"] == "0.500"
