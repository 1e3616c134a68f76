"""MCP over HTTP: one path of the server, behind its guard.

Every request stands by itself: the guard has checked Host, Origin, token and size; who may do what
is read from the credential. No session is kept.
"""

from __future__ import annotations

import json
from typing import Final, cast

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memoriter.core.errors import NoSuchMethod
from memoriter.doors.http.app import Mounted
from memoriter.doors.http.guards import CREDENTIAL
from memoriter.doors.http.problems import problem
from memoriter.doors.http.state import ServerState
from memoriter.doors.mcp.server import Context, Plain, server_of
from memoriter.doors.mcp.tools import Choice, Tool
from memoriter.doors.operations import Right
from memoriter.doors.tokens import Credential

PATH: Final = "/mcp"


def beside(server_state: ServerState, choice: Choice) -> Mounted:
    """The tools at their path, for the application of the HTTP server."""
    manager = StreamableHTTPSessionManager(
        server_of(choice, RemoteCaller(server_state)),
        json_response=True,
        stateless=True,
        max_request_body_size=server_state.limits.body,
    )
    return Mounted(PATH, _Posted(manager), manager.run)


class RemoteCaller:
    """Whoever holds a token: its tenant, its right, the server's threads and limits."""

    def __init__(self, server_state: ServerState) -> None:
        self._server_state = server_state

    def right(self, ctx: Context) -> Right:
        """As the token says."""
        return _who(ctx).right

    async def ask(self, ctx: Context, tool: Tool, arguments: Plain) -> Plain:
        """The same way that every other request goes."""
        spelled = await self._server_state.answered(_who(ctx), tool, lambda: arguments)
        return cast("Plain", json.loads(spelled))


def _who(ctx: Context) -> Credential:
    """The credential that the guard put into the scope of this request."""
    assert ctx.request is not None  # noqa: S101  # every message here came in a request
    return ctx.request.scope[CREDENTIAL]


class _Posted:
    """The protocol over POST alone: there is nothing to listen to, and no session to end."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] == "POST":
            await self._manager.handle_request(scope, receive, send)
            return
        told = NoSuchMethod("this path has no such method", hint="POST is the only one")
        answer: Response = problem(told, {"Allow": "POST"})
        await answer(scope, receive, send)
