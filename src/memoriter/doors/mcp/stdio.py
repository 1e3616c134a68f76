"""MCP over the standard streams: one message a line.

The protocol's own stream is taken aside first, so that nothing else in the process can write to
it. A line that is no message, or far too long, is answered with an error and forgotten.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from typing import Any, BinaryIO, Final, cast

import anyio
import anyio.to_thread
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

LINE_LIMIT: Final = 4 * 1024 * 1024
"""The longest line that is read as a message, in bytes."""
LINGER: Final = 10.0
"""How long answers that are still owed are waited for after the last line, in seconds."""
Inbox = MemoryObjectSendStream[SessionMessage | Exception]
Outbox = MemoryObjectReceiveStream[SessionMessage]


async def serve(server: Server[Any], limit: int = LINE_LIMIT) -> None:
    """Answer every line of the standard input until it ends."""
    wire = _Wire(*_taken(), limit)
    inbox, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outbox = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wire.listen, inbox)
        tasks.start_soon(wire.speak, outbox)
        await server.run(read, write, server.create_initialization_options())
        await write.aclose()


def _taken() -> tuple[BinaryIO, BinaryIO]:
    """The two ends of the wire; whoever prints from now on prints to the standard error."""
    sys.stdout.flush()
    wires = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123  # a descriptor is wanted, not a path
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return os.fdopen(wires[0], "rb"), os.fdopen(wires[1], "wb", buffering=0)


class _Wire:
    """The lines of one peer, and what it is still owed."""

    def __init__(self, source: BinaryIO, sink: BinaryIO, limit: int) -> None:
        self._source = source
        self._sink = sink
        self._limit = limit
        self._owed: Counter[types.RequestId] = Counter()
        self._lock = anyio.Lock()
        self._settled = anyio.Event()
        self._ended = False

    async def listen(self, inbox: Inbox) -> None:
        """Pass on every message; answer what is none."""
        async with inbox:
            while line := await self._read():
                message = _message(line, self._limit)
                if isinstance(message, types.JSONRPCError):
                    await self._write(message)
                elif message is not None:
                    if isinstance(message, types.JSONRPCRequest):
                        self._owed[message.id] += 1
                    await inbox.send(SessionMessage(message))
            self._ended = True
            self._settle()
            with anyio.move_on_after(LINGER):
                await self._settled.wait()

    async def speak(self, outbox: Outbox) -> None:
        """Write down every answer."""
        async with outbox:
            async for sent in outbox:
                await self._write(sent.message)
                if isinstance(sent.message, types.JSONRPCResponse | types.JSONRPCError):
                    if sent.message.id is not None:
                        self._owed[sent.message.id] -= 1
                    self._settle()

    def _settle(self) -> None:
        if self._ended and not +self._owed:
            self._settled.set()

    async def _read(self) -> bytes:
        """The next line, at most one byte longer than the limit; the rest of it is skipped."""
        return await anyio.to_thread.run_sync(self._line, abandon_on_cancel=True)

    def _line(self) -> bytes:
        line = self._source.readline(self._limit + 1)
        rest = line
        while rest and not rest.endswith(b"\n") and len(line) > self._limit:
            rest = self._source.readline(self._limit)
        return line

    async def _write(self, message: types.JSONRPCMessage) -> None:
        data = _spelled(message)
        async with self._lock:
            await anyio.to_thread.run_sync(self._put, data)

    def _put(self, data: bytes) -> None:
        """Write all of it; a peer that went away is no error."""
        try:
            while data:
                data = data[self._sink.write(data) or 0 :]
        except BrokenPipeError:
            return


def _message(line: bytes, limit: int) -> types.JSONRPCMessage | None:
    """What a line says; an error to answer with where it is no message, None where it is blank."""
    if len(line) > limit:
        return _refusal(types.INVALID_REQUEST, f"a line may have {limit:,} bytes", None)
    if not line.strip():
        return None
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        if any(each["type"] == "json_invalid" for each in error.errors(include_input=False)):
            return _refusal(types.PARSE_ERROR, "the line is no JSON", None)
        return _refusal(types.INVALID_REQUEST, "the line is no JSON-RPC message", _id_of(line))


def _id_of(line: bytes) -> types.RequestId | None:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    found = cast("dict[str, object]", told).get("id") if isinstance(told, dict) else None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def _refusal(code: int, message: str, id: types.RequestId | None) -> types.JSONRPCError:
    told = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=told)


def _spelled(message: types.JSONRPCMessage) -> bytes:
    """A message as a line; what cannot be written is told as an error."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except (ValueError, TypeError):
        id = getattr(message, "id", None)
        failed = _refusal(types.INTERNAL_ERROR, "the answer cannot be written", id)
        return failed.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
