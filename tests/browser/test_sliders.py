"""Numbers of the recipe on the page: sliders, changes, and the address that keeps them."""

from __future__ import annotations

import json
from typing import Any, cast
from urllib.parse import quote

import pytest
from tests.browser.pages import ASKED, CHANGED, HOLD, QUESTION, Open, hits, panel, settle
from tests.http.live import Live

from memoriter.memory.facade import Memory
from memoriter.text.figures import figure


def test_a_slider_moves_a_rank_and_equals_a_recall_with_the_override(
    opened: Open, memory: Memory
) -> None:
    tab = opened(ASKED)
    first = hits(tab)
    panel(tab, "what-if")
    path = "pass.0.fuse.weights.kin"
    slider = f'input[type="range"][data-path="{path}"]'
    tab.wait(f"document.querySelector('{slider}')")
    tab.run(f"document.querySelector('{slider}').focus()")
    tab.press("Home")
    tab.wait("document.querySelector('.hit .moved')")
    value = float(tab.run(f"document.querySelector('{slider}').value"))
    overrides = {path: value}
    result = memory.recall(QUESTION, overrides=overrides)
    assert hits(tab) == [hit.id for hit in result] != first
    assert tab.texts(".hit .score") == [figure(hit.score) for hit in result]
    assert json.dumps(path) in tab.run("decodeURIComponent(location.hash)")
    assert f"{path}={value:g}" in tab.run("document.querySelector('.copies').textContent")
    tab.reload()
    tab.wait("document.querySelector('.hit .moved')")
    assert hits(tab) == [hit.id for hit in result]
    tab.click(".sliders .actions button")
    tab.wait("!document.querySelector('.hit .moved')")
    assert hits(tab) == first


def test_a_change_and_moved_sliders_are_one_state_with_one_address(
    opened: Open, memory: Memory
) -> None:
    kin, words = "pass.0.fuse.weights.kin", "pass.0.fuse.weights.words"
    moved = {kin: 0.0}
    tab = opened(f"{ASKED}&not=port-old&o={quote(json.dumps(moved))}")
    tab.wait("document.querySelector('.obstacle button')")
    tab.click(".obstacle button")
    tab.wait("document.querySelector('.side')")
    change = memory.why_not(memory.recall(QUESTION, overrides=moved), "port-old").change
    assert change is not None
    overrides = {**moved, **cast("dict[str, Any]", change["overrides"])}

    def equal() -> None:
        result = memory.recall(QUESTION, overrides=overrides)
        scores = ",".join(figure(hit.score) for hit in result)
        shown = "[...document.querySelectorAll('.hit .score')].map((e) => e.innerText).join()"
        tab.wait(f"{shown} === {scores!r}")
        assert hits(tab) == [hit.id for hit in result]

    equal()
    settle(tab)
    inputs = tab.texts(".side .pair + details li")
    assert [line.split(":")[0] for line in inputs if "kin" in line] == []
    slider = f'input[type="range"][data-path="{words}"]'
    tab.run(f"document.querySelector('{slider}').focus()")
    tab.press("Home")
    overrides[words] = 0.0
    equal()
    tab.reload()
    equal()
    tab.click(".side button")
    tab.wait("!document.querySelector('.side')")
    del overrides["select.superseded"]
    equal()


@pytest.mark.parametrize(
    ("recipe", "paths"),
    [
        ("memoriter", ["relevance.weak", "relevance.strong", "relevance.knots.1.0",
                       "relevance.knots.2.0", "relevance.knots.2.1"]),
        ("mentisdb", ["lanes.links.max_depth", "lanes.links.max_visited"]),
    ],
)  # fmt: skip
def test_every_end_of_a_slider_gives_an_answer(
    opened: Open, memory: Memory, recipe: str, paths: list[str]
) -> None:
    tab = opened(f"{ASKED}&recipe={recipe}")
    panel(tab, "what-if")
    overrides: dict[str, Any] = {}
    for path in (*paths, *paths[::-1]):
        slider = f'input[type="range"][data-path="{path}"]'
        tab.wait(f"document.querySelector('{slider}')")
        tab.run(f"document.querySelector('{slider}').closest('details').open = true")
        tab.run(f"document.querySelector('{slider}').focus()")
        before = tab.run("document.querySelector('.sliders').dataset.turn")
        tab.press("Home" if path in overrides else "End")
        tab.wait(f"document.querySelector('.sliders').dataset.turn !== {before!r}")
        overrides[path] = json.loads(tab.run(f"document.querySelector('{slider}').value"))
        assert tab.texts(".problem") == []
        result = memory.recall(QUESTION, recipe=recipe, overrides=overrides)
        assert tab.texts(".hit .score") == [figure(hit.score) for hit in result]


def test_every_number_of_the_recipe_has_a_slider(opened: Open, site: Live) -> None:
    tab = opened(ASKED)
    panel(tab, "what-if")
    tab.wait("document.querySelector('.slider')")
    numbers = site.client("read").get("/v1/recipes/memoriter").json()["numbers"]
    shown = tab.run(
        "[...document.querySelectorAll('.slider [type=range]')].map((e) => e.dataset.path)"
    )
    assert sorted(shown) == sorted(each["path"] for each in numbers)
    assert len(shown) > 50
    assert shown[0].startswith("pass.0.fuse.")
    assert len(tab.texts(".sliders .group[open]")) == 1


def test_an_emptied_number_is_as_the_recipe_has_it(opened: Open) -> None:
    tab = opened(ASKED)
    panel(tab, "what-if")
    path = "final.min_score"
    tab.wait(f"document.querySelector('[data-path=\"{path}\"]')")
    first = tab.run(f"document.querySelector('[data-path=\"{path}\"]').value")
    type_in = (
        "((value) => { const exact = document.querySelector('[data-path=\""
        + path
        + "\"] + input');"
        " exact.value = value; exact.dispatchEvent(new Event('change')); })"
    )
    for undo in (f"{type_in}('')", "document.querySelector('.sliders .actions button').click()"):
        tab.run(f"{type_in}('0.4')")
        tab.wait("location.hash.includes('min_score')")
        tab.run(undo)
        tab.wait("!location.hash.includes('min_score')")
        assert tab.run(f"document.querySelector('[data-path=\"{path}\"]').value") == first


def test_what_if_and_why_not_are_seen_at_once(opened: Open) -> None:
    inside = (
        "(() => { const box = document.querySelector('{}').getBoundingClientRect();"
        " return box.top >= 0 && box.bottom <= innerHeight; })()"
    )
    tab = opened(f"{ASKED}&not=port-old")
    tab.size(1280, 720)
    tab.wait("document.querySelector('.obstacle button')")
    for seen in ('[data-panel="what-if"] > summary', '[data-panel="why-not"] > summary',
                 ".obstacle button"):  # fmt: skip
        tab.wait(inside.replace("{}", seen))
    tab.size(360, 800)
    tab.run("location.hash = '#/memory/port-old'")
    tab.click('a[href*="not=port-old"]')
    tab.wait("document.querySelector('.obstacle button')")
    tab.wait(inside.replace("{}", ".obstacle button"))
    tab.run("scrollTo(0, 0)")
    assert tab.texts(".jumps button") == ["What if", "Why not", "Compare two hits"]
    assert tab.run(inside.replace("{}", ".jumps button"))
    tab.click(".jumps button")
    tab.wait("document.querySelector('[data-panel=what-if] .slider')")
    assert tab.run(inside.replace("{}", '[data-panel="what-if"] > summary'))
    tab.run("document.querySelector('.why-of > summary').click()")
    tab.wait("document.querySelector('.journey')")
    assert tab.run("document.querySelector('.journey').getBoundingClientRect().width") >= 544
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert tab.run(over) <= 0


def test_after_a_change_a_slider_searches_no_more_and_says_that_it_asks(opened: Open) -> None:
    tab = opened(f"{CHANGED}&open=what-if")
    slider = 'input[type="range"][data-path="pass.0.fuse.weights.kin"]'
    tab.wait(f"document.querySelector('{slider}')")
    settle(tab)
    tab.requests.clear()
    tab.run(HOLD % "'v1/what-if'")
    tab.run(f"document.querySelector('{slider}').focus()")
    tab.press("Home")
    tab.wait("window.held.length")
    assert tab.texts(".asking") == ["Asking …"]
    assert tab.run("document.querySelector('.asking').getBoundingClientRect().height") > 10
    assert tab.run("document.querySelector('.hits').ariaBusy") == "true"
    tab.run("window.held[0]()")
    tab.wait("document.querySelector('.hit .moved')")
    settle(tab)
    assert tab.run("document.querySelector('.asking').hidden")
    assert not [each for each in tab.requests if each.endswith("/v1/recall")]
