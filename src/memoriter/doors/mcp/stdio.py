"""MCP over stdin and stdout, one JSON-RPC message per line. The command `memoriter mcp` uses it.

File descriptors 0 and 1 are duplicated and replaced first, so that nothing else in the process can
write into the protocol. A line that is too long or not a message is answered with an error.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import Any, BinaryIO, Final, cast

import anyio
import anyio.to_thread
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from memoriter.core.errors import MemoriterError
from memoriter.doors.json_bodies import parse_body

LINE_LIMIT: Final = 4 * 1024 * 1024
"""The longest line that is read as a message, in bytes."""
_CHUNK: Final = 65_536
"""How many bytes are read at once."""
LINGER: Final = 10.0
"""How long open requests may still run after the input has ended, in seconds."""
Inbox = MemoryObjectSendStream[SessionMessage | Exception]
Outbox = MemoryObjectReceiveStream[SessionMessage]


async def serve_stdio(server: Server[Any], limit: int = LINE_LIMIT) -> None:
    """Answer every message on stdin until it ends, then wait for the open requests."""
    wire = _Wire(*_take_streams(), limit)
    inbox, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outbox = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wire.listen, inbox)
        tasks.start_soon(wire.speak, outbox)
        await server.run(read, write, server.create_initialization_options())
        await write.aclose()


def _take_streams() -> tuple[int, BinaryIO]:
    """A descriptor of its own for input, a stream for output; what others print goes to stderr.

    On the level of descriptors, since C libraries and child processes print too.
    """
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123  # a descriptor is needed, not a path
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return source, os.fdopen(sink, "wb", buffering=0)


class _Wire:
    """Reads and writes the lines of the client, and counts its open requests."""

    def __init__(self, source: int, sink: BinaryIO, limit: int) -> None:
        self._source = source
        self._sink = sink
        self._limit = limit
        self._open: Counter[types.RequestId] = Counter()
        """By request id: requests without a response. A client may send one id twice."""
        self._lock = anyio.Lock()
        self._finished = anyio.Event()
        self._ended = False

    async def listen(self, inbox: Inbox) -> None:
        """Pass on every message of the input; answer a line that is not one with an error."""
        async with inbox, self._lines() as lines:
            async for line in lines:
                message = parse_line(line, self._limit)
                if isinstance(message, types.JSONRPCError):
                    await self._write(message)
                elif message is not None:
                    if isinstance(message, types.JSONRPCRequest):
                        self._open[message.id] += 1
                    await inbox.send(SessionMessage(message))
            # Leaving this block closes the inbox, and the server then drops open requests: wait.
            self._ended = True
            self._check_finished()
            with anyio.move_on_after(LINGER):
                await self._finished.wait()

    async def speak(self, outbox: Outbox) -> None:
        """Write every message of the server."""
        async with outbox:
            async for sent in outbox:
                await self._write(sent.message)
                if isinstance(sent.message, types.JSONRPCResponse | types.JSONRPCError):
                    if sent.message.id is not None:
                        self._open[sent.message.id] -= 1
                    self._check_finished()

    def _check_finished(self) -> None:
        if self._ended and not +self._open:
            self._finished.set()

    def _lines(self) -> MemoryObjectReceiveStream[bytes]:
        """The lines of the input, as they come.

        A daemon thread reads them: nothing can wake a thread that waits for input, and any other
        thread would keep an interrupted server running until the input ends.
        """
        send, receive = anyio.create_memory_object_stream[bytes](0)
        loop = asyncio.get_running_loop()

        def read() -> None:
            try:
                for line in _lines_of(self._source, self._limit):
                    asyncio.run_coroutine_threadsafe(send.send(line), loop).result()
                loop.call_soon_threadsafe(send.close)
            except (anyio.BrokenResourceError, CancelledError, RuntimeError):
                return  # the server has ended, and perhaps its loop is closed

        threading.Thread(target=read, name="memoriter-stdin", daemon=True).start()
        return receive

    async def _write(self, message: types.JSONRPCMessage) -> None:
        data = _encoded(message)
        async with self._lock:
            await anyio.to_thread.run_sync(self._put, data)

    def _put(self, data: bytes) -> None:
        """Write all of it; raw streams may write less. A client that is gone is not an error."""
        try:
            while data:
                data = data[self._sink.write(data) or 0 :]
        except BrokenPipeError:
            return


def _lines_of(source: int, limit: int) -> Iterator[bytes]:
    """The lines of a descriptor; of one that is too long, the first bytes, more than the limit."""
    line = bytearray()
    while chunk := os.read(source, _CHUNK):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            yield bytes(line + part)
            line.clear()
        if len(line) <= limit:
            line += rest
    if line:
        yield bytes(line)


def parse_line(line: bytes, limit: int) -> types.JSONRPCMessage | None:
    """The message in a line; an error to answer with if it is not one; None for a blank line."""
    if len(line) > limit:
        return _refusal(types.INVALID_REQUEST, f"a line may have at most {limit:,} bytes", None)
    if not line.strip():
        return None
    try:
        value = parse_body(line)
    except MemoriterError as error:
        return _refusal(types.PARSE_ERROR, error.message.replace("body", "line"), None)
    try:
        return types.jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        return _refusal(types.INVALID_REQUEST, "the line is not a JSON-RPC message", _id_of(value))


def _id_of(value: object) -> types.RequestId | None:
    """The id of a request that is otherwise malformed, so that the client can match the error."""
    id = cast("dict[str, object]", value).get("id") if isinstance(value, dict) else None
    return id if isinstance(id, int | str) and not isinstance(id, bool) else None


def _refusal(code: int, message: str, id: types.RequestId | None) -> types.JSONRPCError:
    error = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=error)


def _encoded(message: types.JSONRPCMessage) -> bytes:
    """A message as a line; an error in its place if it cannot be encoded."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except (ValueError, TypeError):
        id = getattr(message, "id", None)
        failed = _refusal(types.INTERNAL_ERROR, "the answer cannot be written", id)
        return failed.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
