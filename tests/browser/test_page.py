"""The page in a real browser: what it shows is what the library says, and everything works."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pytest
from tests.browser.chrome import Tab
from tests.browser.conftest import EVIL, MANY
from tests.http.live import TENANT, Live, live
from tools.browser import AXE, FETCH

import memoriter
from memoriter.core.times import iso
from memoriter.memory.facade import Memory
from memoriter.text.figures import figure

Open = Callable[..., Tab]
ASKED = "#/ask?q=ssh%20port%20firewall"
QUESTION = "ssh port firewall"
CHANGED = f"{ASKED}&change={quote(json.dumps({'overrides': {'select.superseded': 'show'}}))}"
VIEWS = (
    ASKED, CHANGED, "#/ask", "#/memory", "#/memory/port-new", "#/add", "#/agents", "#/reflections",
    "#/health", "#/prove", "#/nowhere",
)  # fmt: skip


@pytest.fixture
def memory(site: Live) -> Memory:
    return site.server_state.tenants.memory(TENANT)


def hits(tab: Tab) -> list[str]:
    tab.wait("document.querySelector('.hit')")
    return tab.run("[...document.querySelectorAll('.hit')].map((e) => e.dataset.id)")


def settle(tab: Tab) -> None:
    tab.wait("!document.querySelector('[aria-busy]') && !document.querySelector('.loading')")


def panel(tab: Tab, name: str) -> None:
    tab.click(f'[data-panel="{name}"] > summary')


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


def test_pages_of_memories_have_a_true_total_and_leave_none_out(
    opened: Open, memory: Memory
) -> None:
    tab = opened("#/memory?kind=leaf&sort=oldest")
    seen: list[str] = []
    while True:
        tab.wait("document.querySelector('.records')")
        seen += tab.run("[...document.querySelectorAll('.record')].map((e) => e.dataset.id)")
        total = int(tab.run("document.querySelector('[data-total]').dataset.total"))
        assert total == memory.count(where={"kind": "leaf"}) == MANY
        if not tab.run("document.querySelector('a[rel=\"next\"]') !== null"):
            break
        last = len(seen)
        tab.click('a[rel="next"]')
        tab.wait(f"document.querySelector('[data-total]').innerText.startsWith('{last + 1} to')")
    assert seen == [f"note-{n}" for n in range(MANY)]
    tab.click('a[rel="prev"]')
    tab.wait("document.querySelector('[data-total]').innerText.startsWith('21 to 40')")
    tab.run("location.hash = '#/memory?kind=leaf&from=500'")
    tab.sees(f"Only {MANY} memories: there is none from 501 on.")


def test_a_memory_is_added_edited_linked_expired_and_forgotten(
    opened: Open, memory: Memory
) -> None:
    tab = opened("#/add")
    tab.fill('textarea[name="text"]', "The page wrote this")
    tab.fill('input[name="tags"]', "one, two")
    tab.press("Enter")
    tab.wait("location.hash.startsWith('#/memory/')")
    settle(tab)
    tab.sees("The page wrote this")
    [record] = memory.browse(where={"tags": "two"}).records
    assert record.tags == ("one", "two")

    def do(title: str, field: str, value: str, seen: str) -> None:
        tab.click(f'.doing [data-form="{title}"] > summary')
        tab.fill(f".doing details[open] {field}", value)
        tab.run("document.querySelector('.doing details[open] form').requestSubmit()")
        tab.sees(seen)
        settle(tab)

    do("Edit", "textarea", "The page changed this", "2 versions")
    do("Link", 'input[name="target"]', "port-new", "related_to →")
    do("Expire", 'input[name="at"]', "2099-01-01", "3 versions")
    assert [version.text for version in memory.history(record.id)][-1] == "The page changed this"
    assert [edge.target for edge in memory.links(record.id)] == ["port-new"]


def test_editing_a_field_leaves_the_others_as_they_were(opened: Open, memory: Memory) -> None:
    text = "first line\r\nsecond line"
    memory.remember(text, id="two-lines", tags=["a, b", "c"], importance=0.5)
    tab = opened("#/memory/two-lines")
    tab.click('[data-form="Edit"] > summary')
    tab.fill('[data-form="Edit"] input[name="kind"]', "other")
    tab.press("Enter")
    tab.sees("2 versions")
    record = memory.get("two-lines")
    assert (record.kind, record.text, record.tags) == ("other", text, ("a, b", "c"))
    settle(tab)
    tab.click('[data-form="Edit"] > summary')
    tab.run(
        "(() => { const text = document.querySelector('[data-form=Edit] textarea');"
        " text.value += '!'; text.form.requestSubmit(); })()"
    )
    tab.sees("3 versions")
    assert memory.get("two-lines").text == f"{text}!"
    assert memory.get("two-lines").tags == ("a, b", "c")
    memory.forget("two-lines")


@pytest.mark.parametrize("id", [".", "..", "a/b", "%2E"])
def test_a_memory_opens_whatever_its_id_is(opened: Open, memory: Memory, id: str) -> None:
    memory.remember(f"its id is {id}", id=id, tags=["odd"])
    tab = opened("#/memory?tags=odd")
    tab.click(".record a")
    tab.wait("document.querySelector('.whole')")
    assert tab.texts(".whole") == [f"its id is {id}"]
    tab.click('[data-form="Edit"] > summary')
    tab.fill('[data-form="Edit"] input[name="kind"]', "other")
    tab.press("Enter")
    tab.sees("2 versions")
    assert memory.get(id).kind == "other"
    memory.forget(id)


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


def test_forgetting_names_what_goes_and_asks_first(opened: Open, memory: Memory) -> None:
    memory.remember("A passing thought", id="thought", tags=["thin"])
    memory.update("thought", text="A passing thought, changed")
    memory.link("thought", "door")
    tab = opened("#/memory/thought")
    tab.click(".doing > button.danger")
    tab.wait("document.querySelector('dialog[open]')")
    words = tab.run("document.querySelector('dialog').innerText")
    for word in ("thought", "2 versions", "1 link", "related_to → door", "thought, changed"):
        assert word in words
    tab.run("history.back()")  # another page: its question is no longer asked
    tab.wait("!document.querySelector('dialog')")
    tab.run("history.forward()")
    tab.click(".doing > button.danger")
    tab.wait("document.querySelector('dialog[open]')")
    tab.press("Escape")
    tab.wait("!document.querySelector('dialog')")
    assert memory.get("thought")
    tab.click(".doing > button.danger")
    tab.wait("document.querySelector('dialog[open]')")
    tab.press("Tab")
    tab.press("Enter")
    tab.wait("location.hash === '#/memory'")
    assert not memory.browse(where={"tags": "thin"}).records


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


def test_a_receipt_is_verified_replayed_and_compared(
    opened: Open, memory: Memory, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    memory.recall(QUESTION).receipt.save(one)
    memory.recall(QUESTION, overrides={"select.superseded": "show"}).receipt.save(two)
    forged = tmp_path / "forged.json"
    body = json.loads(one.read_text())
    body["hits"] = body["hits"][::-1]
    forged.write_text(json.dumps(body))
    tab = opened("#/prove")
    tab.drop(".drop input", one)
    tab.wait("document.querySelector('[data-verified=\"true\"]')")
    tab.wait("document.querySelector('[data-replayed=\"true\"]')")
    tab.drop(".drop + .drop input", two)
    tab.wait("document.querySelector('.side')")
    assert "port-old entered at #" in tab.run("document.querySelector('.side').innerText")
    covered = len(memoriter.verify(one).not_covered)
    assert f"Not covered: what no receipt can say: {covered}" in tab.texts(".drop summary")
    assert "does not lead to it" in tab.texts(".drop")[0]
    tab.drop(".drop input", Path(__file__))
    tab.sees("is not JSON")
    tab.wait("!document.querySelector('.side')")
    tab.drop(".drop input", forged)
    tab.wait("document.querySelector('[data-verified=\"false\"]')")


def test_two_receipts_have_a_link(opened: Open, site: Live) -> None:
    tab = opened(f"{ASKED}&not=port-old")
    tab.click(".obstacle button")
    tab.click('.side a[href^="#/prove"]')
    tab.wait("document.querySelector('.view.prove .side')")
    assert "port-old entered at #" in tab.run("document.querySelector('.side').innerText")
    other = tab.beside()
    other.open(f"{site.url}/page/{tab.run('location.hash')}")
    other.wait("document.querySelector('.view.prove .side')")
    assert other.texts(".side li") == tab.texts(".side li")
    handle = other.run("document.querySelector('input[name=and]').value")
    tab.run("location.hash = '#/prove'")
    tab.wait("document.querySelector('input[name=of]') && !document.querySelector('.side')")
    tab.fill("input[name=of]", handle)
    tab.press("Enter")
    tab.wait("document.querySelector('[data-replayed=\"true\"]')")
    assert tab.run("location.hash") == f"#/prove?of={handle}"
    tab.fill("input[name=and]", "0" * 64)
    tab.press("Enter")
    tab.sees("no receipt is kept under")
    assert len(tab.texts("[data-verified]")) == 1
    assert [each.split(" ")[0] for each in tab.errors] == ["Failed"]  # the browser notes the 404
    tab.errors.clear()


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


def test_health_shows_what_repeats_and_what_waits_for_review(opened: Open) -> None:
    with live() as site:
        memory = site.server_state.tenants.memory(TENANT)
        memory.remember("The vault code is 4711", id="rule", trust="system")
        memory.remember("The vault code is 0000", id="web", trust="external")
        memory.link("web", "rule", "contradicts")
        memory.remember("Tea is in the kitchen", id="tea-1")
        memory.remember("tea is in the kitchen.", id="tea-2")
        tab = opened("#/health", where=site)
        assert tab.texts(".copy-groups a") == ["tea-2", "tea-1"]
        assert "waits for a decision" in tab.texts(".waits")[0]
        assert tab.texts('[data-claim="web"] a') == ["web", "rule"]
        tab.run("document.querySelectorAll('[data-claim] button')[1].click()")
        tab.sees("No memory speaks against one that is trusted more")
        tab.sees("Nothing waits")
        assert memory.review() == ()
        for n in range(14):
            memory.remember(f"thing number {n}", kind=f"kind-{n:02}")
        tab.click("main > .view > .actions button")
        tab.sees("0 owed")
        tab.sees("The 12 most frequent of 15.")
        reader = opened("#/health", "read", where=site)
        assert reader.texts(".claims button") == []


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


def test_a_right_decides_what_the_page_offers(opened: Open) -> None:
    tab = opened("#/memory/port-new", "read")
    assert tab.texts("#views a") == ["Ask", "Memories", "Agents", "Reflections", "Health", "Prove"]
    assert tab.texts(".doing button") == []
    assert "may read" in tab.run("document.getElementById('me').innerText")
    writer = opened("#/memory/port-new", "write")
    assert "Forget" in writer.texts(".doing button")


def test_a_link_leads_to_the_same_state_in_another_tab(opened: Open, site: Live) -> None:
    tab = opened(f"{ASKED}&hit=port-new&not=port-old")
    tab.wait("document.querySelector('.obstacle')")
    other = tab.beside()
    other.open(f"{site.url}/page/{tab.run('location.hash')}")
    other.wait("document.querySelector('.obstacle')")
    assert hits(other) == hits(tab)
    tab.click(".obstacle button")
    tab.wait("document.querySelector('.side') && location.hash.includes('change=')")
    third = tab.beside()
    third.open(f"{site.url}/page/{tab.run('location.hash')}")
    third.wait("document.querySelector('.side')")
    assert hits(third) == hits(tab)
    assert other.run("document.querySelector('[data-id=\"port-new\"] .why-of').open")
    assert other.errors == []


def test_signing_out_signs_out_of_every_tab(opened: Open, site: Live) -> None:
    tab = opened()
    other = tab.beside()
    other.open(f"{site.url}/page/#/health")
    other.wait("document.querySelector('#views a')")
    tab.click("#me button")
    other.wait("document.getElementById('token') && !document.querySelector('#views a')")
    assert other.run("sessionStorage.length") == 0


@pytest.mark.parametrize("address", ["#/memory?kind=leaf", "#/health", ASKED])
def test_a_token_that_ends_asks_for_another_and_the_page_goes_on(
    opened: Open, address: str
) -> None:
    with live() as site:
        site.server_state.tenants.memory(TENANT).remember("ssh port firewall", kind="leaf")
        tab = opened("#/agents", where=site)
        for token in site.server_state.tokens.list():
            site.server_state.tokens.revoke(token.id)
        tab.run(f"location.hash = {address!r}")
        tab.wait("document.querySelector('.sign-in .problem')")
        assert tab.texts("#views a") == []
        assert all("Failed to load resource" in each for each in tab.errors)
        tab.errors.clear()
        tab.fill("#token", site.token("read"))
        tab.press("Enter")
        settle(tab)
        tab.wait("document.querySelector('#views a')")
        settle(tab)
        assert tab.run("location.hash") == address
        assert tab.texts(".problem") == []


def test_who_signs_in_next_sees_nothing_of_what_was_asked_before(opened: Open, site: Live) -> None:
    tab = opened(ASKED)
    tab.click("#me button")
    tab.wait("document.getElementById('token')")
    assert "firewall" not in tab.run("location.hash + document.body.textContent")
    tab.fill("#token", site.token("read"))
    tab.press("Enter")
    tab.wait("document.querySelector('#views a')")
    tab.run("location.hash = '#/memory/staging'")
    tab.wait("document.querySelector('.whole')")
    assert "last answer" not in tab.run("document.body.innerText")


def test_a_server_that_is_gone_is_named(opened: Open) -> None:
    with live() as site:
        tab = opened("#/agents", where=site)
    tab.run("location.hash = '#/health'")
    tab.sees("is memoriter still running?")
    assert tab.texts("main button") == ["Try again"]
    tab.errors.clear()


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


@pytest.fixture(scope="module")
def bare() -> Iterator[Live]:
    """A server without a memory, which is stopped by its test."""
    with live() as made:
        yield made


def test_what_is_empty_wrong_or_gone_says_what_to_do_next(opened: Open, bare: Live) -> None:
    tab = opened("#/ask", where=bare)
    tab.sees("Nothing is remembered yet")
    tab.run("location.hash = '#/memory'")
    tab.sees("There is no memory yet")
    tab.run("location.hash = '#/memory?kind=fact'")
    tab.sees("No memory passes these filters")
    tab.run("location.hash = '#/ask?q=x&where=nonsense'")
    tab.sees("the filter is not JSON")
    for address, words in (
        ("#/ask?q=x&recipe=nothing", "known: "),
        ("#/ask?q=x&limit=abc", "is not a whole number"),
        ("#/ask?q=x&open=block&budget=abc", "is not a whole number: abc"),
        ("#/memory?from=abc", "is not a whole number: abc"),
        ("#/memory?from=-1", "is not a whole number: -1"),
        ("#/memory?sort=upwards", "sort"),
        ("#/ask?q=x&o=bad", "in the address cannot be read"),
        ("#/ask?q=x&change=[1]", "in the address cannot be read"),
        ("#/memory/%E0%A4%A", "the address cannot be read"),
        ("#/constructor", "there is no such page"),
    ):
        tab.run(f"location.hash = {address!r}")
        tab.sees(words)
    tab.run("location.hash = '#/memory/nobody'")
    tab.sees("use browse to see the records that exist")
    for token in bare.server_state.tokens.list():
        bare.server_state.tokens.revoke(token.id)
    tab.run("location.hash = '#/health'")
    tab.sees("the token is unknown")
    assert tab.run("document.activeElement.id") == "token"
    # Refusals are in the log of the browser by themselves: it notes every status from 400 on.
    assert all("Failed to load resource" in each for each in tab.errors)
    tab.errors.clear()


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


HOLD = """(() => { const real = window.fetch; window.held = []; window.holding = %s;
 window.flying = 0;
 window.fetch = async (url, options) => {
  if (window.holding && String(url).includes(window.holding)) {
   window.holding = ''; await new Promise((go) => window.held.push(go)); }
  window.flying += 1;
  try { return await real(url, options); } finally { window.flying -= 1; } }; })()"""
"""Holds back the next request to an address until `window.held[0]()`; `flying` are under way."""


def test_a_proof_belongs_to_the_file_that_came_last(
    opened: Open, memory: Memory, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    memory.recall(QUESTION).receipt.save(good)
    bad.write_text('{"hello": 1}')
    tab = opened("#/prove")
    tab.run(HOLD % "'v1/verify'")
    tab.drop(".drop input", good)
    tab.wait("window.held.length")
    tab.drop(".drop input", bad)
    tab.wait("document.querySelector('.drop .bad, .drop .problem')")
    tab.wait("document.querySelector('.drop').innerText.includes('your file bad.json')")
    tab.run("window.held[0]()")
    for _ in range(3):  # what the first file still asks for has come
        tab.run("new Promise((go) => setTimeout(go, 50))")
        tab.wait("window.flying === 0")
    assert tab.run("document.querySelectorAll('[data-verified=true], [data-replayed]').length") == 0
    assert "good.json" not in tab.texts(".drop")[0]
    tab.errors.clear()  # the browser notes that the file was refused


def test_a_file_may_be_dropped_anywhere(opened: Open, memory: Memory) -> None:
    receipts = [memory.recall(QUESTION, limit).receipt.to_bytes().decode() for limit in (2, 3)]
    tab = opened("#/health")
    tab.run(
        f"(() => {{ const files = new DataTransfer(); {json.dumps(receipts)}.forEach((text, at) =>"
        " files.items.add(new File([text], `${at}.json`)));"
        " document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true,"
        " cancelable: true })); })()"
    )
    tab.wait("document.querySelector('.view.prove .side')")
    assert [len(memory.recall(QUESTION, limit)) for limit in (2, 3)] == tab.run(
        "[...document.querySelectorAll('.side .pair ol')].map((e) => e.childElementCount)"
    )


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


def test_a_reflection_is_read_as_its_summary_and_forgetting_names_it(opened: Open) -> None:
    with live() as site:
        memory = site.server_state.tenants.memory(TENANT)
        for n, text in enumerate(
            ("I booked a flight to Lisbon for May", "The flight to Lisbon leaves in May",
             "My hotel in Lisbon is booked for May", "Lisbon trip in May: flight and hotel booked")
        ):  # fmt: skip
            memory.remember(text, id=f"trip-{n}")
        tab = opened("#/reflections", where=site)
        tab.click("main .actions button")
        tab.wait("document.querySelector('dialog[open]')")
        words = tab.run("document.querySelector('dialog').innerText")
        assert "made from 4 memories" in words
        assert "The flight to Lisbon leaves in May" in words
        tab.click("dialog .danger")
        tab.wait("document.querySelector('.record')")
        [made] = memory.browse(where={"kind": "reflection"}).records
        assert made.summary is not None
        assert tab.texts(".record .text") == [made.summary]
        tab.click(".record a")
        tab.wait("document.querySelector('.whole')")
        assert tab.texts(".whole") == [made.summary]
        assert "The flight to Lisbon leaves in May" in tab.run("document.body.innerText")
        tab.run("location.hash = '#/memory/trip-1'")
        tab.sees("consolidated_from")
        tab.click(".doing > button.danger")
        tab.wait("document.querySelector('dialog[open] .goes')")
        assert tab.texts("dialog .goes") == [f"The reflection {made.id} quotes it and goes too."]
        tab.click("dialog .goes a")
        tab.wait("document.querySelector('h1').innerText === 'A reflection'")


def test_a_life_shows_what_changed_and_the_past_stays_the_past(
    opened: Open, memory: Memory
) -> None:
    long = "the same words again and again, " * 20
    memory.remember(f"{long} first", id="life", tags=["old"], kind="lived")
    memory.update("life", tags=["new", "newer"])
    memory.update("life", text=f"{long} second")
    then = memory.history("life")[0].committed
    tab = opened("#/memory/life")
    assert tab.texts(".changes li") == ["changed tags: old → new, newer", "changed text"]
    assert "second" in tab.texts(".versions > li:last-child > .text")[0]
    assert tab.run("[...document.querySelectorAll('.versions details p')].at(-1).textContent") == (
        f"{long} second"
    )
    tab.run(f"location.hash = '#/memory?kind=lived&known_at=' + {iso(then)!r}")
    tab.click(".record a")
    tab.wait("document.querySelector('.as-known')")
    assert tab.texts(".whole")[0].endswith("first")
    assert tab.texts(".doing") == []
    memory.forget("life")


def test_a_form_sends_once_and_takes_numbers_only(opened: Open, memory: Memory) -> None:
    tab = opened("#/add")
    tab.fill('textarea[name="text"]', "sent only once")
    tab.fill('input[name="kind"]', "once")
    tab.fill('input[name="importance"]', "0,9")
    press = "document.querySelector('[data-form=Remember] button').click()"
    tab.run(press)
    if tab.run("document.querySelector('input[name=importance]').value") != "0.9":
        assert tab.run("document.querySelector('input[name=importance]').matches(':invalid')")
        assert memory.count(where={"kind": "once"}) == 0
    tab.fill('input[name="importance"]', "0.9")
    tab.run(f"{press}; {press}")
    tab.wait("location.hash.startsWith('#/memory/')")
    settle(tab)
    [record] = memory.browse(where={"kind": "once"}).records
    assert record.importance == 0.9
    memory.forget(record.id)


def test_signing_in_says_what_is_wrong_and_waits_for_a_tab_that_is_busy(
    opened: Open, site: Live
) -> None:
    tab = opened("#/add", "read")
    tab.sees("this token may read: that is not enough for this page")
    assert tab.texts("form") == []
    tab.run("setTimeout(() => { const end = Date.now() + 600; while (Date.now() < end); })")
    other = tab.beside()
    other.open(f"{site.url}/page/#/agents")
    other.wait("document.querySelector('#views a')")
    assert other.run("location.hash") == "#/agents"
    tab.click("#me button")
    tab.fill("#token", "mem_abc…")
    tab.press("Enter")
    tab.sees("this is not a token")


def test_a_memory_is_found_by_its_text_and_pictures_have_texts(
    opened: Open, memory: Memory
) -> None:
    tab = opened(f"{ASKED}&recipe=linked&hit=door&open=why-not")
    tab.wait("document.querySelector('.stops .named .text')")
    assert memory.get("port-new").text in tab.texts(".stops .named .text")
    for typed in (" port-old ", " Prod SSH listens on port 22"):
        tab.fill('[data-panel="why-not"] input', typed)
        tab.press("Enter")
        tab.wait("document.querySelector('.obstacle')")
        assert tab.run("document.querySelector('[data-panel=why-not] input').value") == "port-old"
        tab.run("document.querySelector('.obstacle').remove()")
    tab.fill('[data-panel="why-not"] input', "listens on port 22")
    tab.press("Enter")
    tab.click(".likely button")
    tab.wait("document.querySelector('.obstacle')")
    tab.fill('[data-panel="why-not"] input', "qqqq")
    tab.press("Enter")
    tab.sees("no memory has the id or the words")
    assert "offers the newest 50" in tab.run("document.querySelector('aside').innerText")


def test_the_link_keeps_every_open_explanation_and_back_leads_to_the_place(opened: Open) -> None:
    tab = opened(ASKED)
    ids = hits(tab)[:2]
    tab.run("document.querySelectorAll('.why-of > summary').forEach((e, n) => n < 2 && e.click())")
    tab.wait("document.querySelectorAll('.why').length === 2 && location.hash.includes('hits=')")
    tab.reload()
    tab.wait("document.querySelectorAll('.why').length === 2")
    assert ids == tab.run(
        "[...document.querySelectorAll('.hit')].filter((e) => e.querySelector('.why'))"
        ".map((e) => e.dataset.id)"
    )
    tab.run("scrollTo(0, 700)")
    tab.click(".hit .about a")
    tab.wait("document.querySelector('.whole')")
    settle(tab)
    assert tab.run("scrollY") == 0
    tab.run("history.back()")
    hits(tab)
    tab.wait("scrollY === 700")


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
