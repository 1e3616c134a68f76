"""Every error that Memoriter raises, as one class tree, with exit code and HTTP status.

MemoriterError                exit  1 · HTTP 500
├── InputError                      2 ·      400
│   ├── BadQuery
│   ├── BadRecipe
│   ├── BadRecord
│   ├── BadFilter
│   └── UnknownRecipe
├── NotFound                        3 ·      404
├── Conflict                        4 ·      409
├── NothingToRun                    5 ·      422
├── Forbidden                       6 ·      403
├── Unavailable                     7 ·      503   retryable
│   └── Unknown                                    whether a write took place; retry with its key
├── StorageFull                     8 ·      507
├── Corrupt                         9 ·      500
├── Expired                        10 ·      410
├── Unsupported                    11 ·      501
├── TooCostly                      12 ·      422
├── Unauthenticated                 6 ·      401   at the HTTP doors only
├── TooLarge                        2 ·      413   at the HTTP doors only
├── Misdirected                     6 ·      421   at the HTTP doors only
├── NoSuchMethod                    2 ·      405   at the HTTP doors only
├── NotJson                         2 ·      415   at the HTTP doors only
├── TooSlow                         7 ·      408   at the HTTP doors only, retryable
└── TooMany                         7 ·      429   at the HTTP doors only, retryable

Each has a `hint` (what to do next) and a `field` (the offending input, or None).
`str(error)` is the message and, on a second line, the hint; `error.message` is the message alone.
`InvariantError` is not part of the tree: it reports a bug in Memoriter, not an input error.
"""

from __future__ import annotations

from typing import ClassVar, Final

EARLIER_APPLICATION_ID: Final = 0x5245434F
"""Marks SQLite files written under the project's earlier name, before the first release."""
_BRING_OVER: Final = (
    "check out commit 778fb88 of this project, write the store to a file with its `export FILE`,"
    " then run `memoriter import FILE` with this version"
)


def install_hint(extra: str) -> str:
    """The hint to install an extra; it names a clone, since the package is on no index yet."""
    return f'in a clone of Memoriter: pip install ".[{extra}]"'


class InvariantError(AssertionError):
    """An internal invariant does not hold: a bug in Memoriter, please report it."""


class MemoriterError(Exception):
    """The base class of all errors here."""

    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "", field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.field = field

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message

    def to_dict(self) -> dict[str, object]:
        """The error as plain data, the same over HTTP, MCP and the command line."""
        return {
            "error": type(self).__name__,
            "message": self.message,
            "hint": self.hint,
            "field": self.field,
            "retryable": self.retryable,
        }


def message_of(error: BaseException) -> str:
    """The message without the hint, for a log line or inside another message."""
    return error.message if isinstance(error, MemoriterError) else str(error)


class InputError(MemoriterError):
    """The request is not valid."""

    exit_code = 2
    status = 400


class BadQuery(InputError):
    """A query, or an option of a query, is not valid."""


class BadRecipe(InputError):
    """A recipe, or an override of one, is not valid."""


class BadRecord(InputError):
    """A record, an edge or an agent is not valid."""


class BadFilter(InputError):
    """A Where is not valid."""


class UnknownRecipe(InputError):
    """No recipe has that name."""


class NotFound(MemoriterError):
    """No such record, agent, file or tenant."""

    exit_code = 3
    status = 404


class Conflict(MemoriterError):
    """The write conflicts with what is stored, for example an id or a key that is in use."""

    exit_code = 4
    status = 409


class SpacesChanged(Conflict):
    """An analyzer or an embedder was added or removed while a write was prepared."""


class NothingToRun(MemoriterError):
    """No lane of the recipe can answer this query."""

    exit_code = 5
    status = 422


class Forbidden(MemoriterError):
    """The caller is not allowed to do this."""

    exit_code = 6
    status = 403


class Unavailable(MemoriterError):
    """A resource is busy or unreachable; a retry may succeed."""

    exit_code = 7
    status = 503
    retryable = True


class Unknown(Unavailable):
    """Whether a write took place is not known; a retry with the same key writes once."""


class StorageFull(MemoriterError):
    """The disk is full; nothing was written."""

    exit_code = 8
    status = 507


class Corrupt(MemoriterError):
    """Stored data does not match its digest or checksum."""

    exit_code = 9
    status = 500


class Expired(MemoriterError):
    """A past view, an analyzer or a vector space is no longer available."""

    exit_code = 10
    status = 410


class Unsupported(MemoriterError):
    """This environment, file or option is not supported."""

    exit_code = 11
    status = 501


class TooCostly(MemoriterError):
    """The request needs more work than its budget allows; nothing was changed."""

    exit_code = 12
    status = 422


def earlier_name_error(file: str) -> Unsupported:
    """The error for a store that was written under the project's earlier name."""
    return Unsupported(
        f"{file} was written under this project's earlier name",
        hint=f"{_BRING_OVER}; the file was not touched",
    )


class Unauthenticated(MemoriterError):
    """The request carries no valid credential."""

    exit_code = 6
    status = 401


class TooLarge(MemoriterError):
    """The request body exceeds the size limit."""

    exit_code = 2
    status = 413


class Misdirected(MemoriterError):
    """The Host header names another host."""

    exit_code = 6
    status = 421


class NoSuchMethod(MemoriterError):
    """The path exists, but not for this HTTP method."""

    exit_code = 2
    status = 405


class NotJson(MemoriterError):
    """The Content-Type is not JSON."""

    exit_code = 2
    status = 415


class TooSlow(MemoriterError):
    """The request body did not arrive in time."""

    exit_code = 7
    status = 408
    retryable = True


class TooMany(MemoriterError):
    """The rate limit is exceeded; retry after `after` seconds."""

    exit_code = 7
    status = 429
    retryable = True

    def __init__(
        self, message: str, *, hint: str = "", field: str | None = None, after: int = 1
    ) -> None:
        super().__init__(message, hint=hint, field=field)
        self.after = after
