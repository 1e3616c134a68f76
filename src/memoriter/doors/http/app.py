"""The application: routes from the table of operations, guarded as a whole."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from memoriter.core.errors import MemoriterError, NoSuchMethod, NotFound
from memoriter.doors.http import rest, rpc
from memoriter.doors.http.bodies import dumped
from memoriter.doors.http.guards import CREDENTIAL, Guard
from memoriter.doors.http.headers import Welcome
from memoriter.doors.http.metrics import MEDIA
from memoriter.doors.http.openapi import document
from memoriter.doors.http.problems import problem
from memoriter.doors.http.state import ServerState
from memoriter.doors.operations import BY_NAME, Right
from memoriter.doors.public import public

_WRONG_METHOD: Final = 405
Lifespan = Callable[[], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Mounted:
    """Another application under a path of this one, behind the same guard.

    It finds the caller's credential in its scope, and checks the rights itself.
    """

    path: str
    app: ASGIApp
    lifespan: Lifespan | None = None
    """What has to be open while it serves."""


def app(
    server_state: ServerState, welcome: Welcome | None = None, mounts: Sequence[Mounted] = ()
) -> ASGIApp:
    """The whole server as an ASGI application; it closes the office when it ends."""
    routes: list[BaseRoute] = [
        *_own(server_state),
        *rest.routes(server_state),
        *(route for each in mounts for route in _beside(each)),
    ]

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(asyncio.to_thread, server_state.close)
            for each in mounts:
                if each.lifespan is not None:
                    await stack.enter_async_context(each.lifespan())
            yield

    inner = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={HTTPException: _lost, MemoriterError: _told, Exception: _broken},
    )
    inner.router.redirect_slashes = False
    return Guard(inner, server_state, welcome)


def _beside(each: Mounted) -> list[BaseRoute]:
    """The path itself, and what lies below it."""
    return [Route(each.path, each.app), Mount(each.path, each.app)]


def _own(server_state: ServerState) -> list[BaseRoute]:
    """The paths that are no operation. All but the first need a token."""
    spelled = dumped(document())

    async def healthz(_: Request) -> Response:
        return Response(b'{"status":"ok"}', media_type="application/json")

    async def openapi(request: Request) -> Response:
        _need(request, "read")
        return Response(spelled, media_type="application/json")

    async def metrics(request: Request) -> Response:
        _need(request, "admin")
        tenant = request.scope[CREDENTIAL].tenant

        def text() -> str:
            try:
                status = BY_NAME["status"].run(server_state.tenant_sessions.of(tenant), {})
            except Exception as error:
                raise public(error) from None
            return server_state.metrics.text(tenant, status)

        told = await server_state.work.run(text, deadline=True)
        return Response(told, media_type=MEDIA)

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


def _told(_: Request, error: Exception) -> Response:
    assert isinstance(error, MemoriterError)  # noqa: S101  # as registered
    return problem(error)


def _broken(_: Request, error: Exception) -> Response:
    """A fault of ours, in the one shape that errors have."""
    return problem(public(error))


def _lost(_: Request, error: Exception) -> Response:
    """What starlette itself refuses, in our words."""
    assert isinstance(error, HTTPException)  # noqa: S101  # as registered
    if error.status_code == _WRONG_METHOD:
        told = NoSuchMethod("this path has no such method", hint="the header Allow names them")
        return problem(told, error.headers)
    return problem(NotFound("there is no such path", hint="GET /openapi.json lists them"))
