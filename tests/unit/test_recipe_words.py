"""Two recipes side by side, in words."""

from __future__ import annotations

from typing import get_args

from rich.console import Console

import memoriter
from memoriter.doors.render.recipes import recipe_sections, side_by_side, value_text
from memoriter.lanes.bm25 import Bm25Lane
from memoriter.lanes.spec import meaning_of, options_of, worded
from memoriter.pipeline.fusing import FUSIONS, Rrf, Smooth
from memoriter.pipeline.kinds import kinds
from memoriter.pipeline.load import library, recipe_of
from memoriter.pipeline.orderings.mmr import MmrOrdering
from memoriter.pipeline.passes import Pass, PassHead, Rerank, Unanimity
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.recipe_tables import Final_, Mode, Select
from memoriter.text.analyzers import all_analyzers, analyzer_names
from memoriter.text.dialects import dialect, dialect_names


def _compared(first: str, second: str) -> dict[str, dict[str, tuple[str, str]]]:
    one, two = recipe_of(first), recipe_of(second)
    parts = recipe_sections(one.to_data(), two.to_data(), (one.spelled_out(), two.spelled_out()))
    return {
        part.title.partition(":")[0]: {
            row.label.strip(): (row.first, row.second) for row in part.rows
        }
        for part in parts
    }


def test_engrava_and_comis_read_like_two_systems() -> None:
    shown = _compared("engrava", "comis")
    assert list(shown) == [
        "In general", "Select", "Lanes", "Fusion", "Boosts", "Second pass", "Order", "Final",
        "Its users' language",
    ]  # fmt: skip
    assert shown["Select"]["trust levels that are searched (trust)"] == (
        "all levels",
        "system, learned",
    )
    assert shown["Fusion"]["score"] == (
        "weighted sum of scaled scores",
        "reciprocal rank fusion: Σ weight / (k + rank)",
    )
    assert shown["Fusion"]["what happens to the weight of a lane that finds nothing (absent)"] == (
        "it is lost, as if the lane scored 0",
        "it goes to the other lanes",
    )
    assert shown["Lanes"][
        "whether stop words (common words) of the question are ignored (stop)"
    ] == (
        "no word is ignored",
        "English stop words are ignored",
    )
    assert shown["Lanes"]["listing"] == (
        "all records, ordered by an attribute; attribute to order by, smallest value first: "
        "cycle, largest first; whether every record scores 0, so that only the order counts: yes; "
        "attributes that order records with the same value of `by`: position, largest first",
        "—",
    )
    assert shown["Boosts"]["priority"][0].endswith(
        "the share (0 to 1) that a record of this priority has (see `weight`): P1 1, P2 0.6,"
        " P3 0.3, P4 0; weight in the fusion: 0.05"
    )
    assert shown["Second pass"][""][1].startswith("off; if on: the first 40 by fuse; a reranker")
    assert shown["Order"]["1."][1].endswith("the newest ones, which take the group's best places")
    assert shown["Final"]["minimum first-pass score of a hit (min_score)"] == (
        "—",
        "0.1",
    )


def test_numbers_that_a_recipe_spells_out_are_told_also_where_they_are_the_usual_ones() -> None:
    shown = _compared("engrava", "comis")["Boosts"]
    assert shown["age at which the share is ½, in cycles or seconds (half_life)"] == ("50", "—")
    assert "multiplied by this factor and by the weight of the link: 0.5; " in shown["graph"][0]
    walk = _compared("mentisdb", "comis")["Lanes"]["links"][0]
    assert "how many seeds are taken from each lane in `seeds`, best candidates first: 20" in walk
    assert "score of each kind of link (0 for kinds not listed): " in walk
    one, two = recipe_of("engrava").to_data(), recipe_of("comis").to_data()
    assert recipe_sections(one, two, (one, two)) == recipe_sections(
        one, two
    )  # whoever says all says nothing


def test_how_a_query_is_read_is_told_as_it_is() -> None:
    shown = _compared("jeffs-brain", "mnestic")["Lanes"]
    assert "any of the words but stop words" in shown["words"][0]
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("pricing", id="one")
    any_word = memory.recall("pricing berlin", recipe="jeffs-brain")
    assert [hit.id for hit in any_word] == ["one"]
    off = {"vector_index": False}
    assert len(memory.recall("pricing berlin", recipe="mnestic", overrides=off)) == 0


def test_a_key_that_two_fusions_mean_differently_has_two_rows() -> None:
    shown = _compared("mentisdb", "jeffs-brain")["Fusion"]
    lifting = "lane that decides how much the lane `lifted` counts (base)"
    assert shown[lifting] == ("words", "—")
    assert shown["number of the first rank in 1 / (k + rank): 1 or 0 (base)"] == ("—", "1")


def test_a_recipe_has_no_words_beside_itself_and_some_beside_any_other() -> None:
    for first in library():
        for second in library():
            assert bool(_compared(first, second)) == (first != second)


def test_what_no_stage_tells_is_still_a_difference() -> None:
    one = recipe_of("memoriter").to_data()
    console = Console(width=80)
    with console.capture() as shown:
        console.print(side_by_side(("a", "b"), one, {**one, "name": "other"}))
    assert shown.get() == "they differ in name alone\n"
    later = {**one, "version": one["version"] + 1}
    assert [part.title for part in recipe_sections(one, later)] == ["In general"]


def test_every_option_of_a_recipe_says_what_it_means() -> None:
    parts = [*kinds("lanes"), *kinds("boosts"), *kinds("orderings"), *FUSIONS]
    for part in (*parts, Recipe, Select, Mode, Final_, Pass, PassHead, Rerank, Unanimity):
        for key, field in options_of(part).items():
            assert field.option.about, (part, key)
            assert meaning_of(part, key) == field.option.about


def test_words_for_values_are_those_of_the_option() -> None:
    assert all(one.about for one in all_analyzers())
    assert all(dialect(name).about for name in dialect_names())
    assert all(value_text(Recipe, "analyzer", name) != name for name in analyzer_names())
    assert all(value_text(Bm25Lane, "dialect", name) != name for name in dialect_names())
    for part in (*kinds("lanes"), *kinds("boosts"), *kinds("orderings"), Rrf, Smooth, Rerank):
        for key, field in options_of(part).items():
            if known := set(worded(part, key)):
                assert known == set(get_args(field.hint)), (part, key)
    assert value_text(Bm25Lane, "ladder", setting=True) == "yes"
    assert value_text(MmrOrdering, "of", setting=None) == "—"
    assert value_text(None, "anything", setting=3) == "3"
    assert meaning_of(None, "some_key") == "some key"
