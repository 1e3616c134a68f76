"""Memories on the page: lists, forms, forgetting, health."""

from __future__ import annotations

import pytest
from tests.browser.conftest import MANY
from tests.browser.pages import ASKED, Open, settle
from tests.http.live import TENANT, live

from memoriter.core.times import iso
from memoriter.memory.facade import Memory


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
