"""Every error a user of Memoriter can meet, as one tree.

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
├── StorageFull                     8 ·      507
├── Corrupt                         9 ·      500
├── Expired                        10 ·      410
├── Unsupported                    11 ·      501
├── Unauthenticated                 6 ·      401   at the HTTP doors only
├── TooLarge                        2 ·      413   at the HTTP doors only
├── Misdirected                     6 ·      421   at the HTTP doors only
├── NoSuchMethod                    2 ·      405   at the HTTP doors only
├── NotJson                         2 ·      415   at the HTTP doors only
├── TooSlow                         7 ·      408   at the HTTP doors only, retryable
└── TooMany                         7 ·      429   at the HTTP doors only, retryable

Each carries a `hint`: what to do next. `field` names the offending input where there is one.
`str(error)` is the message and, on a line of its own, the hint; `error.message` is the message.
`InvariantError` stands apart: it reports a bug of ours, never a mistake of the caller.
"""

from __future__ import annotations

from typing import ClassVar, Final

BRING_OVER: Final = (
    "check out commit 778fb88 of this project, write the store to a file with its `export FILE`,"
    " then run `memoriter import FILE` with this version"
)
"""How to keep a store that was written under the project's earlier name."""


def install_hint(extra: str) -> str:
    """How to install an optional part. It names the clone while no package index has us."""
    return f'in a clone of Memoriter: pip install ".[{extra}]"'


class InvariantError(AssertionError):
    """A value broke a promise that our own code makes: a bug, please report it."""


class MemoriterError(Exception):
    """The root of the tree; catch it to catch everything."""

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
        """The error as plain data, the same through every door."""
        return {
            "error": type(self).__name__,
            "message": self.message,
            "hint": self.hint,
            "field": self.field,
            "retryable": self.retryable,
        }


def message_of(error: BaseException) -> str:
    """What went wrong, without the hint: for a log line, or inside another message."""
    return error.message if isinstance(error, MemoriterError) else str(error)


class InputError(MemoriterError):
    """What was asked cannot be understood."""

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
    """What was named does not exist here."""

    exit_code = 3
    status = 404


class Conflict(MemoriterError):
    """The write contradicts what is already there."""

    exit_code = 4
    status = 409


class NothingToRun(MemoriterError):
    """No lane of the recipe can answer this query."""

    exit_code = 5
    status = 422


class Forbidden(MemoriterError):
    """The caller may not do this."""

    exit_code = 6
    status = 403


class Unavailable(MemoriterError):
    """Something needed is busy or away; trying again may help."""

    exit_code = 7
    status = 503
    retryable = True


class StorageFull(MemoriterError):
    """The disk is full; nothing was written."""

    exit_code = 8
    status = 507


class Corrupt(MemoriterError):
    """Stored bytes do not match their digest."""

    exit_code = 9
    status = 500


class Expired(MemoriterError):
    """A view, a generation or a receipt lies behind its horizon."""

    exit_code = 10
    status = 410


class Unsupported(MemoriterError):
    """The environment or the file is not one we can serve safely."""

    exit_code = 11
    status = 501


class Unauthenticated(MemoriterError):
    """The request carries no valid credential."""

    exit_code = 6
    status = 401


class TooLarge(MemoriterError):
    """The request is larger than the door allows."""

    exit_code = 2
    status = 413


class Misdirected(MemoriterError):
    """The request names a host that this server is not."""

    exit_code = 6
    status = 421


class NoSuchMethod(MemoriterError):
    """The path is there, but not for this method."""

    exit_code = 2
    status = 405


class NotJson(MemoriterError):
    """The body is not plain JSON."""

    exit_code = 2
    status = 415


class TooSlow(MemoriterError):
    """The request did not arrive in time."""

    exit_code = 7
    status = 408
    retryable = True


class TooMany(MemoriterError):
    """The caller asks too often; in `after` seconds it may come again."""

    exit_code = 7
    status = 429
    retryable = True

    def __init__(
        self, message: str, *, hint: str = "", field: str | None = None, after: int = 1
    ) -> None:
        super().__init__(message, hint=hint, field=field)
        self.after = after
