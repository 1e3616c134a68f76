"""Tokens on the page, links to another tab, and servers that are empty or gone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.browser.pages import ASKED, Open, hits, settle
from tests.http.live import TENANT, Live, live


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
