"""A real server that answers as it is told: well, wrongly, slowly or not at all."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any, NamedTuple, NoReturn, cast

import pytest

from memoriter.core.errors import Unavailable

KEY = "sk-very-secret-1234567890"
Behaviour = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen = cast("Server", self.server)
        seen.bodies.append(body)
        seen.headers.append(dict(self.headers))
        seen.paths.append(self.path)
        behaviour = seen.script.pop(0) if seen.script else seen.well
        try:
            behaviour(self, body)
        except OSError:
            self.close_connection = True  # the client did not wait

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for field, value in {"Content_Length": str(len(body)), **headers}.items():
            self.send_header(field.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, well: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.well = well
        self.script: list[Behaviour] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.over = threading.Event()
        """Set when the test is over: until then a slow one stays slow."""

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def served(well: Behaviour) -> Iterator[Server]:
    made = Server(well)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.over.set()
    made.shutdown()
    thread.join()
    made.server_close()


def says(status: int, body: bytes = b"{}", **headers: str) -> Behaviour:
    return lambda to, _: to.reply(status, body, **headers)


def hangs_up(to: Handler, _: dict[str, Any]) -> None:
    to.close_connection = True
    to.connection.close()


def silent(to: Handler, _: dict[str, Any]) -> None:
    """Says nothing as long as the test runs: whoever returns has given up."""
    cast("Server", to.server).over.wait()


def drips(to: Handler, _: dict[str, Any]) -> None:
    """A byte now and then, as long as the test runs."""
    to.send_response(200)
    to.send_header("Content-Length", "1000000")
    to.end_headers()
    while not cast("Server", to.server).over.wait(0.05):
        to.wfile.write(b" ")


class Unsent(NamedTuple):
    """A request that was about to be made."""

    key: str
    seconds: float


def unsent(patch: pytest.MonkeyPatch, client: ModuleType) -> list[Unsent]:
    """Requests of a client, with the key and the patience they have; none of them is sent."""
    requests: list[Unsent] = []

    def stopped(server: object, key: str, seconds: float, tries: int) -> NoReturn:
        requests.append(Unsent(key, seconds))
        raise Unavailable(f"{server} would be asked, {tries} times at most")

    patch.setattr(client, "Post", stopped)
    return requests
