"""What may be told of an error to somebody who is not the owner of the machine."""

from __future__ import annotations

import logging
from typing import Final

from memoriter.core.errors import MemoriterError

_LOG: Final = logging.getLogger("memoriter.doors")
_MACHINE: Final = 500
"""From this status on an error may speak of files and not of the request."""


def public(error: Exception) -> MemoriterError:
    """The error without files, queries or traces; those of the machine are told in general.

    What is wrong with the request itself names a field and stays as it is.
    """
    if not isinstance(error, MemoriterError):
        _LOG.error("unexpected %s", type(error).__name__)
        _LOG.debug("unexpected error", exc_info=error)
        return MemoriterError(
            "something went wrong inside", hint="the server's log at level debug has more"
        )
    if error.status < _MACHINE or error.field is not None:
        return error
    _LOG.warning("%s", type(error).__name__)
    _LOG.debug("an error of the machine", exc_info=error)
    first = (type(error).__doc__ or "").partition("\n")[0]
    hint = "try again" if error.retryable else "the owner of the server can tell more"
    return type(error)(first[:1].lower() + first[1:].rstrip("."), hint=hint)
