"""The MCP tools: operations of the table with short schemas, and tools of other packages.

A model reads the whole list before every question, so the default set is small: six tools, each
with only the fields that an agent needs. A field that the schema does not show is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Final, Literal, cast

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import JsonObject
from memoriter.doors.mcp.reply_text import as_json, as_text
from memoriter.doors.operations import BY_NAME
from memoriter.doors.port import RIGHTS, ForeignTool, Right, foreign_tools
from memoriter.doors.refusals import unknown_field
from memoriter.doors.schema import Schema, names_of, outline_of, schema_of
from memoriter.doors.tenant_session import TenantSession

Choice = Literal["core", "full", "compat"]
CHOICES: Final[tuple[Choice, ...]] = ("core", "full", "compat")
FULL: Final = "start the server with --tools full"
"""The sets of tools: six, all of ours, or six and those of other systems."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool, and how it is described to a model."""

    name: str
    right: Right
    about: str
    input_schema: Schema
    output_schema: Schema
    handler: Callable[[TenantSession, object], JsonObject]
    text: Callable[[JsonObject], str]
    """The reply as text, for hosts that show nothing else."""
    destructive: bool = False
    repeatable: bool = True
    hidden: tuple[str, ...] = ()
    """Fields that only the full set shows."""

    def allowed(self, right: Right) -> bool:
        """Whether a credential with this right may use it."""
        return RIGHTS.index(self.right) <= RIGHTS.index(right)

    def run(
        self, tenant_session: TenantSession, data: object, *, spelled: bool = False
    ) -> JsonObject:
        """Run the tool; raises InputError for a field that its schema does not show."""
        del spelled  # arguments are always JSON
        known = self.input_schema.get("properties", {})
        # The request model accepts more fields than the small set shows: check against the schema.
        for field, value in cast("JsonObject", data).items():
            if field not in known:
                raise self._unknown(field, value, known)
        return self.handler(tenant_session, data)

    def _unknown(self, field: str, value: object, known: Collection[str]) -> InputError:
        error = unknown_field(field, field, known, value)
        if field in self.hidden and not error.hint.startswith("use where="):
            error.hint = f"it is a field of the full set: {FULL}"
        return error


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """An operation as a tool: when to use it, and which fields the small set shows."""

    operation: str
    when: str
    fields: tuple[str, ...] = ()


CORE: Final = (
    ToolSpec(
        "recall",
        "Use it before answering what may depend on earlier conversations, facts or decisions.",
        ("query", "limit", "where", "as_of"),
    ),
    ToolSpec(
        "remember",
        "Use it for what will matter later.",
        ("text", "kind", "tags", "importance", "supersedes"),
    ),
    ToolSpec("explain", "Use it when asked why, or when a memory is missing.", ("receipt", "id")),
    ToolSpec("browse", "Use it to see what is stored.", ("sort", "cursor", "limit")),
    ToolSpec("forget", "Use it only when the user asks to.", ("id", "now")),
    ToolSpec("status", "Use it to see whether anything is stored."),
)
"""The small set, in the order that lists show."""

MORE: Final = (
    ToolSpec("get", "Use it to read one memory whole."),
    ToolSpec("update", "Use it when a field is wrong; for a new fact, remember supersedes."),
    ToolSpec("bundles", "Use it when linked memories matter."),
    ToolSpec("link", "Use it when one memory explains, continues or replaces another."),
    ToolSpec("reflect", "Use it now and then, when many memories are new."),
    ToolSpec("review", "Use it to see what less trusted memories would replace."),
    ToolSpec("decide", "Use it only when the user has decided."),
    ToolSpec("plan", "Use it to see why a recall may find little."),
)
"""What the full set adds to it."""


def choice_of(name: str) -> Choice:
    """The name, if it is that of a set; else raises InputError."""
    if name not in CHOICES:
        raise InputError(
            f"tools: there is no set of tools {name[:80]!r}",
            hint=f"known: {', '.join(CHOICES)}",
            field="tools",
        )
    return name


def tools_of(choice: Choice, right: Right) -> tuple[Tool, ...]:
    """The tools of a set that a right allows, always in the same order."""
    return tuple(tool for tool in _SETS[choice]() if tool.allowed(right))


def _core() -> list[Tool]:
    return [_operation_tool(spec, spec.fields) for spec in CORE]


def _full() -> list[Tool]:
    return [_operation_tool(spec, None) for spec in (*CORE, *MORE)]


def _compat() -> list[Tool]:
    core = _core()
    return [*core, *map(_foreign_tool, foreign_tools({tool.name for tool in core}))]


_SETS: Final = {"core": _core, "full": _full, "compat": _compat}


def _operation_tool(spec: ToolSpec, fields: tuple[str, ...] | None) -> Tool:
    """An operation as a tool; None shows all of its fields."""
    operation = BY_NAME[spec.operation]
    reply = operation.brief or operation.reply
    return Tool(
        name=operation.name,
        right=operation.right,
        about=f"{operation.summary} {spec.when}",
        input_schema=schema_of(operation.request, fields),
        output_schema=outline_of(reply) if fields is None else names_of(reply),
        handler=operation.run,
        text=partial(as_text, operation.name),
        destructive=operation.destructive,
        repeatable=operation.repeatable,
        hidden=() if fields is None else tuple(operation.request.model_fields),
    )


def _foreign_tool(offer: ForeignTool) -> Tool:
    return Tool(
        name=offer.name,
        right="read",
        about=offer.summary,
        input_schema=schema_of(offer.request),
        output_schema=outline_of(offer.reply),
        handler=offer.run,
        text=as_json,
    )
