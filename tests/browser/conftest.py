"""A browser and a server for all tests of the page; without a browser they are skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.browser.chrome import INSTALL, Browser, Tab, browser_path, running
from tests.http.live import TENANT, Live, live

from memoriter.memory.facade import Memory

EVIL = '"><img src=x onerror=alert(1)><script>alert(2)</script>\u202e\u2066\u200f{{7*7}}&lt;'
"""What somebody may write who wants the page to do something."""
MANY = 47


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = browser_path()
    if path is None:
        pytest.skip(f"there is no browser: {INSTALL}")
    with running(path) as started:
        yield started


@pytest.fixture(scope="module")
def site() -> Iterator[Live]:
    """A server with memories that each show something."""
    with live() as made:
        fill(made.server_state.tenants.memory(TENANT))
        yield made


@pytest.fixture
def memory(site: Live) -> Memory:
    return site.server_state.tenants.memory(TENANT)


@pytest.fixture
def opened(browser: Browser, site: Live) -> Iterator[Callable[..., Tab]]:
    """Opens the page at an address, signed in; afterwards nothing may have gone wrong in it."""
    tabs: list[tuple[Tab, str]] = []

    def open_at(hash: str = "#/ask", right: str = "admin", where: Live | None = None) -> Tab:
        server = where or site
        tab = browser.tab()
        tabs.append((tab, server.url))
        tab.size(1280, 900)
        tab.open(f"{server.url}/page/")
        tab.fill("#token", server.token(right))
        tab.press("Enter")
        tab.wait("document.querySelector('#views a')")
        tab.run(f"location.hash = {hash!r}")
        tab.wait("!document.querySelector('[aria-busy]') && !document.querySelector('.loading')")
        return tab

    yield open_at
    for tab, url in tabs:
        clean(tab, url)
        tab.close()


def clean(tab: Tab, url: str) -> None:
    """Nothing was refused by the policy, logged as an error, or asked of another host."""
    assert tab.refused() == []
    assert tab.errors == []
    strange = [each for each in tab.requests if not each.startswith((url, "data:", "blob:"))]
    assert strange == []


def fill(memory: Memory) -> None:
    memory.remember("Prod SSH listens on port 22", id="port-old", kind="fact", tags=["ops"])
    memory.remember(
        "Prod SSH moved to port 49222 with the new firewall", id="port-new", kind="fact",
        tags=["ops", "security"], supersedes="port-old",
    )  # fmt: skip
    memory.remember("Staging uses the same firewall as production 🔥 ssh", id="staging")
    memory.remember("A shell needs a door in the wall", id="door", agent="scout")
    memory.link("door", "port-new", "related_to")
    for n in range(MANY):
        memory.remember(f"note {n} about gardens and rain", id=f"note-{n}", kind="leaf")
    names = EVIL[:60]
    memory.remember(
        f"ssh {EVIL} " + "long " * 2000, id=f"evil {names}", title=EVIL, kind=f"k{names}",
        tags=[names], agent=f"agent {names}", user=names, session=names, summary=EVIL,
        entities=[names], concepts=[names], trust="external", metadata={names: EVIL},
        source={"who": names, "channel": names, "path": names},
    )  # fmt: skip
    memory.link(f"evil {names}", "port-new", f"k{names}")
    memory.agents.upsert(f"agent {names}", description=EVIL, owner=names, aliases=[names])
