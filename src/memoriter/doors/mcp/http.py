"""MCP over HTTP: one path of the HTTP server, behind its guard.

It is stateless: the guard checks host, origin, token and size of every request, and the credential
that it leaves in the scope decides what the request may do.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Final, cast

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memoriter.core.errors import NoSuchMethod
from memoriter.core.names import JsonObject
from memoriter.doors.http.app import Mounted
from memoriter.doors.http.guards import BODY_SIZE, CREDENTIAL, HEADERS, replayed
from memoriter.doors.http.headers import Headers
from memoriter.doors.http.problems import problem
from memoriter.doors.http.state import ServerState
from memoriter.doors.json_bodies import parse_body
from memoriter.doors.mcp.server import McpContext, mcp_server
from memoriter.doors.mcp.tools import Choice, Tool
from memoriter.doors.port import Right
from memoriter.doors.tokens import Credential

PATH: Final = "/mcp"


def mcp_mount(server_state: ServerState, choice: Choice) -> Mounted:
    """The MCP server as a mounted application of the HTTP server."""
    manager = StreamableHTTPSessionManager(
        mcp_server(choice, RemoteCaller(server_state)),
        json_response=True,
        stateless=True,
        max_request_body_size=server_state.limits.body,
    )
    return Mounted(PATH, _PostOnly(manager, server_state), manager.run)


class RemoteCaller:
    """The caller behind a token: its calls run with its tenant and right, as any HTTP request."""

    def __init__(self, server_state: ServerState) -> None:
        self._server_state = server_state

    def right(self, ctx: McpContext) -> Right:
        """The right of the token."""
        return _credential(ctx).right

    async def ask(self, ctx: McpContext, tool: Tool, arguments: JsonObject) -> JsonObject:
        """The reply of a tool, run in the worker threads and within the limits of the server."""
        body = await self._server_state.answer(
            _credential(ctx), tool, lambda: arguments, size=_size(ctx), headers=_headers(ctx)
        )
        return cast("JsonObject", json.loads(body))


def _credential(ctx: McpContext) -> Credential:
    """The credential that the guard put into the scope of this request."""
    assert ctx.request is not None  # noqa: S101  # over HTTP every message has one
    return ctx.request.scope[CREDENTIAL]


def _size(ctx: McpContext) -> int:
    """How long the body of this request is."""
    assert ctx.request is not None  # noqa: S101  # as above
    return ctx.request.scope[BODY_SIZE]


def _headers(ctx: McpContext) -> Headers:
    """The headers of this request."""
    assert ctx.request is not None  # noqa: S101  # as above
    return ctx.request.scope[HEADERS]


class _PostOnly:
    """The protocol over POST only.

    GET would open a stream of events and DELETE end a session; this server has neither.
    """

    def __init__(self, manager: StreamableHTTPSessionManager, server_state: ServerState) -> None:
        self._manager = manager
        self._server_state = server_state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] == "POST":
            message = await receive()  # the guard has read the whole body
            await self._check(scope[CREDENTIAL], message.get("body", b""))
            await self._manager.handle_request(scope, replayed(message, receive), send)
            return
        refused = NoSuchMethod("this path has no such method", hint="use POST")
        response: Response = problem(refused, {"Allow": "POST"})
        await response(scope, receive, send)

    async def _check(self, credential: Credential, body: bytes) -> None:
        """Raise for what the protocol's own parser would accept: a key twice, too many values."""
        read = partial(parse_body, body, self._server_state.limits.depth)
        await self._server_state.workers.run(credential.tenant, read, deadline=True, size=len(body))
