"""Before any route: is the request meant for us, whose is it, and is it small and quick enough?"""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.datastructures import QueryParams
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoriter.core.errors import Forbidden, InputError, TooLarge, TooSlow, Unauthenticated
from memoriter.doors.http.headers import Welcome, announced, bearer, plain_json, twofold, values
from memoriter.doors.http.problems import problem
from memoriter.doors.http.state import ServerState
from memoriter.doors.public import public
from memoriter.doors.tenant_session import of_tenant
from memoriter.doors.tokens import Credential

CREDENTIAL: Final = "memoriter.credential"
"""Where the scope has the credential of the caller."""
OPEN: Final = frozenset({"/healthz"})
"""Paths without a token; they tell nothing of anybody."""
_TENANT_HEADERS: Final = (b"x-tenant", b"x-tenant-id", b"x-memoriter-tenant")
_DRAIN_S: Final = 1.0
_ALWAYS: Final = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


class Guard:
    """An ASGI application around another one; what it lets through carries a credential."""

    def __init__(
        self, inner: ASGIApp, server_state: ServerState, welcome: Welcome | None = None
    ) -> None:
        self._inner = inner
        self._server_state = server_state
        self._welcome = welcome or Welcome()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then hand on."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = _Answer(send)
        try:
            await self._served(scope, receive, answer)
        except Exception as error:
            if answer.ended:  # it was told in an answer, and in the log
                return
            if answer.began:
                raise
            await problem(public(error))(scope, receive, answer)

    async def _served(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        """Check a request, then let it in."""
        if twofold(scope["headers"]):
            answer.more.append((b"connection", b"close"))
            raise _ambiguous()
        origin = self._welcome.check(scope["headers"])
        if origin is not None:
            answer.more += [(b"access-control-allow-origin", origin.encode()), (b"vary", b"Origin")]
            if scope["method"] == "OPTIONS":
                await _preflight(scope, receive, answer)
                return
        self._identified(scope)
        body = await self._body(scope, receive)
        await self._inner(scope, _again(body, receive), answer)

    def _identified(self, scope: Scope) -> None:
        """Put the caller's credential into the scope."""
        # Routes are told by the path as it was sent: a slash inside an id is not one of the path.
        scope["path"] = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        if scope["path"] in OPEN:
            return
        token = bearer(scope["headers"])
        if token is None:
            raise Unauthenticated("a token is needed", hint="send Authorization: Bearer mem_…")
        who = self._server_state.tokens.find(token)
        _own_tenant(scope, who)
        self._server_state.rates.take(who.id)
        scope[CREDENTIAL] = who

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body, if it is small enough and comes in time."""
        limits = self._server_state.limits
        size = announced(scope["headers"])
        if size is not None and size > limits.body:
            await _drained(receive, 4 * limits.body)
            raise _too_large(limits.body)
        try:
            async with asyncio.timeout(limits.arrive_s):
                body = await _read(receive, limits.body)
        except TimeoutError:
            raise TooSlow("the body did not arrive in time", hint="send it at once") from None
        if body:
            plain_json(scope["headers"])
        return body


def _own_tenant(scope: Scope, who: Credential) -> None:
    """A tenant that a header or the query names has to be that of the token."""
    for key, value in QueryParams(scope["query_string"]).multi_items():
        of_tenant(who.tenant, {key: value})
    for name in _TENANT_HEADERS:
        own = who.tenant.encode().decode("latin-1")  # as headers are read
        if any(told != own for told in values(scope["headers"], name)):
            raise Forbidden(
                f"{name.decode()}: this credential is for another tenant",
                hint="leave it out: the tenant comes from the credential",
            )


async def _read(receive: Receive, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise TooSlow("the connection was closed", hint="send the whole request")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            return b"".join(parts)


async def _drained(receive: Receive, limit: int) -> None:
    """Let a sender who sends too much finish, within reason, so that it hears the answer."""
    size = 0
    try:
        async with asyncio.timeout(_DRAIN_S):
            while size <= limit:
                message = await receive()
                size += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        return


def _ambiguous() -> InputError:
    return InputError(
        "the length of the body is told in two ways",
        hint="send Content-Length or Transfer-Encoding",
    )


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"the body is larger than {limit:,} bytes", hint="send less at once")


def _again(body: bytes, receive: Receive) -> Receive:
    """The body that was read, once; then whatever the connection says."""
    told = False

    async def once() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once


class _Answer:
    """Where an answer goes: it gets the headers that all have, and it is known how far it came."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.more = list(_ALWAYS)
        self.began = self.ended = False

    async def __call__(self, message: Message) -> None:
        """Send one part."""
        self.began = True
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *self.more]}
        await self._send(message)
        self.ended = message["type"] == "http.response.body" and not message.get("more_body")


async def _preflight(scope: Scope, receive: Receive, send: Send) -> None:
    allowed = {
        "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers": "authorization, content-type",
        "Access-Control-Max-Age": "600",
    }
    await Response(status_code=204, headers=allowed)(scope, receive, send)
