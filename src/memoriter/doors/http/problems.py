"""Errors as problem+json (RFC 9457): our one error shape, and the members that HTTP knows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from memoriter.core.errors import MemoriterError, TooMany, Unauthenticated
from memoriter.doors.http.bodies import dumped

MEDIA: Final = "application/problem+json"
_WORDS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def told(error: MemoriterError) -> dict[str, object]:
    """The error as plain data."""
    name = type(error).__name__
    return {
        "type": f"urn:memoriter:error:{name}",
        "title": _WORDS.sub(" ", name).capitalize(),
        "status": error.status,
        "detail": error.message,
        **error.to_dict(),
    }


def problem(error: MemoriterError, headers: Mapping[str, str] | None = None) -> Response:
    """The error as an answer."""
    more = dict(headers or {})
    if isinstance(error, Unauthenticated):
        more["WWW-Authenticate"] = 'Bearer realm="memoriter"'
    if error.retryable:
        more.setdefault("Retry-After", str(error.after if isinstance(error, TooMany) else 1))
    return Response(dumped(told(error)), error.status, more, MEDIA)
