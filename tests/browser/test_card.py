"""A saved answer and a notebook in a real browser: they draw what the page draws, by its module."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser.chrome import Browser, Tab
from tests.browser.conftest import EVIL, fill

import memoriter
from memoriter.doors.mcp.card import card_html
from memoriter.memory.facade import Memory
from memoriter.text.figures import figure
from memoriter.why.drawing import draw_answer, draw_single

QUESTION = "ssh port firewall"


@pytest.fixture(scope="module")
def memory() -> Memory:
    made = memoriter.open(":memory:")
    fill(made)
    return made


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    made = browser.tab()
    yield made
    assert made.refused() == []
    assert made.errors == []
    assert all(each.startswith(("file:", "data:", "about:")) for each in made.requests)
    made.close()


def shown(tab: Tab, path: Path, html: str) -> None:
    path.write_text(html, "utf-8")
    tab.open(path.as_uri())
    tab.wait("document.readyState === 'complete' && document.querySelector('memoriter-drawing')")


def inside(tab: Tab, selector: str, at: int = 0) -> list[str]:
    """The texts of elements in the shadow of a card."""
    card = f"document.querySelectorAll('memoriter-drawing')[{at}].shadowRoot"
    return tab.run(
        f"[...{card}.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)"
    )


def test_a_saved_answer_draws_every_hit_with_its_numbers(
    tab: Tab, memory: Memory, tmp_path: Path
) -> None:
    result = memory.recall(QUESTION)
    shown(tab, tmp_path / "answer.html", result.to_html())
    assert inside(tab, ".hit .score") == [figure(hit.score) for hit in result]
    for drawn, text in zip(draw_answer(result)["hits"], inside(tab, ".sum"), strict=True):
        assert text.endswith(f" = {drawn['total']}")
    assert not tab.run("document.querySelector('memoriter-drawing table').checkVisibility()")
    tab.run(
        "document.querySelector('memoriter-drawing').shadowRoot"
        ".querySelectorAll('details').forEach((e) => { e.open = true; })"
    )
    tab.wait("document.querySelector('memoriter-drawing').shadowRoot.querySelector('.joined line')")
    assert inside(tab, ".funnel .chip")
    ground = tab.run(
        "getComputedStyle(document.querySelector('memoriter-drawing')).backgroundColor"
    )
    tab.scheme("dark")
    dark = tab.run("getComputedStyle(document.querySelector('memoriter-drawing')).backgroundColor")
    assert ground != dark


def test_what_a_stranger_wrote_stays_text_in_a_saved_answer(
    tab: Tab, memory: Memory, tmp_path: Path
) -> None:
    result = memory.recall("ssh onerror alert", 20)
    assert any(EVIL[:20] in hit.record.text for hit in result)
    shown(tab, tmp_path / "evil.html", result.to_html())
    assert any("<img src=x onerror=alert(1)>" in text for text in inside(tab, ".hit .text"))
    assert not inside(tab, "img, script")
    assert tab.run("document.querySelectorAll('img').length") == 0
    assert not set("".join(inside(tab, "*"))) & set("\u202e\u2066\u200f")


def test_cells_of_a_notebook_stand_beside_each_other(
    tab: Tab, memory: Memory, tmp_path: Path
) -> None:
    result = memory.recall(QUESTION)
    cells = [
        result._repr_html_(),
        result[0]._repr_html_(),
        str(result[0].explanation._repr_html_()),
        str(result.plan._repr_html_()),
    ]
    document = f"<!doctype html><p id='cell'>a cell</p>{''.join(cells)}"
    shown(tab, tmp_path / "notebook.html", document)
    assert len(inside(tab, ".hit")) == len(result)
    assert inside(tab, ".hit .score", 1) == [figure(result[0].score)]
    assert inside(tab, ".why h3", 1)[0] == "The score"
    assert inside(tab, "[data-total]", 2) == [figure(result[0].explanation.value)]
    assert len(inside(tab, ".funnel li", 3)) > 10
    # A cell that is put in later, as notebooks do, finds the element defined already.
    tab.run(
        "document.body.insertAdjacentHTML('beforeend', "
        "document.querySelectorAll('memoriter-drawing')[1].outerHTML)"
    )
    assert inside(tab, ".hit .score", 4) == [figure(result[0].score)]
    # The style of a card ends with the card.
    assert tab.run("getComputedStyle(document.getElementById('cell')).fontSize") == "16px"


def test_where_scripts_are_blocked_a_table_is_seen(
    tab: Tab, memory: Memory, tmp_path: Path
) -> None:
    result = memory.recall(QUESTION)
    tab.ask("Emulation.setScriptExecutionDisabled", value=True)
    shown(tab, tmp_path / "blocked.html", result.to_html())
    text = tab.run("document.body.innerText")
    assert result[0].record.text in text
    assert figure(result[0].score) in text
    assert "{" not in text.split("\n", 1)[0]  # the data of the drawing is not shown
    tab.ask("Emulation.setScriptExecutionDisabled", value=False)
    tab.run("window.refusedByPolicy = []")


def test_the_card_of_mcp_draws_an_answer_and_a_hit(
    tab: Tab, memory: Memory, tmp_path: Path
) -> None:
    path = tmp_path / "card.html"
    path.write_text(card_html(), "utf-8")
    tab.open(path.as_uri())
    tab.wait("document.getElementById('card') && document.readyState === 'complete'")
    result = memory.recall(QUESTION)
    for drawing, count in ((draw_answer(result), len(result)), (draw_single(result[0]), 1)):
        message = {
            "jsonrpc": "2.0",
            "method": "ui/notifications/tool-result",
            "params": {"_meta": {"memoriter/drawing": drawing}},
        }
        tab.run(f"window.postMessage({json.dumps(message)}, '*')")
        tab.wait(f"document.querySelectorAll('#card .hit').length === {count}")
