"""Two recipes side by side, in words."""

from __future__ import annotations

from typing import Any, get_args

from rich.console import Console

import memoriter
from memoriter.doors.render.phrases import KEYS, KINDS, VALUES
from memoriter.doors.render.recipes import sections, side_by_side, value
from memoriter.pipeline.fusing import Rrf, Smooth, Weighted
from memoriter.pipeline.kinds import kind_of, kinds
from memoriter.pipeline.load import ours, recipe_of
from memoriter.pipeline.passes import Head, Pass, Rerank, Unanimity
from memoriter.pipeline.recipe import Final_, Recipe, Select
from memoriter.text.analyzers import NAMES


def _compared(first: str, second: str) -> dict[str, dict[str, tuple[str, str]]]:
    one, two = recipe_of(first), recipe_of(second)
    rows = sections(one.to_data(), two.to_data(), (one.spelled_out(), two.spelled_out()))
    return {
        part.title.partition(":")[0]: {
            row.label.strip(): (row.first, row.second) for row in part.rows
        }
        for part in rows
    }


def test_engrava_and_comis_read_like_two_systems() -> None:
    words = _compared("engrava", "comis")
    assert list(words) == [
        "In general", "Select", "Lanes", "Fusion", "Boosts", "Second pass", "Order", "Final",
        "Its users' language",
    ]  # fmt: skip
    assert words["Select"]["trusted (trust)"] == ("all", "system, learned")
    assert words["Fusion"]["score"] == (
        "weighted sum of scaled scores",
        "reciprocal ranks: Σ weight / (k + rank)",
    )
    assert words["Fusion"]["the weight of a lane that finds nothing (absent)"] == (
        "is lost",
        "goes to the others",
    )
    assert words["Lanes"]["stop words (stop)"] == ("none", "English ones are dropped")
    assert words["Lanes"]["listing"] == (
        "all records, by an attribute; by cycle, largest first; an order and no score",
        "—",
    )
    assert words["Boosts"]["priority"][0].endswith("table P1 1, P2 0.6, P3 0.3, P4 0; weighs 0.05")
    assert words["Second pass"][""][1].startswith("off; if on: the first 40 by fuse; a reranker")
    assert words["Order"]["1."][1].endswith("keeps the newest, at the best place")
    assert words["Final"]["leaves out what scores less than (min_score)"] == ("—", "0.1")


def test_numbers_that_a_recipe_spells_out_are_told_also_where_they_are_the_usual_ones() -> None:
    words = _compared("engrava", "comis")["Boosts"]
    assert words["half-life (half_life)"] == ("50", "—")
    assert "what a link passes on 0.5; of so many neighbours at most 5" in words["graph"][0]
    walk = _compared("mentisdb", "comis")["Lanes"]["links"][0]
    assert "starts from the best 20" in walk
    assert "by the best kind of link continues_from 0.6" in walk
    one, two = recipe_of("engrava").to_data(), recipe_of("comis").to_data()
    assert sections(one, two, (one, two)) == sections(one, two)  # whoever says all says nothing


def test_how_a_query_is_read_is_told_as_it_is() -> None:
    words = _compared("jeffs-brain", "mnestic")["Lanes"]
    assert "any of the words but stop words" in words["words"][0]
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("pricing", id="one")
    any_word = memory.recall("pricing berlin", recipe="jeffs-brain")
    assert [hit.id for hit in any_word] == ["one"]
    off = {"vector_index": False}
    assert len(memory.recall("pricing berlin", recipe="mnestic", overrides=off)) == 0


def test_a_key_that_two_fusions_mean_differently_has_two_rows() -> None:
    words = _compared("mentisdb", "jeffs-brain")["Fusion"]
    assert words["the less this lane says (base)"] == ("words", "—")
    assert words["the best rank counts as (base)"] == ("—", "1")


def test_a_recipe_has_no_words_beside_itself_and_some_beside_any_other() -> None:
    for first in ours():
        for second in ours():
            assert bool(_compared(first, second)) == (first != second)


def test_what_no_stage_tells_is_still_a_difference() -> None:
    one = recipe_of("memoriter").to_data()
    console = Console(width=80)
    with console.capture() as shown:
        console.print(side_by_side(("a", "b"), one, {**one, "name": "other"}))
    assert shown.get() == "they differ in name alone\n"
    assert [part.title for part in sections(one, {**one, "version": 9})] == ["In general"]


def test_every_key_and_every_kind_of_ours_has_words_and_none_has_gone() -> None:
    made: dict[str, tuple[Any, ...]] = {
        "lanes": kinds("lanes"), "boosts": kinds("boosts"), "order": kinds("orderings"),
        "fuse": (Weighted, Rrf, Smooth),
    }  # fmt: skip
    for where, parts in made.items():
        of_ours = [part for part in parts if part.__module__.startswith("memoriter.")]
        assert set(KINDS[where]) == {kind_of(part) for part in of_ours}
    parts = [each for some in made.values() for each in some]
    keys = {
        name
        for each in (*parts, Select, Final_, Head, Rerank, Unanimity)
        for name in each.model_fields
    }
    general = {
        "about",
        "version",
        "analyzer",
        "ties",
        "otherwise",
        "window",
        "missing",
        "not_positive",
    }
    assert {*keys, *general} - {*KEYS, "kind"} == set()
    special = {f"{kind_of(each)}.{name}" for each in parts for name in each.model_fields}
    own = {*Pass.model_fields, *Recipe.model_fields, *special, "weighs"}
    assert set(KEYS) - {*keys, *own} == set()


def test_every_analyzer_and_every_word_for_a_value_is_there() -> None:
    assert set(VALUES["analyzer"]) == set(NAMES)
    fields = [
        field
        for each in (*kinds("lanes"), *kinds("boosts"), *kinds("orderings"), Weighted, Rrf, Smooth)
        for field in each.model_fields.items()
    ]
    for key in ("dialect", "form", "idf", "stop", "unit", "keep", "absent"):
        known = {v for name, field in fields if name == key for v in get_args(field.annotation)}
        assert set(VALUES[key]) == known, key
    assert value("pool", told=True) == "yes"
    assert value("of", told=None) == "—"
