"""The guard in front of all routes: checks host and origin, token, tenant, rate and body size."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from starlette.datastructures import QueryParams
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoriter.core.errors import Forbidden, InputError, TooLarge, TooSlow, Unauthenticated
from memoriter.doors.http.headers import (
    AFTER,
    HostPolicy,
    bearer_token,
    content_length,
    has_ambiguous_length,
    read_headers,
    require_json,
)
from memoriter.doors.http.logs import log_event
from memoriter.doors.http.problems import problem
from memoriter.doors.http.state import ServerState
from memoriter.doors.json_bodies import QUESTION_VALUES, VALUES, ValueCount
from memoriter.doors.public import public
from memoriter.doors.tenant_session import without_tenant
from memoriter.doors.tokens import Credential

CREDENTIAL: Final = "memoriter.credential"
"""The key of the ASGI scope under which the caller's credential is."""
HEADERS: Final = "memoriter.headers"
"""The key of the ASGI scope under which the headers are by name."""
BODY_SIZE: Final = "memoriter.body_size"
"""The key of the ASGI scope under which the number of bytes of the body is."""
PAGE: Final = "/page/"
LINK: Final = f"{PAGE}link"
"""Where the page exchanges the secret of a link for a token."""
PAGE_FILES: Final = {
    "": "text/html",
    "app.js": "text/javascript",
    "ask.js": "text/javascript",
    "compare.js": "text/javascript",
    "drawing.css": "text/css",
    "drawing.js": "text/javascript",
    "health.js": "text/javascript",
    "memory.js": "text/javascript",
    "notices.js": "text/javascript",
    "page.css": "text/css",
    "prove.js": "text/javascript",
    "records.js": "text/javascript",
    "server.js": "text/javascript",
    "sliders.js": "text/javascript",
    "state.js": "text/javascript",
    "why_not.js": "text/javascript",
}
"""The files of the page and their types; the one without a name is the document."""
OPEN: Final = frozenset(
    {"/healthz", PAGE.rstrip("/"), LINK, *(f"{PAGE}{name}" for name in PAGE_FILES)}
)
"""Paths that need no token; they reveal nothing of any tenant."""
_TENANT_HEADERS: Final = (b"x-tenant", b"x-tenant-id", b"x-memoriter-tenant")
REQUEST_BYTES: Final = 64 * 1024
"""For the rate of a token, so many bytes of a body count as one more request."""
_DRAIN_S: Final = 1.0
"""How long a body that is too large is still read before the connection is closed."""
_DRAINED: Final = 4
"""Of such a body so many times the limit is read at most."""
_ALWAYS: Final = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


class Guard:
    """An ASGI application around another; a request it passes on has a credential in its scope."""

    def __init__(
        self,
        inner: ASGIApp,
        server_state: ServerState,
        host_policy: HostPolicy | None = None,
        questions: frozenset[str] = frozenset(),
    ) -> None:
        """`questions` are paths whose bodies have few values."""
        self._inner = inner
        self._questions = questions
        self._server_state = server_state
        self._welcome = host_policy or HostPolicy()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request and pass it on, or answer with the error."""
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
            if answer.ended:  # already reported, in the answer and in the log
                return
            if answer.began:  # too late for an error response: let the server cut the connection
                raise
            refused = public(error)
            log_event(
                logging.INFO, "refused", status=refused.status, error=type(refused).__name__,
                address=(scope.get("client") or ("",))[0],
                token=scope[CREDENTIAL].id if CREDENTIAL in scope else None,
            )  # fmt: skip
            if _may_be_endless(scope, self._server_state.limits.body):
                answer.more.append((b"connection", b"close"))  # the rest is not read
            response = problem(refused)
            del (
                refused
            )  # it has this frame in its traceback, and would keep what was read of a body
            await response(scope, receive, answer)

    async def _served(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        """Check a request and pass it on; raises the error that refuses it.

        The order matters: a page of another site learns nothing about tokens, and no body is read
        before token and rate are checked.
        """
        headers = scope[HEADERS] = read_headers(scope["headers"])
        if has_ambiguous_length(headers):
            # What follows on this connection may be the hidden half of this request.
            answer.more.append((b"connection", b"close"))
            raise _ambiguous()
        opening = scope["method"] == "GET" and scope["path"] in (PAGE, PAGE.rstrip("/"))
        origin = self._welcome.check(headers, opening=opening)
        if origin is not None:
            answer.more += [(b"access-control-allow-origin", origin.encode()), (b"vary", b"Origin")]
            if scope["method"] == "OPTIONS":
                await _preflight(scope, receive, answer)
                return
        await self._identify(scope)
        body = await self._body(scope, receive)
        scope[BODY_SIZE] = len(body)
        whole: Message = {"type": "http.request", "body": body, "more_body": False}
        await self._inner(scope, replayed(whole, receive), answer)

    async def _identify(self, scope: Scope) -> None:
        """Put the caller's credential into the scope."""
        # Routes match the path as it was sent: an encoded slash in an id must not split the path.
        scope["path"] = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        if scope["path"] in OPEN:
            return
        token = bearer_token(scope[HEADERS])
        if token is None:
            raise Unauthenticated(
                "this request has no token",
                hint="send the header `Authorization: Bearer mem_…`; `memoriter token create` makes"
                " a token",
            )
        credential = self._server_state.tokens.find(token)
        _check_tenant(scope, credential)
        await self._server_state.admit(credential.id)
        scope[CREDENTIAL] = credential

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body, if it is small enough and comes in time."""
        limits = self._server_state.limits
        most = limits.body if CREDENTIAL in scope else REQUEST_BYTES
        size = content_length(scope[HEADERS])
        if size is not None:
            # A large body counts as many requests, before it is read: reading takes time of all.
            await self._charge(scope, min(size, _DRAINED * most))
        if size is not None and size > most:
            await _drained(receive, _DRAINED * most)
            raise _too_large(most)
        known = CREDENTIAL in scope
        patience = limits.arrive_s if known else min(limits.arrive_s, limits.idle_s)
        try:
            async with asyncio.timeout(patience):
                body = await self._read(scope, receive, most)
        except TimeoutError:
            raise TooSlow(
                f"the body of the request did not arrive within {patience:g} s",
                hint="send the whole body without pauses",
            ) from None
        self._server_state.heap.saw(len(body))
        if body:
            require_json(scope[HEADERS])
        return body

    async def _read(self, scope: Scope, receive: Receive, most: int) -> bytes:
        """The whole body; raises TooLarge at the first byte or value too many.

        Values are counted as the parts arrive, so that no count of a whole body delays others.
        """
        values = ValueCount(QUESTION_VALUES if scope["path"] in self._questions else VALUES)
        charged = content_length(scope[HEADERS]) is not None
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise TooSlow(
                    "the connection was closed before the whole request arrived",
                    hint="send the request again",
                )
            part: bytes = message.get("body", b"")
            if size + len(part) > most:
                raise _too_large(most)
            values.add(part)
            if not charged:
                await self._charge(scope, size + len(part), size)
            parts.append(part)
            size += len(part)
            if not message.get("more_body", False):
                return b"".join(parts)

    async def _charge(self, scope: Scope, size: int, before: int = 0) -> None:
        """Count the bytes of a body, of which some were counted before, as requests of a token."""
        if CREDENTIAL in scope:
            count = size // REQUEST_BYTES - before // REQUEST_BYTES
            await self._server_state.admit(scope[CREDENTIAL].id, count)


def _check_tenant(scope: Scope, credential: Credential) -> None:
    """Raise Forbidden if a header or the query names another tenant than the token's."""
    if scope["query_string"]:
        for key, value in QueryParams(scope["query_string"]).multi_items():
            without_tenant(credential.tenant, {key: value})
    own = credential.tenant.encode().decode("latin-1")  # as `read_headers` decodes them
    for name in _TENANT_HEADERS:
        if any(value != own for value in scope[HEADERS].get(name, ())):
            raise Forbidden(
                f"{name.decode()}: this credential is for another tenant",
                hint=f"leave out {name.decode()}: the tenant comes from the credential",
            )


async def _drained(receive: Receive, limit: int) -> None:
    """Read and drop a body that is too large, up to a limit and for at most a second.

    A client that is still sending when the connection closes often sees a reset, not the answer.
    """
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


def _may_be_endless(scope: Scope, most: int) -> bool:
    """Whether more of the body may come than any body has."""
    size = content_length(scope[HEADERS])
    if size is None:
        return b"transfer-encoding" in scope[HEADERS]
    return size > most


def _ambiguous() -> InputError:
    return InputError(
        "the request has both Content-Length and Transfer-Encoding",
        hint="send only one of them",
    )


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        f"the body is larger than {limit:,} bytes", hint="split it into several requests"
    )


def replayed(message: Message, receive: Receive) -> Receive:
    """A `receive` that returns a message that was read already, then the rest of the messages."""
    sent = False

    async def once() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return message

    return once


class _Answer:
    """A `send` that adds headers to the response and remembers whether it began and ended."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.more = list(_ALWAYS)
        self.began = self.ended = False

    async def __call__(self, message: Message) -> None:
        """Send one message of the response."""
        self.began = True
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *self.more]}
        await self._send(message)
        self.ended = message["type"] == "http.response.body" and not message.get("more_body")


async def _preflight(scope: Scope, receive: Receive, send: Send) -> None:
    allowed = {
        "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers": f"authorization, content-type, {AFTER.lower()}",
        "Access-Control-Max-Age": "600",
    }
    await Response(status_code=204, headers=allowed)(scope, receive, send)
