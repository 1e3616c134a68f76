"""Asks the user before a model forgets several memories at once, where the host can ask.

A host without elicitation, or without a way back to it (stateless HTTP), is not asked: there the
annotation `destructive` of the tool and the host's own consent have to do.
"""

from __future__ import annotations

from typing import Final, cast

import mcp_types as types
from mcp.shared.exceptions import MCPError, NoBackChannelError

from memoriter.core.errors import Forbidden
from memoriter.core.names import JsonObject
from memoriter.doors.mcp.card import McpContext
from memoriter.doors.mcp.resources import Ask
from memoriter.doors.mcp.tools import Tool

SEVERAL: Final = 2
"""From so many memories on the user is asked."""
_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {"forget": {"type": "boolean", "title": "Forget them for good"}},
    "required": ["forget"],
}


async def check_consent(ctx: McpContext, ask: Ask, tool: Tool, arguments: JsonObject) -> None:
    """Raise Forbidden if the user does not agree to forget several memories."""
    if tool.name != "forget" or arguments.get("dry_run") or not _may_be_many(arguments):
        return
    form = types.ElicitationCapability(form=types.FormElicitationCapability())
    if not ctx.session.check_client_capability(types.ClientCapabilities(elicitation=form)):
        return
    count = await _count(ctx, ask, tool, arguments)
    if count < SEVERAL:
        return
    try:
        reply = await ctx.session.elicit_form(
            f"Forget {count} memories for good? They are erased from all files.",
            _SCHEMA,
            ctx.request_id,
        )
    except NoBackChannelError:
        return
    except MCPError as error:
        raise Forbidden(
            f"the user could not be asked whether to forget these memories: {error}",
            hint="the user can forget them on the command line: memoriter forget",
        ) from None
    if reply.action != "accept" or not (reply.content or {}).get("forget"):
        raise Forbidden(
            "the user did not agree to forget these memories",
            hint="do not ask again unless the user brings it up",
        )


def _may_be_many(arguments: JsonObject) -> bool:
    ids = arguments.get("id")
    return arguments.get("where") is not None or (isinstance(ids, list) and len(ids) >= SEVERAL)  # pyright: ignore[reportUnknownArgumentType]  # JSON


async def _count(ctx: McpContext, ask: Ask, tool: Tool, arguments: JsonObject) -> int:
    """How many memories would be forgotten."""
    ids = arguments.get("id")
    if isinstance(ids, list):
        return len(cast("list[object]", ids))
    reply = await ask(ctx, tool, {**arguments, "dry_run": True})
    return len(reply["ids"])
