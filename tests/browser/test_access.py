"""Everybody can use the page: keyboard, contrast, widths, headings."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest
from tests.browser.conftest import EVIL
from tests.browser.pages import ASKED, QUESTION, VIEWS, Open, hits, panel, settle
from tools.browser import AXE, FETCH


def test_everything_can_be_done_by_keyboard(opened: Open) -> None:
    tab = opened()
    tab.run("document.activeElement.blur()")

    def tab_to(script: str) -> None:
        for _ in range(80):
            tab.press("Tab")
            if tab.run(f"(() => {{ const at = document.activeElement; return {script}; }})()"):
                return
        raise AssertionError(script)

    tab_to("at.name === 'q'")
    tab.type(QUESTION)
    tab.press("Enter")
    hits(tab)
    tab_to("at.matches('.why-of > summary')")
    outline = tab.run("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    tab.press("Enter")
    tab.wait("document.querySelector('.hit .tree')")
    tab_to("at.matches('[data-panel=\"what-if\"] > summary')")
    tab.press("Enter")
    tab.wait("document.querySelector('.slider')")
    tab_to("at.dataset.path === 'pass.0.fuse.weights.kin'")
    tab.press("Home")
    tab.wait("document.querySelector('.hit .moved')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_keeps_anybody_out(opened: Open, scheme: str) -> None:
    if not AXE.exists():
        pytest.skip(f"axe-core is not there: {FETCH}")
    tab = opened()
    tab.scheme(scheme)
    script = AXE.read_text("utf-8")
    long = f"#/memory/{quote(f'evil {EVIL[:60]}', safe='')}"  # over 10,000 characters
    for view in (*VIEWS, long) if scheme == "light" else (ASKED, "#/memory/port-new"):
        tab.run(f"location.hash = {view!r}")
        settle(tab)
        if view == ASKED:
            for name in ("what-if", "why-not", "versus", "block"):
                panel(tab, name)
            tab.run("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
            tab.wait("document.querySelector('.slider') && document.querySelector('.block')")
            tab.wait("document.querySelector('.separation')")
        tab.run(script)
        serious: list[Any] = tab.run(
            "axe.run(document, { resultTypes: ['violations'] }).then((made) => made.violations"
            ".filter((each) => ['serious', 'critical'].includes(each.impact))"
            ".map((each) => [each.id, each.nodes.slice(0, 3).map((n) => n.html.slice(0, 160))]))"
        )
        assert serious == [], (view, scheme)


@pytest.mark.parametrize("width", [360, 1024, 3840])
def test_no_width_cuts_anything_off(opened: Open, width: int) -> None:
    tab = opened()
    tab.size(width, 900)
    for view in VIEWS:
        tab.run(f"location.hash = {view!r}")
        settle(tab)
        tab.run("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        over = tab.run(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert over <= 0, view


def test_every_view_has_one_first_heading_and_leaves_out_no_level(opened: Open) -> None:
    tab = opened(f"{ASKED}&hit=staging")
    for view in (f"{ASKED}&hit=staging", *VIEWS[1:-1]):
        tab.run(f"location.hash = {view!r}")
        settle(tab)
        levels = tab.run(
            "[...document.querySelectorAll('main h1, main h2, main h3, main h4')]"
            ".map((e) => Number(e.tagName[1]))"
        )
        assert levels.count(1) == 1, view
        assert levels[0] == 1, view
        assert [two for one, two in pairwise(levels) if two > one + 1] == [], view
    tab.run("location.hash = '#/health'")
    tab.sees("before")
