"""The answer as a file or a cell of a notebook: it adds up, escapes everything, fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any, cast

import pytest

import memoriter
from memoriter.core.errors import NothingToRun
from memoriter.core.explanation import Explanation, contributions
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import library, recipe_of
from memoriter.text.figures import figure
from memoriter.why.card import drawing_file
from memoriter.why.drawing import draw_bar
from memoriter.why.hit_text import boosts_of, moves_of, scale_of
from memoriter.why.result import Result

ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "p", "b", "table", "tr", "th", "td",
    "memoriter-drawing", "template", "script",
}  # fmt: skip
DATA, MODULE = "application/json", "module"
EVIL = "\"><script>alert(1)</script><img src=x onerror=y>' & \x1b[31m\u202e"


class Seen(HTMLParser):
    """Every tag, attribute and piece of text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        """What is read where scripts are blocked."""
        self.scripts: dict[str, list[str]] = {DATA: [], MODULE: []}
        self.styles: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside == "script":
            self.scripts[str(self.tags[-1][1]["type"])].append(data)
        elif inside == "style":
            self.styles.append(data)
        else:
            self.text.append(data)

    @property
    def drawing(self) -> dict[str, Any]:
        """What the card draws."""
        [data] = self.scripts[DATA]
        return json.loads(data)


def words_of(value: object) -> str:
    """Every text of a drawing."""
    if isinstance(value, dict):
        return " ".join(map(words_of, cast("dict[str, object]", value).values()))
    if isinstance(value, list):
        return " ".join(map(words_of, cast("list[object]", value)))
    return str(value)


def policy_of(text: str) -> str:
    """How a content policy names a script."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def everything() -> dict[str, Any]:
    """A recipe that does everything that a card can show."""
    data = recipe_of("linked").to_data()
    data["name"] = "everything"
    data["lanes"]["meaning"] = {"kind": "vector", "pool": 100, "min_cosine": 0.0}
    data["boosts"] = {
        "session": {"kind": "session"},
        "recency": {"kind": "recency", "unit": "position"},
    }
    data["pass"] = [
        {"fuse": {"kind": "rrf", "scale": "unit"}, "boosts": ["session"]},
        {"head": 2, "rerank": {}, "boosts": ["recency"]},
    ]
    data["order"] = [{"kind": "mmr", "trade": 0.5}]
    return data


def judge(query: str, texts: list[str]) -> list[float]:
    del query
    return [float(len(text)) for text in texts]


@pytest.fixture
def stored() -> Memory:
    return filled(judge)


def filled(reranker: Any = None) -> Memory:
    memory = memoriter.open(":memory:", reranker=reranker)
    memory.remember("Prod SSH port is 49222 since March", id="port", session="s")
    memory.remember("The firewall knows that", id="wall", session="s")
    memory.remember("SSH port of prod", id="copy")
    memory.remember("keys instead of words", id="keys")
    memory.link("keys", "port", "derived_from")
    return memory


@pytest.fixture
def result(stored: Memory) -> Result:
    return stored.recall("which ssh port", recipe=everything())


def drawings(result: Result) -> list[str]:
    """Everything of an answer that a notebook draws."""
    hit = result[0]
    shown = [hit.explanation, *(lane.why for lane in hit.lanes.values()), result.plan]
    pages = [each._repr_html_() for each in shown]
    assert all(pages)
    return [result.to_html(), result._repr_html_(), hit._repr_html_(), *map(str, pages)]


def test_a_card_runs_one_module_and_has_no_style_attribute_and_no_address(result: Result) -> None:
    for html in drawings(result):
        seen = Seen(html)
        assert not seen.open
        assert {tag for tag, _ in seen.tags} <= ALLOWED
        names = {name for _, attrs in seen.tags for name in attrs}
        assert names <= {"type", "lang", "charset", "http-equiv", "content", "name"}
        assert seen.scripts[MODULE] == [drawing_file("drawing.js")]
        rest = html.replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|url\(|@import|src=|href=", rest)


def test_the_policy_of_a_page_lets_only_its_own_script_and_styles_run(result: Result) -> None:
    seen = Seen(result.to_html())
    [policy] = [a["content"] for t, a in seen.tags if t == "meta" and a.get("http-equiv")]
    hashes = re.findall(r"'sha256-([^']+)'", str(policy))
    assert set(hashes) == set(map(policy_of, (*seen.scripts[MODULE], *seen.styles)))
    assert "unsafe" not in str(policy)
    assert str(policy).startswith("default-src 'none'; ")


def test_what_strangers_wrote_is_escaped_everywhere() -> None:
    memory = memoriter.open(":memory:", reranker=judge)
    names = "<i>&'\""
    memory.remember(
        f"port {EVIL}", id=f"a{names}", title=EVIL, tags=[names], kind=f"k{names}", session="s"
    )
    memory.remember(f"port {EVIL} again", id=f"b{names}", session="s", supersedes=f"a{names}")
    memory.link(f"a{names}", f"b{names}", f"k{names}")
    recipe = everything() | {"select": {"superseded": "show"}}
    result = memory.recall(f"port {EVIL} {names}", recipe=recipe)
    for drawing in drawings(result):
        seen = Seen(drawing)
        assert {tag for tag, _ in seen.tags} <= ALLOWED
        assert not set(drawing) & set("\x1b\u202e")
        assert len(seen.scripts[DATA]) == len(seen.scripts[MODULE]) == 1
        assert not set(seen.scripts[DATA][0]) & set("<>&")
    seen = Seen(result.to_html())
    for text in ("".join(seen.text), words_of(seen.drawing)):
        assert f"a{names}" in text
        assert "<script>alert(1)</script>" in text


def test_the_bar_of_a_hit_adds_up_to_its_score() -> None:
    result = filled().recall("which ssh port")
    best = max(hit.score for hit in result)
    drawn = Seen(result.to_html()).drawing["hits"]
    assert len(drawn) == len(result) > 2
    for each, hit in zip(drawn, result, strict=True):
        widths = [part["width"] for part in each["bar"]]
        assert sum(widths) == pytest.approx(100 * hit.score / best, abs=0.005)
        assert sum(value for _, value in contributions(hit.explanation)) == hit.score
    assert any("around" in part["text"] for each in drawn for part in each["bar"])


def test_data_and_card_tell_the_same(result: Result) -> None:
    drawing = Seen(result.to_html()).drawing
    for hit, drawn in zip(result, drawing["hits"], strict=True):
        assert [(each["stage"], each["rank"]) for each in drawn["journey"]] == list(hit.journey)
        assert [(m["stage"], m["text"]) for m in drawn["moves"]] == list(moves_of(hit))
        chips = [chip["text"] for chip in drawn["chips"]]
        for label, words in boosts_of(hit.explanation, hit.lanes):
            assert f"{label} {words}" in chips
    text = words_of(drawing)
    for word in ("tf 1", "idf", "cosine", "port ←derived_from keys"):
        assert word in text


def test_without_scripts_a_table_shows_every_hit_its_parts_and_its_text(result: Result) -> None:
    text = " ".join("".join(Seen(result.to_html()).text).split())
    drawing = Seen(result.to_html()).drawing
    for hit, drawn in zip(result, drawing["hits"], strict=True):
        assert hit.record.text in text
        assert " + ".join(f"{each['text']} {each['label']}" for each in drawn["sum"]) in text
        assert figure(hit.score) in text


def test_a_rerank_shows_the_score_before_and_after(result: Result) -> None:
    first = result[0]
    words = dict(moves_of(first))["rerank"]
    before, after = first.moves["rerank"]["before"], first.moves["rerank"]["score"]
    assert isinstance(before, float)
    assert after == first.score
    assert re.fullmatch(r"#\d( → #\d)?, score [\d.]+ → [\d.]+", words)
    assert scale_of(first.explanation) == "rerank"
    last = result[len(result) - 1]
    assert scale_of(last.explanation) == "fuse"
    assert "before" not in last.moves["rerank"]


def test_diversity_names_its_penalty_and_who_caused_it() -> None:
    recipe = everything() | {"pass": everything()["pass"][:1]}
    result = filled().recall("which ssh port", recipe=recipe)
    words = [dict(moves_of(hit)).get("mmr", "") for hit in result]
    assert any(re.search(r"penalty [\d.]+ for similarity to \w+", line) for line in words)


def test_an_empty_and_a_degraded_answer_say_so() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("a cat")
    assert "nothing found" in memory.recall("dog", recipe="lexical").to_html()
    assert "it is unknown how relevant these are" in memory.recall("dog").to_html()
    assert "meaning did not run: " in memory.recall("cat").to_html()


def leaf(label: str, value: float) -> Explanation:
    return Explanation(label, value)


def test_what_takes_away_covers_the_end_of_the_bar() -> None:
    root = Explanation("fuse", 0.5, "sum", (leaf("a", 0.75), leaf("b", -0.25)))
    bar = draw_bar(root, 0.75, {"a": 0, "b": 1})
    assert [(each["less"], each["x"], each["width"]) for each in bar] == [
        (False, 0.0, 100.0),
        (True, 66.667, 33.333),
    ]


def test_contributions_go_through_factors_and_the_largest() -> None:
    fused = Explanation("fuse", 0.5, "sum", (leaf("words", 0.4), leaf("meaning", 0.1)))
    lifted = Explanation("boosted", 0.75, "sum", (fused, leaf("session", 0.25)))
    halved = Explanation("boosted", 0.375, "product", (lifted, leaf("intent", 0.5)))
    assert contributions(halved) == [("words", 0.2), ("meaning", 0.05), ("session", 0.125)]
    at_least = Explanation("boosted", 0.9, "max", (halved, leaf("reflection", 0.9)))
    assert contributions(at_least) == [("reflection", 0.9)]
    nothing = Explanation("boosted", 0.0, "product", (leaf("fuse", 0.0), leaf("x", 2.0)))
    assert contributions(nothing) == [("fuse", 0.0)]
    lanes: dict[str, object] = {"words": 1, "meaning": 2}
    assert dict(boosts_of(halved, lanes)) == {"session": "+0.250", "intent": "×0.500"}


def test_an_explanation_shows_every_number_of_its_tree(result: Result) -> None:
    node = result[0].explanation
    text = "".join(Seen(str(node._repr_html_())).text)
    assert f"= {figure(node.value)}" in text
    assert all(part.label in text for part in node.parts)


def test_a_plan_shows_what_runs_with_how_many_rows_and_why_the_rest_does_not(
    stored: Memory,
) -> None:
    plan = stored.recall("which ssh port").plan
    text = "".join(Seen(str(plan._repr_html_())).text)
    for step in plan.steps:
        assert step.name in text or step.name == "select"
        assert step.skipped is None or f"did not run: {step.skipped}" in text
        assert step.rows is None or f"{step.rows} rows" in text


@pytest.mark.parametrize("recipe", sorted(library()))
def test_every_recipe_is_drawn(recipe: str) -> None:
    memory = memoriter.open(":memory:")
    memory.remember("the alpha port is 22", title="alpha")
    try:
        result = memory.recall("alpha port", recipe=recipe)
    except NothingToRun:
        return
    assert result.to_html()
    assert all(hit._repr_html_() for hit in result)
    for hit in result:
        assert all(score.why is None or score.why._repr_html_() for score in hit.lanes.values())
