"""What a drawing shows: it adds up, it says what every number means, and no text is cut wrongly."""

from __future__ import annotations

import re
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
from memoriter.pipeline.kinds import kinds
from memoriter.pipeline.load import library
from memoriter.text.figures import figure
from memoriter.why.card import drawing_file
from memoriter.why.drawing import SHOWN, adding_up, draw_answer, draw_explanation


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


def test_marks_stand_in_a_title_and_beyond_the_part_that_a_long_text_begins_with() -> None:
    memory = memoriter.open(":memory:")
    long = f"{'nothing of interest here ' * 100}the ssh port is 49222 {'and more ' * 400}"
    memory.remember(long, id="long", title="About the SSH port")
    [hit] = draw_answer(memory.recall("ssh port"))["hits"]
    assert [piece["text"] for piece in hit["title"] if piece["mark"]] == ["SSH", "port"]
    assert [piece["text"] for piece in hit["text"] if piece["mark"]] == ["ssh", "port"]
    shown = "".join(piece["text"] for piece in hit["text"])
    assert shown[0] == shown[-1] == "…"
    assert shown[1:-1] in long
    assert 1000 < len(shown) <= SHOWN + 2


def test_every_sum_says_what_it_is(stored: Memory) -> None:
    drawing = draw_answer(stored.recall("which ssh port in march?"))
    sums = [node for node in trees(drawing) if node["op"] != "leaf"]
    assert {"boosted, the sum of", "fuse, the sum of"} < {node["label"] for node in sums}
    for node in sums:
        assert node.get("about") or node.get("facts"), node["label"]


def test_pictures_show_joined_words_chains_and_tables(stored: Memory) -> None:
    drawing = draw_answer(stored.recall("ssh port", recipe="linked"))
    chains = pictures(drawing, "chain")
    steps = [{"text": "port", "link": ""}, {"text": "keys", "link": "←derived_from"}]
    assert any(chain["rows"] == steps for chain in chains)
    drawing = draw_answer(stored.recall("ssh port"))
    line = {"left": "port", "right": "port", "share": 1.0, "text": "1.00"}
    assert any(line in lines["rows"] for lines in pictures(drawing, "lines"))
    tables = pictures(drawing, "table")
    assert any(row[1] == "port" for table in tables for row in table["rows"])
    assert all(len(row) == len(table["heads"]) for table in tables for row in table["rows"])


def pictures(drawing: dict[str, Any], shape: str) -> list[dict[str, Any]]:
    made = (node.get("picture") for node in trees(drawing))
    return [each for each in made if each and each["shape"] == shape]


@pytest.mark.parametrize("recipe", ["linked", "mentisdb"])
def test_no_two_terms_of_a_number_have_the_same_words(stored: Memory, recipe: str) -> None:
    drawing = draw_answer(stored.recall("ssh port prod", 10, recipe=recipe))
    several = 0
    for node in trees(drawing):
        words = [part["about"] for part in node["parts"] if part.get("about")]
        assert len(set(words)) == len(words), node["label"]
        several += len(words) > 1
    assert several


def test_the_module_that_draws_names_no_kind() -> None:
    text = drawing_file("drawing.js")
    groups = ("lanes", "boosts", "orderings")
    names = {kind.kind_name() for group in groups for kind in kinds(group)}
    words = set(re.findall(r"[a-z_0-9]+", text))
    # Words of English, and the field of a hit that names its copies.
    assert names & words <= {"list", "by", "copies"}


BOOST_OPTIONS: dict[str, dict[str, Any]] = {
    "importance": {"lane": "words"},
    "cohesion": {"lane": "words"},
    "neighbours": {"of": ["words.score"]},
}
"""Options that some kinds of boosts need."""
BOOST_QUESTIONS = {
    "intent": "How many ports does Ana prefer?",
    "dated": "What time is the ssh port opened?",
    "past": "Which ssh port was it before?",
    "sources": "ssh ports of all time",
}
QUESTION = "Which ssh port did Ana say in March 2026, before?"


@pytest.fixture(scope="module")
def stores_all() -> Memory:
    """Memories in which every kind of boost finds something."""
    memory = memoriter.open(":memory:")
    ana = {"session": "s", "source": {"who": "ana"}, "priority": "P1", "importance": 0.9}
    memory.remember("Ana: I prefer the ssh port 49222", id="like", created="2026-03-01",
                    occurred="2026-03-01", confidence=0.7, **ana)  # fmt: skip
    memory.remember("Ana: the ssh port was 22", id="old", created="2026-03-02",
                    occurred="2026-03-02", confidence=0.9, **ana)  # fmt: skip
    memory.remember("Bob: what is the ssh port?", id="ask", session="s", source={"who": "bob"})
    memory.remember("Bob: the ssh port opens at 5 pm", id="new", session="s", supersedes="old",
                    source={"who": "bob"})  # fmt: skip
    memory.remember("which ssh port did ana say in march 2026 before", id="echo")
    memory.remember("A summary of advice on the ssh port", id="doc", kind="document")
    memory.remember("ssh ports of all time", id="sum", kind="reflection", trust="external")
    for target in ("like", "doc"):
        memory.link("sum", target, "consolidated_from")
    memory.link("doc", "like")
    return memory


@pytest.mark.parametrize("kind", [each.kind_name() for each in kinds("boosts")])
def test_every_boost_says_in_plain_words_what_its_number_is(stores_all: Memory, kind: str) -> None:
    boost = {"kind": kind, **BOOST_OPTIONS.get(kind, {})}
    overrides = {"boosts.extra": boost, "pass.0.boosts": ["extra"], "select.superseded": "show"}
    question = BOOST_QUESTIONS.get(kind, QUESTION)
    result = stores_all.recall(question, 20, overrides=overrides, now="2099-01-01")
    leaves = [node for node in trees(draw_answer(result)) if node["label"] == "extra"]
    assert leaves, result.skipped.get("extra")
    part = result.plan.recipe.boosts["extra"]
    for hit in result:
        for node in explained(hit.explanation):
            assert node.label != "extra" or set(node.facts) <= set(part.fact_words)
    for leaf in leaves:
        lines = [fact["about"] for fact in leaf["facts"]] or [leaf["about"]]
        assert all(lines)


def explained(node: Explanation) -> Iterator[Explanation]:
    yield node
    for part in node.parts:
        yield from explained(part)


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
