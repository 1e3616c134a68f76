"""What tests of the page share: where they begin, and what they read from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

from tests.browser.chrome import Tab

Open = Callable[..., Tab]

ASKED = "#/ask?q=ssh%20port%20firewall"

QUESTION = "ssh port firewall"

CHANGED = f"{ASKED}&change={quote(json.dumps({'overrides': {'select.superseded': 'show'}}))}"

VIEWS = (
    ASKED, CHANGED, "#/ask", "#/memory", "#/memory/port-new", "#/add", "#/agents", "#/reflections",
    "#/health", "#/prove", "#/nowhere",
)  # fmt: skip


def hits(tab: Tab) -> list[str]:
    tab.wait("document.querySelector('.hit')")
    return tab.run("[...document.querySelectorAll('.hit')].map((e) => e.dataset.id)")


def settle(tab: Tab) -> None:
    tab.wait("!document.querySelector('[aria-busy]') && !document.querySelector('.loading')")


def panel(tab: Tab, name: str) -> None:
    tab.click(f'[data-panel="{name}"] > summary')


HOLD = """(() => { const real = window.fetch; window.held = []; window.holding = %s;
 window.flying = 0;
 window.fetch = async (url, options) => {
  if (window.holding && String(url).includes(window.holding)) {
   window.holding = ''; await new Promise((go) => window.held.push(go)); }
  window.flying += 1;
  try { return await real(url, options); } finally { window.flying -= 1; } }; })()"""

"""Holds back the next request to an address until `window.held[0]()`; `flying` are under way."""
