"""What people see: tables with bars, trees of reasons, lines in columns."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console, RenderableType

import memoriter
from memoriter.core.explanation import Explanation, contributions
from memoriter.doors.render.hits import HitTable, bar, marked_text
from memoriter.doors.render.ink import TextColumns, inks
from memoriter.doors.render.records import edge_list, history_list, page_list, record_card
from memoriter.doors.render.tree import hit_tree, plan_tree
from memoriter.pipeline.load import recipe_of
from memoriter.text.figures import figure, short
from memoriter.text.safe import one_line, safe
from memoriter.why.hit import Hit
from memoriter.why.result import Result

LANES = inks(["words", "meaning"])


def drawn(what: RenderableType, width: int = 80, *, colours: bool = False) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colours, color_system="standard" if colours else None,
        highlight=False, markup=False,
    )  # fmt: skip
    console.print(what, crop=False)
    return out.getvalue()


@pytest.fixture
def result() -> Result:
    memory = memoriter.open(":memory:")
    memory.remember(
        "The cat sleeps on the warm roof", id="cat", created="2026-01-02", tags=["pets"]
    )
    memory.remember("A dog barks at the postman", id="dog", created="2026-01-03")
    memory.remember("Cats and their roofs: " + "many words " * 40, id="long", created="2026-01-04")
    return memory.recall("cats on a roof")


def leaf(label: str, value: float) -> Explanation:
    return Explanation(label, value)


def test_a_bar_is_as_long_as_the_share_of_the_best_and_made_of_its_parts() -> None:
    root = Explanation("fuse", 0.5, "sum", (leaf("words", 0.25), leaf("meaning", 0.25)))
    assert bar(root, 1.0, LANES, 8).plain == "██▓▓····"
    assert bar(root, 0.5, LANES, 8).plain == "████▓▓▓▓"
    assert bar(root, 0.0, LANES, 8).plain == "········"


def test_a_boosted_score_is_split_like_the_sum_it_came_from() -> None:
    fused = Explanation("fuse", 0.5, "sum", (leaf("words", 0.4), leaf("meaning", 0.1)))
    root = Explanation("recency", 0.25, "product", (fused, leaf("factor", 0.5)))
    assert contributions(root) == [("words", 0.2), ("meaning", 0.05)]
    assert contributions(leaf("words", 0.7)) == [("words", 0.7)]


def test_negative_parts_never_draw_backwards() -> None:
    root = Explanation("fuse", 0.5, "sum", (leaf("words", 0.75), leaf("meaning", -0.25)))
    assert len(bar(root, 0.5, LANES, 8).plain) == 8


def test_a_table_shows_rank_score_chips_text_id_and_date(result: Result) -> None:
    text = drawn(HitTable(result))
    assert "  1  " in text
    assert "words#1" in text
    assert "meaning#" in text
    assert "cat · 2026-01-02 · note · #pets" in text
    assert "The cat sleeps on the warm roof" in text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_line_is_wider_than_the_screen(result: Result, width: int) -> None:
    trees = [hit_tree(hit, LANES) for hit in result]
    for what in (HitTable(result), plan_tree(result.plan), *trees):
        assert all(len(line) <= width for line in drawn(what, width).splitlines())


def test_an_empty_answer_says_so() -> None:
    memory = memoriter.open(":memory:")
    assert "nothing found" in drawn(HitTable(memory.recall("anything", recipe="lexical")))
    assert "Nothing relevant." in drawn(HitTable(memory.recall("anything")))


def test_a_lane_that_did_not_run_is_named() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("a cat")
    text = drawn(HitTable(memory.recall("cat")))
    assert "degraded" in text
    assert "meaning did not run: " in text


def test_a_tree_tells_counts_down_to_the_word(result: Result) -> None:
    (cat,) = [hit for hit in result if hit.id == "cat"]
    text = drawn(hit_tree(cat, LANES))
    assert "cats in text" in text
    assert "tf 1 · df 2 of 3 records · idf" in text
    assert "7 words" in text
    assert "cosine" in text
    assert "× weight 0.3" in text
    assert "cats ~ cat" in text
    assert "window 1 of 1" in text


def test_a_plan_shows_the_funnel_and_what_is_skipped(result: Result) -> None:
    text = " ".join(drawn(plan_tree(result.plan), 200).split())
    assert "rows left: view 3 → scope 3" in text
    assert "weights words 0.4, kin 0.45, meaning 0.3, moment 0.3" in text
    assert "moment skipped: the question names no time" in text


@pytest.fixture
def moved() -> Result:
    """An answer that boosts, a reranker and an ordering had a hand in."""
    memory = memoriter.open(":memory:", reranker=lambda query, texts: [len(t) for t in texts])
    memory.remember("The cat sleeps on the roof", id="cat", session="s")
    memory.remember("It is warm up there", id="warm", session="s")
    memory.remember("The cat sleeps on a roof", id="copy")
    memory.remember("Roofs of the old town", id="town")
    recipe = recipe_of("memoriter").to_data()
    recipe["pass"][1] = {"head": 2, "rerank": {}}
    recipe["order"] = [{"kind": "mmr"}, {"kind": "collapse"}]
    recipe["final"]["min_score"] = 0.01
    return memory.recall("cat on a roof", recipe=recipe)


def test_a_table_shows_boosts_the_reranker_and_what_was_moved(moved: Result) -> None:
    text = drawn(HitTable(moved, every=True), 200)
    assert "▚ around" in text
    assert "■ rerank" in text
    assert re.search(r"■{20,}.*rerank 26\.000", text)
    assert re.search(r"around \+0\.\d+", text)
    assert re.search(r"rerank #\d( → #\d)?, score [\d.]+ → 26", text)
    assert re.search(r"mmr #\d( → #\d)?, penalty [\d.]+ for similarity to \w+", text)


def test_a_tree_shows_the_lanes_of_a_hit_that_was_scored_again(moved: Result) -> None:
    text = drawn(hit_tree(moved[0], LANES), 120)
    assert "26.000  rerank, the sum of" in text
    assert "words #" in text
    assert ", before" in text
    assert "tf 1" in text


def test_a_plan_shows_every_number_of_passes_boosts_and_orderings(moved: Result) -> None:
    text = " ".join(drawn(plan_tree(moved.plan), 300).split())
    for line in (
        "kind weighted · absent fixed · scale coverage · weights words 0.4, kin 0.45, meaning 0.3, "
        "moment 0.3 · model_weights words 0.2, kin 0.3, meaning 0.6 · boosts echo around who past",
        "around 2 rows shares 0.2 0.1 · words 50",
        "who skipped: the question names no speaker",
        "rerank head 2 · rest below, in its former order · timeout_ms 800 · on_failure keep",
        "mmr 4 rows trade 0.5 · relevance score · head 200 · take 0 · drop False · taken 2",
        "collapse 4 rows by fingerprint · cosine 0.95 · most 1 · keep best · head 1000 · dropped 0",
        "min_score 4 rows min_score 0.01",
    ):
        assert line in text
    for step in moved.plan.steps:
        assert step.name in text


def only_hit(text: str, query: str) -> Hit:
    """The one memory, found by a query."""
    with memoriter.open(":memory:", embedder=None) as memory:
        memory.remember(text)
        return memory.recall(query)[0]


def test_matches_are_marked_by_stem_and_long_texts_are_cut_around_them() -> None:
    text = marked_text(only_hit("All the Cats, sleeping", "cat sleep"), 80)
    assert [text.plain[span.start : span.end] for span in text.spans] == ["Cats", "sleeping"]
    late = marked_text(only_hit("filler " * 50 + "needle at last", "needles"), 40)
    assert late.plain.startswith("…")
    assert "needle" in late.plain
    assert late.cell_len <= 40


def test_wide_letters_are_cut_by_columns_not_by_count() -> None:
    text = marked_text(only_hit("記憶の検索は遅い" * 10, "検索"), 21)
    assert text.cell_len <= 21


def test_text_of_strangers_cannot_steer_the_terminal() -> None:
    assert safe("a\x1b[2Jb\x07\x7f\u202e\tc\n") == "a␛[2Jb␇␡�\tc\n"
    assert one_line(" a\n\tb  c ") == "a b c"
    memory = memoriter.open(":memory:")
    memory.remember(
        "evil \x1b]0;title\x07 text", id="e\u200eid", tags=["t\u202ea"], title="\x9b31m"
    )
    record = memory.get("e\u200eid")
    result = memory.recall("evil")
    for what in (HitTable(result), record_card(record), page_list([record], 1, None)):
        assert not set(drawn(what)) & set("\x1b\x07\x9b\u202e\u200e")


def test_columns_cut_the_wide_one_and_keep_ids_whole() -> None:
    text = drawn(TextColumns(("id", "text"), [("x" * 36, "word " * 50)], wide=1), 80)
    line = text.splitlines()[1]
    assert line.startswith("x" * 36 + "  word")
    assert line.endswith("…")
    assert len(line) == 80


def test_a_card_leaves_out_defaults_and_a_history_shows_changes() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("one", id="a", title="t", metadata={"n": 1})
    memory.update("a", text="two", title=None)
    card = drawn(record_card(memory.get("a")))
    assert '{"n": 1}' in card
    assert "importance" not in card
    drawing = drawn(history_list(memory.history("a")))
    assert drawing.count("version of ") == 2
    assert "two" in drawing
    assert "—" in drawing


def test_links_point_away_or_towards() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("one", id="a")
    memory.remember("two", id="b", supersedes="a")
    assert "→  supersedes  a" in drawn(edge_list(memory.links("b"), "b"))
    assert "←  supersedes  b" in drawn(edge_list(memory.links("a"), "a"))
    assert drawn(edge_list((), "a")) == "no links\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1.000"),
        (0.0312, "0.0312"),
        (-0.5, "-0.500"),
        (1e-6, "1.00e-06"),
        (250.0, "250.0"),
    ],
)
def test_figures_keep_what_matters(value: float, text: str) -> None:
    assert figure(value) == text


def test_plain_values_are_short() -> None:
    assert short({"text": 1.0, "title": 1.0}) == "text title"
    assert short({"words": 0.5, "meaning": 0.25}) == "words 0.5, meaning 0.25"
    assert short(["a", 2]) == "a 2"
    assert short(0.123456) == "0.123"


def test_colours_appear_only_where_asked(result: Result) -> None:
    assert "\x1b[" in drawn(HitTable(result), colours=True)
    assert "\x1b[" not in drawn(HitTable(result))
