"""A real browser, driven through its debugging pipe: no port, no driver, no further package.

Chromium reads commands from descriptor 3 and writes to 4, as JSON that ends with a NUL (the
DevTools protocol). `Browser` starts one, `Tab` is a page in it.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

INSTALL: Final = "apt-get install -y --no-install-recommends chromium-headless-shell"
NAMES: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE: Final = 60.0
"""Seconds until a page that does not do what a test waits for is given up; no test measures it."""
_KEYS: Final = {"Enter": ("Enter", 13, "\r"), "Tab": ("Tab", 9, ""), "Space": (" ", 32, " "),
                "ArrowRight": ("ArrowRight", 39, ""), "Escape": ("Escape", 27, ""),
                "Home": ("Home", 36, ""), "End": ("End", 35, "")}  # fmt: skip
WATCH: Final = """
window.refusedByPolicy = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.refusedByPolicy.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


def browser_path() -> str | None:
    """The browser of this machine; MEMORITER_BROWSER names another."""
    named = os.environ.get("MEMORITER_BROWSER")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


class Navigated(Exception):
    """The page went to another document before it could answer."""


class Browser:
    """A running browser with a profile of its own."""

    def __init__(self, path: str) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="memoriter-browser-")
        commands, self._out = os.pipe()
        self._in, answers = os.pipe()
        # Out of the way of 3 and 4, which they become in the browser.
        high = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 64) for each in (commands, answers)]
        quiet = os.open(os.devnull, os.O_RDWR)
        places = ((quiet, 0), (quiet, 1), (quiet, 2), (high[0], 3), (high[1], 4))
        self._pid = os.posix_spawn(
            path,
            [path, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, own, there) for own, there in places],
        )
        for each in (commands, answers, *high, quiet):
            os.close(each)
        self._replies: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._tabs: dict[str, Tab] = {}
        self._number = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        rest = b""
        while part := os.read(self._in, 1 << 16):
            *messages, rest = (rest + part).split(b"\0")
            for each in map(json.loads, messages):
                if "id" in each:
                    self._replies[each["id"]].put(each)
                elif (tab := self._tabs.get(each.get("sessionId", ""))) is not None:
                    tab.noted(each["method"], each["params"])

    def ask(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """The result of a command."""
        with self._lock:
            self._number += 1
            number = self._number
            self._replies[number] = queue.Queue()
            message = {"id": number, "method": method, "params": params}
            if session is not None:
                message["sessionId"] = session
            os.write(self._out, json.dumps(message).encode() + b"\0")
        reply = self._replies[number].get(timeout=PATIENCE)
        del self._replies[number]
        if "navigated" in reply.get("error", {}).get("message", ""):
            raise Navigated(method)
        assert "error" not in reply, (method, reply["error"])
        return reply["result"]

    def tab(self) -> Tab:
        """A new page, in a context of its own: no storage is shared with another."""
        context = self.ask("Target.createBrowserContext")["browserContextId"]
        return self.tab_in(context)

    def tab_in(self, context: str) -> Tab:
        """A new page that shares its storage with those of the same context."""
        made = self.ask("Target.createTarget", url="about:blank", browserContextId=context)
        attached = self.ask("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        tab = Tab(self, attached["sessionId"], made["targetId"], context)
        self._tabs[attached["sessionId"]] = tab
        tab.prepare()
        return tab

    def close(self) -> None:
        """End the browser and remove its profile."""
        with contextlib.suppress(OSError, AssertionError, queue.Empty):
            self.ask("Browser.close")
        os.waitpid(self._pid, 0)
        for descriptor in (self._in, self._out):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        shutil.rmtree(self._profile.name, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._profile.cleanup()


class Tab:
    """A page: what it shows, what it was asked to do, and what went wrong in it."""

    def __init__(self, browser: Browser, session: str, target: str, context: str) -> None:
        self._browser = browser
        self._session = session
        self._target = target
        self._context = context
        self.errors: list[str] = []
        """Messages of the console of level error, and exceptions that nobody caught."""
        self.requests: list[str] = []
        """The address of every request."""

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command to this page."""
        return self._browser.ask(method, self._session, **params)

    def beside(self) -> Tab:
        """Another tab of the same window."""
        return self._browser.tab_in(self._context)

    def close(self) -> None:
        """Close it."""
        self._browser.ask("Target.closeTarget", targetId=self._target)

    def prepare(self) -> None:
        """Report what happens in it."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Page.addScriptToEvaluateOnNewDocument", source=WATCH)

    def noted(self, method: str, params: dict[str, Any]) -> None:
        """Remember an event."""
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:600])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(json.dumps(params["args"])[:600])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")

    # -- doing ---------------------------------------------------------------------------------

    def open(self, url: str) -> None:
        """Go to an address."""
        self.ask("Page.navigate", url=url)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited."""
        made = self.ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in made, (script, made["exceptionDetails"])
        return made["result"].get("value")

    def wait(self, script: str) -> Any:
        """The value of an expression as soon as it is true."""
        end = time.monotonic() + PATIENCE
        tried = (
            f"try {{ const v = {script}; return v instanceof Node || v }} catch {{ return null }}"
        )
        while not (value := self._now(f"(() => {{ {tried} }})()")):
            late = time.monotonic() > end
            assert not late, (script, self.errors, self.run("document.body.innerText")[:2000])
            time.sleep(0.03)
        return value

    def _now(self, script: str) -> Any:
        """The value of an expression; None while another document is being loaded."""
        try:
            return self.run(script)
        except Navigated:
            return None

    def reload(self) -> None:
        """Load the page anew, and wait for the new document."""
        self.run("window.before = true")
        self.ask("Page.reload")
        self.wait("!window.before")

    def sees(self, text: str) -> None:
        """Wait until the page shows a text."""
        self.wait(f"document.body.innerText.includes({json.dumps(text)})")

    def click(self, selector: str) -> None:
        """Click the first element that a selector names, once there is one."""
        self.wait(f"document.querySelector({json.dumps(selector)})")
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key."""
        name, code, text = _KEYS[key]
        common = {"key": name, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 * shift}
        self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.ask("Input.insertText", text=text)

    def fill(self, selector: str, text: str) -> None:
        """Replace the value of a field."""
        self.wait(f"document.querySelector({json.dumps(selector)})")
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")
        self.run("document.activeElement.select?.()")
        self.type(text)

    def drop(self, selector: str, path: Path) -> None:
        """Choose a file in a field for files."""
        root = self.ask("DOM.getDocument")["root"]["nodeId"]
        node = self.ask("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.ask("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    # -- looking -------------------------------------------------------------------------------

    def size(self, width: int, height: int, scale: float = 1.0) -> None:
        """Set the size of the window."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=scale, mobile=False)  # fmt: skip

    def scheme(self, name: str) -> None:
        """Prefer light or dark."""
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.ask("Emulation.setEmulatedMedia", features=features)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Save what it shows as a PNG file."""
        made = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(made["data"]))

    def refused(self) -> list[str]:
        """What its content policy refused."""
        return self.run("window.refusedByPolicy")

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that a selector names."""
        return self.run(
            f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.innerText)"
        )


@contextlib.contextmanager
def running(path: str) -> Iterator[Browser]:
    """A browser that ends with the block."""
    browser = Browser(path)
    try:
        yield browser
    finally:
        browser.close()
