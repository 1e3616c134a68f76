"""The page in the browser: its files, which are open, and the link that signs in without a token.

The files hold nothing of anybody; what they show comes through the routes of the operations, with
a token. `memoriter page` makes a link that works once: the page exchanges its secret for a token.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections.abc import Callable
from importlib import resources
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memoriter import __version__
from memoriter.core.clock import Entropy, SystemEntropy
from memoriter.core.errors import InputError, Unauthenticated
from memoriter.doors.http.guards import CREDENTIAL, LINK, PAGE, PAGE_FILES
from memoriter.doors.http.state import ServerState
from memoriter.doors.json_bodies import parse_body, to_json
from memoriter.doors.operations import OPERATIONS

ME: Final = f"{PAGE}me"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""What the page may load and do: nothing but its own files and requests to this server."""
_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
_DEPTH: Final = 2
_SECRET_BYTES: Final = 32


class OneTimeLink:
    """A secret that can be exchanged for a token once."""

    def __init__(self, make_token: Callable[[], str], entropy: Entropy | None = None) -> None:
        self.secret = (entropy or SystemEntropy()).draw(_SECRET_BYTES).hex()
        self._make_token = make_token
        self._used = False
        self._lock = threading.Lock()

    def redeem(self, secret: str) -> str:
        """The token; raises Unauthenticated for a wrong secret, and for the second use."""
        sent, own = (hashlib.sha256(each.encode()).digest() for each in (secret, self.secret))
        with self._lock:
            if not hmac.compare_digest(sent, own) or self._used:
                raise Unauthenticated(
                    "this link was used already, or belongs to another server",
                    hint="run `memoriter page` again: it makes a new link",
                )
            self._used = True
        return self._make_token()


def page_file(name: str) -> bytes:
    """One file of the page; what draws is of the room that decides what is drawn."""
    if name.startswith("drawing."):
        return resources.files("memoriter.why").joinpath(name).read_bytes()
    folder = resources.files("memoriter.doors").joinpath("page")
    return folder.joinpath(name or "index.html").read_bytes()


def page_routes(server_state: ServerState, link: OneTimeLink | None = None) -> list[Route]:
    """The files, the exchange of a link for a token, and what the caller's token allows."""

    async def bare(_: Request) -> Response:
        return RedirectResponse(PAGE, 308)

    async def redeem(request: Request) -> Response:
        if link is None:
            raise Unauthenticated(
                "this server has no sign-in link: only `memoriter page` makes one",
                hint="sign in with a token",
            )
        await server_state.admit(LINK)
        sent = parse_body(await request.body(), _DEPTH)
        secret = sent.get("secret") if isinstance(sent, dict) else None  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]  # JSON
        if not isinstance(secret, str):
            raise InputError(
                "secret: is missing",
                hint='send {"secret": "…"}, the secret in the link',
                field="secret",
            )
        return Response(to_json({"token": link.redeem(secret)}), media_type="application/json")

    async def me(request: Request) -> Response:
        credential = request.scope[CREDENTIAL]
        credential.need("read")
        may = [each.name for each in OPERATIONS if credential.allows(each.right)]
        known = {"tenant": credential.tenant, "right": credential.right, "name": credential.name}
        reply = {**known, "may": may, "version": __version__}
        return Response(to_json(reply), media_type="application/json")

    return [
        Route(PAGE.rstrip("/"), bare, methods=["GET"]),
        *(_file_route(name, media) for name, media in PAGE_FILES.items()),
        Route(LINK, redeem, methods=["POST"]),
        Route(ME, me, methods=["GET"]),
    ]


def _file_route(name: str, media: str) -> Route:
    async def send(_: Request) -> Response:
        return Response(page_file(name), headers=_HEADERS, media_type=media)

    return Route(f"{PAGE}{name}", send, methods=["GET"])
