"""A transport that sends the head of a response together with its body.

uvicorn writes them one after the other, and each write is a call of the system.
"""

from __future__ import annotations

import asyncio
from typing import Final

_WITH_BODY: Final = b"\r\ncontent-length:"
"""What the head of a response has whose body follows at once."""
_JOINED: Final = 64 * 1024
"""Up to so many bytes of a body are copied to be sent with the head."""


class JoinedWrites(asyncio.Transport):
    """The transport of a connection, as far as uvicorn uses it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__()
        self._transport = transport
        self._head = b""
        """The head of a response whose body was not yet written."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes; a head waits for the write that comes next, even of an empty body."""
        if self._head:
            if len(data) <= _JOINED:
                data = self._head + data
            else:
                self._transport.write(self._head)
            self._head = b""
        elif isinstance(data, bytes) and data.startswith(b"HTTP/") and _WITH_BODY in data:
            self._head = data
            return
        self._transport.write(data)

    def close(self) -> None:
        """Send a head that is left, then close the connection."""
        if self._head:
            self.write(b"")
        self._transport.close()

    def is_closing(self) -> bool:
        """Whether the connection is closed or being closed."""
        return self._transport.is_closing()

    def resume_reading(self) -> None:
        """Read again."""
        self._transport.resume_reading()
