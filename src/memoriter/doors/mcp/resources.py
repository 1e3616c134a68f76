"""Memories and receipts as resources of MCP, which a host can attach to a conversation.

`memoriter://record/{id}` is one memory, `memoriter://receipt/{handle}` the receipt of a recent
answer, both as JSON. They are read with the right and within the limits of any tool call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError

from memoriter.core.canonical import canonical
from memoriter.core.errors import MemoriterError
from memoriter.core.names import JsonObject
from memoriter.doors.mcp.card import McpContext, read_card
from memoriter.doors.mcp.reply_text import failed_text
from memoriter.doors.mcp.tools import Tool
from memoriter.doors.operations import BY_NAME
from memoriter.text.safe import safe_json

_JSON: Final = "application/json"
_RECORD: Final = "memoriter://record/"
_RECEIPT: Final = "memoriter://receipt/"
_READS: Final = {_RECORD: ("get", "id"), _RECEIPT: ("receipt", "receipt")}
"""By the start of an address: the operation that reads it, and the field of the rest."""
_TEMPLATES: Final = (
    (_RECORD, "id", "record", "One memory, with all its fields."),
    (_RECEIPT, "handle", "receipt", "The receipt of a recent answer: every number of it."),
)
Ask = Callable[[McpContext, Tool, JsonObject], Awaitable[JsonObject]]


async def list_templates(
    ctx: McpContext, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    """The forms that addresses of memories and receipts have."""
    del ctx, params
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=f"{start}{{{field}}}", name=name, description=about, mime_type=_JSON
            )
            for start, field, name, about in _TEMPLATES
        ]
    )


async def read_resource(
    ctx: McpContext, ask: Ask, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    """A memory, a receipt or the card; raises MCPError for another address."""
    uri = str(params.uri)
    start = next((each for each in _READS if uri.startswith(each)), None)
    if start is None:
        return await read_card(ctx, params)
    operation, field = _READS[start]
    try:
        reply = await ask(ctx, _tool(operation), {field: unquote(uri.removeprefix(start))})
    except MemoriterError as error:
        raise MCPError(types.INVALID_PARAMS, failed_text(error)) from None
    text = safe_json(canonical(reply).decode())
    content = types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)
    return types.ReadResourceResult(contents=[content])


def _tool(operation: str) -> Tool:
    """An operation that a resource reads, run as the tools are."""
    chosen = BY_NAME[operation]
    fields: dict[str, JsonObject] = {name: {} for name in chosen.request.model_fields}
    return Tool(
        name=operation,
        right=chosen.right,
        about=chosen.summary,
        input_schema={"type": "object", "properties": fields},
        output_schema={"type": "object"},
        handler=chosen.run,
        text=str,
    )
