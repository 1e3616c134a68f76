"""JSON-RPC 2.0 at /rpc: every operation by its name, and methods of other packages.

An error that JSON-RPC defines no code for gets -32000 minus its exit code, which is in the range
for servers. Its `data` is what `MemoriterError.to_dict` returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any, Final, cast

from starlette.requests import Request
from starlette.responses import Response

from memoriter.core.errors import InputError, MemoriterError, NotFound, TooLarge
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.other_words import operation_meant
from memoriter.doors.hints import in_fields
from memoriter.doors.http.guards import CREDENTIAL, HEADERS
from memoriter.doors.http.state import ServerState
from memoriter.doors.json_bodies import parse_body, to_json
from memoriter.doors.operations import BY_NAME
from memoriter.doors.port import Invocable, foreign_methods
from memoriter.doors.tokens import Credential

PATH: Final = "/rpc"
PARSE, INVALID, UNKNOWN, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
_OURS: Final = -32000
_EMPTY: Final = 204
_KNOWN: Final = frozenset({"jsonrpc", "method", "params", "id"})


@cache
def methods() -> Mapping[str, Invocable]:
    """All methods by name: the operations, then those of other packages."""
    return {**BY_NAME, **{method.name: method for method in foreign_methods(BY_NAME)}}


class RpcError(Exception):
    """A call that failed; `error` is the error object of JSON-RPC."""

    def __init__(self, code: int, message: str, data: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data else {})}


@dataclass(frozen=True, slots=True)
class Call:
    """One well-formed call."""

    method: str
    params: object
    id: str | int | float | None
    wants_answer: bool
    """False for a notification, which has no `id`."""


async def endpoint(request: Request, server_state: ServerState) -> Response:
    """Answer a call, or a batch of calls one after the other."""
    credential: Credential = request.scope[CREDENTIAL]
    raw = await request.body()
    read = partial(parse_body, raw, server_state.limits.depth)
    try:
        # In a thread: a large body must not block the event loop.
        body = await server_state.workers.run(credential.tenant, read, deadline=True, size=len(raw))
    except (InputError, TooLarge) as error:
        return _reply(_failed(None, RpcError(PARSE, error.message)))
    if not isinstance(body, list):
        answer = await _one(body, request, server_state, len(raw))
        return _reply(answer) if answer is not None else Response(status_code=_EMPTY)
    calls = cast("list[object]", body)
    if not 0 < len(calls) <= server_state.limits.batch:
        message = f"a batch must have 1 to {server_state.limits.batch} calls"
        return _reply(_failed(None, RpcError(INVALID, message)))
    # The guard has counted the request itself; each further call counts as one more.
    await server_state.admit(credential.id, len(calls) - 1)
    answers = [await _one(call, request, server_state, len(raw)) for call in calls]
    wanted = [answer for answer in answers if answer is not None]
    return _reply(b"[" + b",".join(wanted) + b"]") if wanted else Response(status_code=_EMPTY)


async def _one(
    value: object, request: Request, server_state: ServerState, size: int
) -> bytes | None:
    """The answer of one call; None for a notification, even if it failed."""
    try:
        call = _read(value)
    except RpcError as refused:
        return _failed(None, refused)
    try:
        answer = b'"result":' + await _run(call, request, server_state, size)
    except RpcError as refused:
        answer = b'"error":' + to_json(refused.error)
    return _framed(call.id, answer) if call.wants_answer else None


def _read(value: object) -> Call:
    """The call in a JSON value; raises RpcError if it is not well formed."""
    if not isinstance(value, dict):
        raise RpcError(INVALID, "a call must be an object")
    data = cast("dict[str, Any]", value)
    if data.get("jsonrpc") != "2.0" or not isinstance(data.get("method"), str):
        raise RpcError(INVALID, 'a call needs "jsonrpc": "2.0" and a method')
    if unknown := set(data) - _KNOWN:
        raise RpcError(INVALID, f"a call has no member {min(unknown)!r}")
    id = data.get("id")
    # In Python a bool is an int, in JSON it is no number.
    if isinstance(id, bool) or not isinstance(id, str | int | float | None):
        raise RpcError(INVALID, "an id must be text, a number or null")
    return Call(data["method"], data.get("params", {}), id, "id" in data)


async def _run(call: Call, request: Request, server_state: ServerState, size: int) -> bytes:
    """The reply of a method as JSON; raises RpcError."""
    method = methods().get(call.method)
    if method is None:
        hint = in_fields(operation_meant(call.method, methods()))
        error = NotFound(f"there is no method {call.method[:80]!r}", hint=hint, field="method")
        raise RpcError(UNKNOWN, error.message, error.to_dict() if hint else None)
    if not isinstance(call.params, dict):
        raise RpcError(PARAMS, "params must be an object: arguments are passed by name")
    try:
        credential: Credential = request.scope[CREDENTIAL]
        headers = request.scope[HEADERS]
        return await server_state.answer(
            credential, method, lambda: call.params, size=size, headers=headers
        )
    except MemoriterError as error:
        raise RpcError(_code(error), error.message, error.to_dict()) from None


def _code(error: MemoriterError) -> int:
    """The code of an error: one that JSON-RPC defines, else -32000 minus our exit code."""
    if isinstance(error, InputError):
        return PARAMS
    return INTERNAL if type(error) is MemoriterError else _OURS - error.exit_code


def _failed(id: str | float | None, refused: RpcError) -> bytes:
    return _framed(id, b'"error":' + to_json(refused.error))


def _framed(id: str | float | None, answer: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":' + to_json(id) + b"," + answer + b"}"


def _reply(body: bytes) -> Response:
    return Response(body, media_type="application/json")
