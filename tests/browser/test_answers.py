"""An answer on the page: what it shows is what the library says."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.browser.conftest import EVIL
from tests.browser.pages import ASKED, QUESTION, Open, hits, panel, settle
from tests.http.live import TENANT, live

from memoriter.memory.facade import Memory
from memoriter.text.figures import figure


def test_an_answer_is_that_of_the_library(opened: Open, memory: Memory) -> None:
    tab = opened()
    tab.fill('input[name="q"]', QUESTION)
    tab.press("Enter")
    result = memory.recall(QUESTION)
    assert hits(tab) == [hit.id for hit in result]
    assert tab.texts(".hit .score") == [figure(hit.score) for hit in result]
    assert [int(rank) for rank in tab.texts(".hit .rank")] == [hit.rank for hit in result]
    marked = tab.run(
        "[...document.querySelectorAll('[data-id=\"staging\"] .text mark')].map((e) => e.innerText)"
    )
    assert marked == ["firewall", "ssh"]
    rows = {step.name: step.rows for step in result.plan.steps if step.rows is not None}
    shown = tab.texts(".funnel li")
    for name, count in rows.items():
        assert name == "select" or any(
            line.split("\n")[0] == name and str(count) in line for line in shown
        ), name
    assert any("did not run: the question names no time" in line for line in shown)


def test_the_parts_add_up_as_they_are_shown(opened: Open) -> None:
    tab = opened(ASKED)
    sums = tab.run(
        "[...document.querySelectorAll('.sum')].map((e) => "
        "[[...e.querySelectorAll('[data-part]')].map((p) => p.dataset.part), "
        "e.querySelector('[data-total]').dataset.total])"
    )
    assert len(sums) > 3
    for parts, total in sums:
        assert sum(map(Decimal, parts)) == Decimal(total)
    tab.click(".why-of > summary")
    tab.wait("document.querySelector('.tree')")
    nodes = tab.run(
        "[...document.querySelectorAll('.tree li[data-op=\"sum\"]')].map((e) => "
        "[e.querySelector('[data-value]').dataset.value, "
        "[...e.querySelectorAll(':scope > details > ul > li')].map((p) => "
        "p.querySelector('[data-value]').dataset.value)])"
    )
    assert len(nodes) > 2
    for total, parts in nodes:
        assert sum(map(Decimal, parts)) == Decimal(total)
    tab.run("document.querySelectorAll('.tree details').forEach((e) => { e.open = true; })")
    text = tab.run("document.querySelector('.why').innerText")
    for word in ("tf", "df", "idf", "length", "cosine", "how rare the word is", "rank"):
        assert word in text
    assert tab.run("document.querySelectorAll('.joined line').length") > 0
    assert tab.run("document.querySelectorAll('.journey circle').length") > 2


def test_only_the_path_that_lifted_a_hit_is_drawn(opened: Open) -> None:
    tab = opened(f"{ASKED}&recipe=linked&hit=door")
    tab.wait("document.querySelector('[data-id=\"door\"] .chain')")
    label = tab.run(
        "document.querySelector('[data-id=\"door\"] .chain').getAttribute('aria-label')"
    )
    assert "port-new" in label
    assert "related_to" in label


def test_why_not_names_the_stage_and_one_click_applies_the_change(
    opened: Open, memory: Memory
) -> None:
    tab = opened(ASKED)
    before = hits(tab)
    assert "port-old" not in before
    panel(tab, "why-not")
    tab.fill('[data-panel="why-not"] input', "port-old")
    tab.press("Enter")
    tab.wait("document.querySelector('.obstacle')")
    why = memory.why_not(memory.recall(QUESTION), "port-old")
    assert tab.texts("[data-stage]") == [why.stage]
    assert why.reason in tab.run("document.querySelector('.obstacle').innerText")
    assert tab.run("document.querySelector('.funnel .stopped .chip').innerText") == "hidden"
    tab.click(".obstacle button")
    tab.wait("document.querySelector('.side')")
    after = memory.recall(QUESTION, **why.changed({}))
    assert hits(tab) == [hit.id for hit in after]
    assert "port-old" in hits(tab)
    lists = tab.run(
        "[...document.querySelectorAll('.side .pair ol')].map((e) => e.childElementCount)"
    )
    assert lists == [len(before), len(after)]
    assert "port-old entered at #" in tab.run("document.querySelector('.side').innerText")
    assert "what changed is recipe" in tab.run("document.querySelector('.side h2').innerText")


@pytest.mark.parametrize(
    "ask",
    [
        {"tags": ["security"]},
        {"agent": "scout"},
        {"tags": ["security"], "where": {"kind": "fact"}, "agent": "nobody", "limit": 1},
        {"where": {"kind": "fact"}, "as_of": "2020-01-01", "recipe": "mentisdb"},
    ],
)
def test_a_change_lets_a_memory_in_whatever_kept_it_out(
    opened: Open, memory: Memory, ask: dict[str, Any]
) -> None:
    named = {**ask, **({"where": json.dumps(ask["where"])} if "where" in ask else {})}
    named |= {"tags": ",".join(ask["tags"])} if "tags" in ask else {}
    more = "".join(f"&{key}={quote(str(value))}" for key, value in named.items())
    tab = opened(f"{ASKED}{more}&not=staging")
    tab.wait("document.querySelector('.obstacle button')")
    tab.click(".obstacle button")
    tab.wait("document.querySelector('.side')")
    why = memory.why_not(memory.recall(QUESTION, **ask), "staging")
    result = memory.recall(QUESTION, **why.changed(ask))
    assert hits(tab) == [hit.id for hit in result]
    assert hits(tab).index("staging") + 1 == why.rank_then
    tab.reload()
    tab.wait("document.querySelector('.side')")
    assert hits(tab) == [hit.id for hit in result]


def test_panels_show_the_answer_that_is_shown(opened: Open, memory: Memory) -> None:
    tab = opened(f"{ASKED}&open=receipt.block&budget=61")
    tab.wait("document.querySelector('.block')")
    block = memory.recall(QUESTION, budget_tokens=61).context()
    assert tab.run("document.querySelector('.block').textContent") == str(block)
    digest = tab.texts(".digest")
    for _ in range(3):  # open, close, open, before the first set is there
        tab.run("document.querySelector('[data-panel=\"what-if\"] > summary').click()")
    path = "pass.0.fuse.weights.kin"
    slider = f'input[type="range"][data-path="{path}"]'
    tab.wait(f"document.querySelector('{slider}')")
    assert tab.run("document.querySelectorAll('.sliders').length") == 1
    tab.run(f"document.querySelector('{slider}').focus()")
    tab.press("Home")
    tab.wait(f"document.querySelector('.digest').innerText !== {digest[0]!r}")
    changed = memory.recall(QUESTION, budget_tokens=61, overrides={path: 0.0}).context()
    tab.wait(f"document.querySelector('.block').textContent === {json.dumps(str(changed))}")
    tab.run("location.hash = '#/memory/port-old'")
    tab.wait("document.querySelector('a[href*=\"not=\"]')")
    tab.click('a[href*="not="]')
    tab.wait("document.querySelector('.obstacle')")
    tab.run("location.hash = '#/memory/note-1'")
    tab.wait("document.querySelector('a[href*=\"not=note-1\"]')")
    assert tab.run("document.querySelector('a[href*=\"not=\"]').href.split('not=').length") == 2
    tab.run("location.hash = '#/memory/staging'")
    tab.wait("document.querySelector('a[href*=\"hit=staging\"]')")
    tab.click('a[href*="hit=staging"]')
    tab.wait("document.querySelector('[data-id=\"staging\"] .why')")


@pytest.mark.parametrize(
    "address",
    ["#/ask?q=ssh", "#/memory?tags=", "#/memory/evil {}", "#/agents", "#/health", "#/ask?q={}"],
)
def test_what_a_stranger_wrote_is_shown_as_text(opened: Open, address: str) -> None:
    tab = opened(address.replace("{}", quote(EVIL[:60], safe="")).replace("evil ", "evil%20"))
    settle(tab)
    tab.run("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    # Every panel has its content, and what a panel says to a screen reader comes last.
    tab.wait("!/Looking …|Loading …/.test(document.body.innerText)")
    if tab.run("!!document.querySelector('[data-panel=versus] select')"):
        tab.wait(
            "document.querySelector('.separation') && document.getElementById('news').textContent"
        )
    assert tab.run("document.querySelectorAll('main img, main script, main iframe').length") == 0
    text = tab.run("document.body.textContent")
    assert not set(text) & set("\u202e\u2066\u200f")
    assert "<img src=x onerror=alert(1)>" in text or address == "#/health"
    wide = tab.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0


def test_two_hits_are_compared_part_by_part_and_the_differences_add_up(
    opened: Open, memory: Memory
) -> None:
    tab = opened(ASKED)
    panel(tab, "versus")
    tab.wait("document.querySelector('.separation')")
    result = memory.recall(QUESTION)
    compared = result[0].versus(result[1])
    shown = tab.run("[...document.querySelectorAll('[data-gap]')].map((e) => e.dataset.gap)")
    assert shown == [part.texts[2] for part in compared.parts]
    total = tab.run("document.querySelector('[data-gap-total]').dataset.gapTotal")
    assert sum(map(Decimal, shown)) == Decimal(total)
    assert tab.texts(".separation p b") == [compared.summary]
    tab.run(
        "(() => { const pick = document.querySelectorAll('[data-panel=versus] select')[1];"
        " pick.value = 'door'; pick.form.requestSubmit(); })()"
    )
    tab.wait("document.querySelector('.separation').innerText.includes('that of door')")
    tab.reload()
    tab.wait("document.querySelector('.separation')")
    assert "that of door" in tab.texts(".separation p b")[0]


def test_the_block_of_a_prompt_has_the_remarks(opened: Open, memory: Memory) -> None:
    question = "When did Zebulon move the ssh port?"
    tab = opened(f"#/ask?q={quote(question)}&open=block")
    tab.wait("document.querySelector('.block')")
    remarks = list(memory.recall(question).remarks)
    assert "no memory mentions Zebulon" in remarks
    assert tab.texts(".remark") == remarks


def test_the_block_of_a_prompt_has_its_tokens(opened: Open, memory: Memory) -> None:
    tab = opened(ASKED)
    panel(tab, "block")
    tab.wait("document.querySelector('.block')")
    block = memory.recall(QUESTION, budget_tokens=500).context()
    assert tab.run("document.querySelector('.block').textContent") == str(block)
    assert f"{block.tokens} tokens" in tab.run(
        "document.querySelector('[data-panel=block]').innerText"
    )


def test_an_answer_without_a_lane_says_which_and_one_without_a_hit_says_so(opened: Open) -> None:
    with live(opening={"embedder": None}) as plain:
        plain.server_state.tenants.memory(TENANT).remember("a cat sleeps", id="cat")
        tab = opened("#/ask?q=cat&mode=hybrid", where=plain)
        tab.wait("document.querySelector('.answer .bad')")
        assert "meaning did not run: " in tab.texts(".answer .bad")[1]
        assert tab.run("document.querySelectorAll('.funnel .missed').length") == 2
        tab.run("location.hash = '#/ask?q=zebra&recipe=lexical'")
        tab.wait("document.querySelector('.verdict')")
        assert tab.texts(".verdict") == ["nothing found"]


def test_only_what_moved_is_marked_and_what_left_is_named(
    opened: Open, memory: Memory, tmp_path: Path
) -> None:
    before = memory.recall(QUESTION)
    least = before[1].score
    cut = {"final.min_score": least}
    after = memory.recall(QUESTION, overrides=cut)
    tab = opened(f"{ASKED}&o={quote(json.dumps(cut))}")
    tab.wait("document.querySelector('[data-gone]')")
    gone = [hit.id for hit in before if hit.id not in {each.id for each in after}]
    assert gone
    assert gone == tab.run(
        "[...document.querySelectorAll('[data-gone]')].map((e) => e.dataset.gone)"
    )
    assert tab.texts("[data-gone] .moved")[0] == f"left, was #{len(after) + 1}"
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    before.receipt.save(one)
    same = memory.recall(QUESTION, overrides={"pass.0.fuse.weights.meaning": 0.31})
    assert [hit.id for hit in same] == [hit.id for hit in before]
    same.receipt.save(two)
    tab.run("location.hash = '#/prove'")
    tab.wait("document.querySelector('.drop + .drop')")
    tab.drop(".drop input", one)
    tab.wait("document.querySelector('[data-replayed]')")
    tab.drop(".drop + .drop input", two)
    tab.wait("document.querySelector('.side')")
    assert tab.run("document.querySelectorAll('.side .pair .moved').length") == 0
    assert tab.texts(".side h2") == ["Compared: what changed is recipe"]


def test_the_line_above_what_has_no_evidence_comes_once_and_below_what_has(opened: Open) -> None:
    tab = opened("#/ask")
    shown = tab.run(
        "import('/page/drawing.js').then(({ answer }) => {"
        " const hit = (strength, rank) => ({ id: String(rank), rank, strength, score: '1',"
        "  total: '1', bar: [], sum: [], title: [], text: [], about: [], superseded_by: [] });"
        " const hits = ['strong', 'none', 'weak', 'none', 'none'].map(hit);"
        " const made = answer({ title: '', missing: [], remarks: [], apart: 'apart', hits });"
        " return [...made.querySelectorAll('.apart, .hit')].map((e) =>"
        "  e.dataset.id ?? e.textContent); })"
    )
    assert shown == ["0", "1", "2", "apart", "3", "4"]
