"""A memory behind a running server, asked over HTTP: what the hooks need of one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from memoriter.core.errors import InputError, MemoriterError, Unavailable
from memoriter.doors.operations import BY_NAME
from memoriter.models.http_client import Post, Server, ServerRole, key_for, parse_base_url

_ROLE: Final = ServerRole("memory", "MEMORITER_TOKEN", {}, "memory.example.com:8321")


class RemoteMemory:
    """A client of one server. Safe to share between threads.

    Args:
        address: Its address, for example `http://127.0.0.1:8321`.
        token: Its token; by default the environment variable MEMORITER_TOKEN.
        seconds: How long a request may take.

    """

    def __init__(self, address: str, token: str | None, seconds: float) -> None:
        self._server: Server = parse_base_url(address, _ROLE)
        self._key = key_for(self._server, token, _ROLE)
        self._seconds = seconds

    def __str__(self) -> str:
        return str(self._server)

    def run(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """The reply of an operation; a wrong option raises InputError, as in this process."""
        try:
            body = json.dumps(request, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise InputError(
                f"an option cannot be sent as JSON: {error}",
                hint="give text, numbers, booleans, lists and dicts only",
            ) from None
        with _RemotePost(self._server, self._key, self._seconds, tries=2) as post:
            content = post.send(BY_NAME[operation].path, body)
        try:
            reply = json.loads(content)
        except ValueError:
            reply = None
        if not isinstance(reply, dict):
            raise Unavailable(
                "the reply of the server is not a JSON object",
                hint="check that the address is that of a Memoriter server",
            )
        return reply  # pyright: ignore[reportUnknownVariableType]  # of a server of ours


class _RemotePost(Post):
    """A request to a memoriter server."""

    def declined(self, status: int, content: bytes) -> MemoriterError:
        """The error that the body of the response describes."""
        try:
            problem = json.loads(content)
            message, hint, field = problem["message"], problem["hint"], problem["field"]
        except (ValueError, TypeError, KeyError):
            return super().declined(status, content)
        if status == InputError.status:
            return InputError(str(message), hint=str(hint), field=field)
        return super().declined(status, str(message).encode())
