"""The ASGI application: REST, JSON-RPC, metrics and mounted applications behind one guard."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from memoriter.core.errors import MemoriterError, NoSuchMethod, NotFound
from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors.http import page, rest, rpc
from memoriter.doors.http.guards import CREDENTIAL, Guard
from memoriter.doors.http.headers import HostPolicy
from memoriter.doors.http.metrics import MEDIA
from memoriter.doors.http.openapi import document
from memoriter.doors.http.problems import problem
from memoriter.doors.http.state import ServerState
from memoriter.doors.json_bodies import to_json
from memoriter.doors.operations import BY_NAME
from memoriter.doors.port import Right
from memoriter.doors.public import public

_WRONG_METHOD: Final = 405
Lifespan = Callable[[], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Mounted:
    """Another ASGI application under a path of this one, behind the same guard.

    It reads the caller's credential from its scope and has to check the right itself.
    """

    path: str
    app: ASGIApp
    lifespan: Lifespan | None = None
    """A context manager that is entered when the server starts and left when it stops."""


def app(
    server_state: ServerState,
    host_policy: HostPolicy | None = None,
    mounts: Sequence[Mounted] = (),
    link: page.OneTimeLink | None = None,
) -> ASGIApp:
    """The whole server as an ASGI application; it closes `server_state` when it stops.

    `link` is one that signs in to the page without a token.
    """
    operations = rest.routes(server_state)
    routes: list[BaseRoute] = [
        *operations,  # first: the most requests are for these
        *_own_routes(server_state),
        *page.page_routes(server_state, link),
        *(route for each in mounts for route in _mount_routes(each)),
    ]

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with contextlib.AsyncExitStack() as stack:
            # First on the stack, so last to run: mounts end before the store is closed.
            stack.push_async_callback(asyncio.to_thread, server_state.close)
            trimming = asyncio.create_task(server_state.heap.keep_trimmed())
            stack.callback(trimming.cancel)
            for each in mounts:
                if each.lifespan is not None:
                    await stack.enter_async_context(each.lifespan())
            yield

    inner = _Application(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={
            HTTPException: _routing_error,
            MemoriterError: _typed_error,
            Exception: _internal_error,
        },
    )
    # A wrong path is an error and not a redirect, on which clients may drop the body or the token.
    inner.router.redirect_slashes = False
    inner.fixed = rest.fixed_paths(operations)
    return Guard(inner, server_state, host_policy, rest.question_paths())


class _Application(Starlette):
    """An application that searches no route for a fixed path: most requests have one."""

    fixed: Mapping[tuple[str, str], ASGIApp]
    """By method and path: what answers the request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        direct = self.fixed.get((scope["method"], scope["path"])) if "method" in scope else None
        await (direct or super().__call__)(scope, receive, send)


def _mount_routes(each: Mounted) -> list[BaseRoute]:
    """The path itself, and everything below it: `Mount` alone would not match the bare path."""
    return [Route(each.path, each.app), Mount(each.path, each.app)]


def _own_routes(server_state: ServerState) -> list[BaseRoute]:
    """The routes that are not operations. All but /healthz need a token."""
    openapi_json = to_json(document())

    async def healthz(_: Request) -> Response:
        return Response(b'{"status":"ok"}', media_type="application/json")

    async def openapi(request: Request) -> Response:
        _need(request, "read")
        return Response(openapi_json, media_type="application/json")

    async def metrics(request: Request) -> Response:
        _need(request, "admin")
        tenant = request.scope[CREDENTIAL].tenant

        def text() -> str:
            try:
                status = BY_NAME["status"].run(server_state.tenant_sessions.of(tenant), {})
            except Exception as error:
                raise public(error) from None
            return server_state.metrics.text(tenant, status)

        body = await server_state.workers.run(tenant, text, deadline=True)
        return Response(body, media_type=MEDIA)

    async def calls(request: Request) -> Response:
        _need(request, "read")
        return await rpc.endpoint(request, server_state)

    return [
        Route("/healthz", healthz, methods=["GET"]),
        Route("/openapi.json", openapi, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Route(rpc.PATH, calls, methods=["POST"]),
    ]


def _need(request: Request, right: Right) -> None:
    request.scope[CREDENTIAL].need(right)


def _typed_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, MemoriterError)  # noqa: S101  # registered for it
    return problem(error)


def _internal_error(_: Request, error: Exception) -> Response:
    """An unexpected exception, without its details."""
    return problem(public(error))


def _routing_error(request: Request, error: Exception) -> Response:
    """An unknown path or method, which starlette refuses itself, in our error format."""
    assert isinstance(error, HTTPException)  # noqa: S101  # registered for it
    if error.status_code == _WRONG_METHOD:
        allowed = (error.headers or {}).get("Allow", "")
        hint = _OTHER_ROUTES.get(request.method, f"it takes {allowed}")
        return problem(NoSuchMethod("this path has no such method", hint=hint), error.headers)
    hint = rest.route_meant(request.method, request.url.path) or "GET /openapi.json lists all paths"
    return problem(NotFound("there is no such path", hint=hint))


_OTHER_ROUTES: Final = {
    "DELETE": "POST /v1/forget erases memories",
    "PUT": "PATCH /v1/memories/{id} changes a memory",
}
"""What to send instead of a method that servers often have."""
