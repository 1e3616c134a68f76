"""Errors as they may be shown to a remote caller; the HTTP and the MCP server use it."""

from __future__ import annotations

import logging
from typing import Final

from memoriter.core.errors import Forbidden, MemoriterError
from memoriter.doors.hints import in_fields

_LOG: Final = logging.getLogger("memoriter.doors")
_MACHINE: Final = 500
"""From this status on a message may contain paths of files or other details of the machine."""


def public(error: Exception) -> MemoriterError:
    """The error without paths, queries or tracebacks; the details go to the log at level debug.

    An error about the request itself (status below 500, or with a field) keeps its message; its
    hint speaks of fields of JSON.
    For any other the message is the first line of the docstring of its class.
    """
    if not isinstance(error, MemoriterError):
        _LOG.error("unexpected %s", type(error).__name__)
        _LOG.debug("unexpected error", exc_info=error)
        return MemoriterError(
            "internal error", hint="the log of the server at level debug has the details"
        )
    if isinstance(error, Forbidden) and error.__cause__ is not None:
        # The file system or the database refused the server, and not the server its caller.
        _LOG.warning("the store does not allow the server to do this")
        _LOG.debug("error of the server", exc_info=error)
        return MemoriterError(
            "the store does not allow the server to do this",
            hint="the log of the server at level debug has the details",
        )
    if error.status < _MACHINE or error.field is not None:
        error.hint = in_fields(error.hint)
        return error
    _LOG.warning("%s", type(error).__name__)
    _LOG.debug("error of the server", exc_info=error)
    first = (type(error).__doc__ or "").partition("\n")[0]
    hint = "try again" if error.retryable else "the log of the server has the details"
    return type(error)(first[:1].lower() + first[1:].rstrip("."), hint=hint)
