"""Which tools a model sees: operations of the table, and how much of each is shown.

A model reads the whole list before every question, so the usual set is small: six tools, and of
each the fields that an agent needs. What a schema does not show is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, cast

from memoriter.core.errors import InputError
from memoriter.doors.mcp.telling import as_text
from memoriter.doors.operations import BY_NAME, RIGHTS, Right
from memoriter.doors.port import ForeignTool, foreign_tools
from memoriter.doors.requests import unknown_field
from memoriter.doors.schema import Schema, names_of, outline_of, schema_of
from memoriter.doors.tenant_session import TenantSession

Plain = dict[str, Any]
Choice = Literal["core", "full", "compat"]
CHOICES: Final[tuple[Choice, ...]] = ("core", "full", "compat")
"""The sets of tools that a server may offer."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as a model sees it."""

    name: str
    right: Right
    about: str
    takes: Schema
    gives: Schema
    act: Callable[[TenantSession, object], Plain]
    text: Callable[[Plain], str]
    """The answer for hosts that show text alone."""
    destructive: bool = False
    repeatable: bool = True

    def allowed(self, right: Right) -> bool:
        """Whether a credential with this right may use it."""
        return RIGHTS.index(self.right) <= RIGHTS.index(right)

    def run(self, tenant_session: TenantSession, data: object, *, spelled: bool = False) -> Plain:
        """Check that only what the schema shows was sent, do it, answer."""
        del spelled  # arguments come as JSON
        known = self.takes.get("properties", {})
        for field in cast("Plain", data):
            if field not in known:
                raise unknown_field(field, field, known)
        return self.act(tenant_session, data)


@dataclass(frozen=True, slots=True)
class Shown:
    """An operation among the tools: when to use it, and which of its fields the small set shows."""

    operation: str
    when: str
    fields: tuple[str, ...] = ()


CORE: Final = (
    Shown(
        "recall",
        "Use it before answering what may depend on earlier talks, facts or decisions.",
        ("query", "limit", "where", "as_of"),
    ),
    Shown(
        "remember",
        "Use it for what will matter later.",
        ("text", "kind", "tags", "importance", "supersedes"),
    ),
    Shown("explain", "Use it when asked why, or when one is missing.", ("receipt", "id")),
    Shown("browse", "Use it to look around.", ("sort", "cursor", "limit")),
    Shown("forget", "Use it only when the user asks to.", ("id",)),
    Shown("status", "Use it to see whether there is anything."),
)
"""The small set, in the order that lists show."""

MORE: Final = (
    Shown("bundles", "Use it when what surrounds a memory matters."),
    Shown("link", "Use it when one memory explains, continues or replaces another."),
    Shown("reflect", "Use it now and then, when much has gathered."),
    Shown("plan", "Use it to see why a recall may find little."),
)
"""What the full set adds."""


def choice_of(name: str) -> Choice:
    """The set that a name stands for."""
    if name not in CHOICES:
        raise InputError(
            f"tools: there is no set {name[:80]!r}",
            hint=f"known: {', '.join(CHOICES)}",
            field="tools",
        )
    return name


def tools_of(choice: Choice, right: Right) -> tuple[Tool, ...]:
    """The tools of a set that a credential may use, always in the same order."""
    return tuple(tool for tool in _SETS[choice]() if tool.allowed(right))


def _core() -> list[Tool]:
    return [_of(shown, shown.fields) for shown in CORE]


def _full() -> list[Tool]:
    return [_of(shown, None) for shown in (*CORE, *MORE)]


def _compat() -> list[Tool]:
    core = _core()
    return [*core, *map(_theirs, foreign_tools({tool.name for tool in core}))]


_SETS: Final = {"core": _core, "full": _full, "compat": _compat}


def _of(shown: Shown, fields: tuple[str, ...] | None) -> Tool:
    """An operation as a tool; None shows all of its fields."""
    operation = BY_NAME[shown.operation]
    reply = operation.brief or operation.reply
    return Tool(
        operation.name,
        operation.right,
        f"{operation.summary} {shown.when}",
        schema_of(operation.request, fields),
        outline_of(reply) if fields is None else names_of(reply),
        operation.run,
        partial(as_text, operation.name),
        operation.destructive,
        operation.repeatable,
    )


def _theirs(offer: ForeignTool) -> Tool:
    return Tool(
        offer.name,
        "read",
        offer.summary,
        schema_of(offer.request),
        outline_of(offer.reply),
        offer.run,
        partial(as_text, offer.name),
    )
