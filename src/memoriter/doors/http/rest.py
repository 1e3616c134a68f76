"""REST: a route for each path of the table of operations, and how a request gets its fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, cast, get_args, get_origin
from urllib.parse import unquote

from starlette.datastructures import QueryParams
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from memoriter.core.errors import InputError, MemoriterError
from memoriter.core.other_words import operation_meant, operation_of
from memoriter.doors.hints import in_fields
from memoriter.doors.http.guards import CREDENTIAL, HEADERS
from memoriter.doors.http.problems import problem
from memoriter.doors.http.state import DONE, ServerState
from memoriter.doors.json_bodies import parse_body
from memoriter.doors.operations import BY_NAME, OPERATIONS, Operation
from memoriter.doors.public import public
from memoriter.doors.sizes import RECEIPTS
from memoriter.doors.tenant_session import TENANT

_TYPE: Final = (b"content-type", b"application/json")
_URL_ONLY: Final = "GET"
"""The method whose fields are all in the URL, as text."""


def routes(server_state: ServerState) -> list[Route]:
    """All routes of the table of operations.

    The first match wins, so fixed paths come before those with a parameter: `/v1/memories/batch`
    is not a memory called batch.
    """
    paths: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = operation
    return [
        Route(path, _Endpoint(server_state, paths[path]), methods=list(paths[path]))
        for path in sorted(paths, key=lambda path: path.count("{"))
    ]


def fixed_paths(routes: Sequence[Route]) -> dict[tuple[str, str], ASGIApp]:
    """By method and path: what answers a request whose path has no parameter."""
    return {
        (method, route.path): route.app
        for route in routes
        if "{" not in route.path
        for method in route.methods or ()
    }


_NOUNS: Final = frozenset(
    {"records", "record", "items", "messages", "memory", "documents", "texts"}
)
"""Last parts of a path that other servers have for memories."""


def route_meant(method: str, path: str) -> str:
    """The hint for an unknown path: the route of the operation that its last part names, or empty.

    >>> route_meant("POST", "/v1/search"), route_meant("POST", "/v1/fly")
    ('use POST /v1/recall', '')
    >>> route_meant("POST", "/v1/records"), route_meant("GET", "/v1/records")
    ('use POST /v1/memories', 'use POST /v1/browse')
    >>> route_meant("GET", "/v1/export")
    'the command line has it: memoriter export'
    """
    last = path.rstrip("/").rpartition("/")[2].replace("-", "_")
    if last in _NOUNS:
        last = "remember" if method == "POST" else "browse"
    if right := operation_of(last, BY_NAME):
        return f"use {BY_NAME[right].route}"
    hint = operation_meant(last, BY_NAME)
    return "" if hint.startswith("did you mean") else in_fields(hint)


class _Endpoint:
    """An ASGI application that answers requests for one path.

    Most requests are answered here, so it needs none of the layers that starlette has around a
    function.
    """

    def __init__(self, server_state: ServerState, methods: Mapping[str, Operation]) -> None:
        self._server_state = server_state
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, with the error if there is one."""
        try:
            reply = await self._reply(scope, receive)
        except Exception as error:
            failed = problem(error if isinstance(error, MemoriterError) else public(error))
        else:
            await _send(reply, send)
            return
        await failed(scope, receive, send)

    async def _reply(self, scope: Scope, receive: Receive) -> bytes:
        """The body of the reply; raises errors that a remote caller may see."""
        method = scope["method"]
        operation = self._methods[_URL_ONLY if method == "HEAD" else method]
        body: bytes = (await receive())["body"]  # the guard has read the whole body
        depth = self._server_state.limits.depth
        return await self._server_state.answer(
            scope[CREDENTIAL],
            operation,
            # Parsed in the thread of the worker: a large body must not block the event loop.
            partial(request_fields, operation, scope, body, depth),
            size=len(body),
            headers=scope[HEADERS],
            spelled=operation.method == _URL_ONLY,
        )


async def _send(reply: bytes, send: Send) -> None:
    length = (b"content-length", str(len(reply)).encode())
    await send({"type": "http.response.start", "status": DONE, "headers": [length, _TYPE]})
    await send({"type": "http.response.body", "body": reply})


def question_paths() -> frozenset[str]:
    """The paths of requests that are never long: only receipts and memories are."""
    long = {operation.path for operation in OPERATIONS if _is_long(operation)}
    return frozenset(operation.path for operation in OPERATIONS) - long


def _is_long(operation: Operation) -> bool:
    long = {*RECEIPTS, "memories", "vector"} if operation.right != "read" else RECEIPTS
    return bool(long & set(operation.request.model_fields))


def request_fields(operation: Operation, scope: Scope, body: bytes, depth: int) -> object:
    """The fields of a request, from its path and its query or its body.

    Raises InputError if a field comes twice, or in the query of a request that has a body.
    """
    fields = _path(scope.get("path_params", {}))
    query = QueryParams(scope["query_string"]).multi_items() if scope["query_string"] else ()
    if operation.method == _URL_ONLY:
        if body:
            raise InputError(
                "this request takes no body", hint="put the fields into the query string of the URL"
            )
        read = partial(_from_query, operation, depth=depth)
        return _joined(fields, [(name, read(name, value)) for name, value in query])
    for name, _ in query:
        if name not in TENANT:
            raise InputError(
                f"{name}: does not belong in the URL",
                hint="put the fields into the JSON body",
                field=name,
            )
    data = parse_body(body, depth)
    if not isinstance(data, dict):
        return data  # refused later, by the model of the request
    return _joined(fields, list(cast("dict[str, Any]", data).items()))


def _from_query(operation: Operation, name: str, value: str, *, depth: int) -> object:
    """A value of the query: text, or JSON where the request takes an object."""
    field = operation.request.model_fields.get(name)
    if field is None or not any(get_origin(arm) is dict for arm in get_args(field.annotation)):
        return value
    try:
        return parse_body(value.encode(), depth)
    except InputError as error:
        raise InputError(
            f"{name}: {error.message.replace('the body', 'it')}",
            hint=f"write the value of {name} as JSON",
            field=name,
        ) from None


def _joined(fields: dict[str, Any], more: list[tuple[str, Any]]) -> dict[str, Any]:
    for name, value in more:
        if name in fields and name not in TENANT:
            raise InputError(f"{name}: is given twice", hint="give it once", field=name)
        fields[name] = value
    return fields


def _path(parts: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of the path, decoded only now: the guard left the path as it was sent."""
    try:
        return {name: unquote(part, errors="strict") for name, part in parts.items()}
    except UnicodeDecodeError:
        raise InputError(
            "the path of the URL is not UTF-8", hint="percent-encode the bytes of UTF-8 text"
        ) from None
