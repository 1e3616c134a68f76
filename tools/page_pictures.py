"""`python -m tools.page_pictures`: draws the page for README and docs, in a real browser.

A server with the memories of the command line's picture and a few more, the page in it, and three
pictures: light with a why-not, dark with an explanation and a moved slider, narrow. Times of steps
differ from run to run, all else is the same.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from tests.browser.chrome import INSTALL, Tab, browser_path, running

from memoriter.doors.http.app import app
from memoriter.doors.http.limits import Limits
from memoriter.doors.http.page import OneTimeLink
from memoriter.doors.http.serving import ServerConfig, bind_socket, uvicorn_server
from memoriter.doors.http.state import ServerState
from memoriter.doors.tokens import Tokens
from memoriter.memory.facade import Memory
from memoriter.memory.tenants import Tenants
from tools.picture import MEMORIES, QUESTION

FOLDER: Final = Path(__file__).parents[1] / "docs" / "images"
MORE: Final = (
    ("mill", "The old mill by the river rents its garden for parties", "2026-05-02"),
    ("roses", "The roses in our garden need water every evening in July", "2026-06-30"),
    ("niece", "My niece starts school in September", "2026-07-11"),
    ("old-port", "Prod SSH listens on port 22", "2025-11-03"),
)
ASKED: Final = f"#/ask?q={QUESTION}".replace(" ", "+").replace("?", "%3F").replace("%3F", "?", 1)


def main() -> int:
    """Draw all pictures; returns 0, or 1 without a browser."""
    path = browser_path()
    if path is None:
        sys.stderr.write(f"there is no browser: {INSTALL}\n")
        return 1
    with _server() as link, running(path) as browser:
        tab = browser.tab()
        tab.open(link)
        tab.wait("document.querySelector('#views a')")
        _draw(tab)
    return 0


def _draw(tab: Tab) -> None:
    tab.scheme("light")
    tab.size(1360, 940)
    _asked(tab, "&not=old-port")
    tab.wait("document.querySelector('.obstacle')")
    tab.picture(FOLDER / "page-light.png")
    tab.scheme("dark")
    _asked(tab, "&hit=wedding&open=what-if&o=" + quote('{"pass.0.fuse.weights.words": 0.6}'))
    tab.wait("document.querySelector('.joined') && document.querySelector('.slider.changed')")
    tab.wait("!document.querySelector('[aria-busy]')")
    tab.run("document.querySelector('.why').scrollIntoView(); window.scrollBy(0, -150)")
    tab.picture(FOLDER / "page-dark.png")
    tab.scheme("light")
    tab.size(390, 844, 2.0)
    _asked(tab)
    tab.picture(FOLDER / "page-narrow.png")


def _asked(tab: Tab, more: str = "") -> None:
    tab.run(f"location.hash = {ASKED + more!r}")
    tab.wait("!document.querySelector('[aria-busy]') && document.querySelector('.hit')")
    tab.run("window.scrollTo(0, 0)")
    if more:
        tab.run(
            "for (const e of document.querySelectorAll('.tree details')) {"
            " const at = e.querySelector(':scope > summary').innerText;"
            " if (/kin/.test(at)) e.open = true; }"
        )


def _fill(memory: Memory) -> None:
    for id, text, day in (*MEMORIES, *MORE):
        memory.remember(text, id=id, created=day)
    memory.link("port", "old-port", "supersedes")


@contextlib.contextmanager
def _server() -> Iterator[str]:
    """A server with the memories, and the link to its page."""
    config = ServerConfig(port=0, limits=Limits(answer_s=60.0)).checked()
    server_state = ServerState(Tenants(":memory:"), Tokens(), config.limits)
    _fill(server_state.tenants.memory("home"))
    link = OneTimeLink(lambda: server_state.tokens.create("home", "admin")[0])
    ready = threading.Event()
    with bind_socket(config) as listening:
        application = app(server_state, config.host_policy, link=link)
        server = uvicorn_server(application, config, ready.set)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        ready.wait()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/page/#link={link.secret}"
        finally:
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    sys.exit(main())
