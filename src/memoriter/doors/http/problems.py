"""Errors as problem+json (RFC 9457): its members, and those of `MemoriterError.to_dict`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from memoriter.core.errors import MemoriterError, TooMany, Unauthenticated
from memoriter.doors.json_bodies import to_json

MEDIA: Final = "application/problem+json"
_WORD_BREAK: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def problem_body(error: MemoriterError) -> dict[str, object]:
    """The body of an error response, as plain data."""
    name = type(error).__name__
    return {
        "type": f"urn:memoriter:error:{name}",
        "title": _WORD_BREAK.sub(" ", name).capitalize(),
        "status": error.status,
        "detail": error.message,
        **error.to_dict(),
    }


def problem(error: MemoriterError, headers: Mapping[str, str] | None = None) -> Response:
    """The error as a response, with the headers that its status asks for."""
    more = dict(headers or {})
    if isinstance(error, Unauthenticated):
        more["WWW-Authenticate"] = 'Bearer realm="memoriter"'
    if error.retryable:
        more.setdefault("Retry-After", str(error.after if isinstance(error, TooMany) else 1))
    return Response(to_json(problem_body(error)), error.status, more, MEDIA)
