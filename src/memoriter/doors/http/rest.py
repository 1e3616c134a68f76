"""REST: one route per path of the table of operations; the request is its path, query and body."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final, cast
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memoriter.core.errors import InputError
from memoriter.doors.http.bodies import loaded
from memoriter.doors.http.guards import CREDENTIAL
from memoriter.doors.http.state import ServerState
from memoriter.doors.operations import OPERATIONS, Operation
from memoriter.doors.tenant_session import TENANT

JSON: Final = "application/json"
_SPELLED: Final = "GET"
"""The method whose fields come in the address, all as text."""


def routes(server_state: ServerState) -> list[Route]:
    """Every path of the table, with all of its methods; those without a gap come first."""
    paths: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = operation
    return [
        Route(path, _endpoint(server_state, paths[path]), methods=list(paths[path]))
        for path in sorted(paths, key=lambda path: path.count("{"))
    ]


def _endpoint(
    server_state: ServerState, methods: Mapping[str, Operation]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        operation = methods[_SPELLED if request.method == "HEAD" else request.method]
        body = await request.body()
        ask = partial(asked, operation, request, body, server_state.limits.depth)
        spelled = operation.method == _SPELLED
        who = request.scope[CREDENTIAL]
        return Response(
            await server_state.answered(who, operation, ask, spelled=spelled), media_type=JSON
        )

    return endpoint


def asked(operation: Operation, request: Request, body: bytes, depth: int) -> object:
    """The fields of a request, from wherever they stand; nothing may be said twice."""
    out = _path(request.path_params)
    query = request.query_params.multi_items()
    if operation.method == _SPELLED:
        if body:
            raise InputError("this request takes no body", hint="put the fields into the address")
        return _joined(out, query)
    for name, _ in query:
        if name not in TENANT:
            raise InputError(
                f"{name}: does not belong into the address",
                hint="put the fields into the body",
                field=name,
            )
    told = loaded(body, depth)
    if not isinstance(told, dict):
        return told
    return _joined(out, list(cast("dict[str, Any]", told).items()))


def _joined(out: dict[str, Any], more: list[tuple[str, Any]]) -> dict[str, Any]:
    for name, value in more:
        if name in out and name not in TENANT:
            raise InputError(f"{name}: is there twice", hint="say it once", field=name)
        out[name] = value
    return out


def _path(parts: Mapping[str, str]) -> dict[str, Any]:
    """The parts of the path as they were meant."""
    try:
        return {name: unquote(part, errors="strict") for name, part in parts.items()}
    except UnicodeDecodeError:
        raise InputError("the path is not UTF-8", hint="percent-encode UTF-8") from None
