"""The card of an answer for hosts of MCP Apps: one HTML document, and what it draws.

The tools `recall` and `explain` name it as their resource; the drawing travels in `_meta` of the
result, which the model does not read. A host without Apps sees neither: the text is complete.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from importlib import resources
from typing import Any, Final, cast

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID, client_supports_apps
from mcp.shared.exceptions import MCPError

from memoriter.core.errors import MemoriterError
from memoriter.core.names import JsonObject
from memoriter.doors.mcp.tools import Tool
from memoriter.doors.tenant_session import TenantSession
from memoriter.why.card import drawing_file
from memoriter.why.drawing import draw_answer, draw_single

McpContext = ServerRequestContext[Any, Any]
URI: Final = "ui://memoriter/answer"
DRAWN: Final = ("recall", "explain")
"""The tools whose results are drawn."""
DRAWING: Final = "memoriter/drawing"
"""The key of `_meta` under which a result has its drawing."""
EXTENSION: Final[dict[str, dict[str, Any]]] = {EXTENSION_ID: {}}
META: Final[JsonObject] = {"ui": {"resourceUri": URI}}
_ABOUT: Final = "A picture of an answer: why each memory was found."
_DARK: Final = "@media (prefers-color-scheme: dark) {\n  :root, :host {"


@cache
def card_html() -> str:
    """The document: styles, the module that draws, and what connects it to a host."""
    css = drawing_file("drawing.css")
    # A host may be dark where the system is light: its theme sets the same colours.
    dark = css.partition(_DARK)[2].partition("}")[0]
    css += f':root[data-theme="dark"] {{{dark}}}\n'
    style = (
        f"{css}\nbody{{margin:0;padding:.6rem;font:15px/1.5 system-ui,sans-serif;color:var(--ink)}}"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Memoriter</title>'
        f"<style>{style}</style></head><body>"
        '<main id="card"><p>Waiting for the answer …</p></main>'
        f'<script type="module">\n{card_module()}</script></body></html>\n'
    )


def card_module() -> str:
    """The module that draws, and what connects it to a host, in one text."""
    glue = resources.files("memoriter.doors").joinpath("mcp", "card.js").read_text("utf-8")
    return f"{drawing_file('drawing.js')}\n{glue}"


def draw_reply(tenant_session: TenantSession, data: object) -> JsonObject:
    """The drawing of a kept answer, or of one of its hits; empty if the id is not a hit."""
    sent = cast("JsonObject", data)
    result = tenant_session.answer(sent["receipt"])
    if sent.get("id") is None:
        return draw_answer(result)
    hits = [draw_single(hit) for hit in result if hit.id == sent["id"]]
    return hits[0] if hits else {}


DRAW: Final = Tool(
    name="drawing",
    right="read",
    about=_ABOUT,
    input_schema={"type": "object", "properties": {"receipt": {}, "id": {}}},
    output_schema={"type": "object"},
    handler=draw_reply,
    text=str,
)
"""No tool of the list: the server runs it beside a tool whose result is drawn."""


def drawn_from(tool: str, arguments: JsonObject, reply: JsonObject) -> JsonObject | None:
    """The arguments of `DRAW` for a result; None if there is nothing to draw."""
    if tool == "recall" and "receipt" in reply:
        return {"receipt": reply["receipt"]}
    kept = isinstance(arguments.get("receipt"), str)
    if tool == "explain" and "hit" in reply and kept:
        return {"receipt": arguments["receipt"], "id": arguments["id"]}
    return None


async def with_drawing(
    ctx: McpContext,
    ask: Callable[[McpContext, Tool, JsonObject], Awaitable[JsonObject]],
    call: types.CallToolRequestParams,
    result: types.CallToolResult,
) -> types.CallToolResult:
    """The result with what a host of MCP Apps draws; unchanged for all others."""
    reply = cast("JsonObject", result.structured_content)
    asked = drawn_from(call.name, call.arguments or {}, reply)
    if asked is None or not client_supports_apps(ctx):
        return result
    try:
        drawing = await ask(ctx, DRAW, asked)
    except MemoriterError:  # an answer that is not kept any more: the text says all of it
        return result
    return result.model_copy(update={"meta": {DRAWING: drawing}}) if drawing else result


async def list_cards(
    ctx: McpContext, params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    """The card, as a resource."""
    del ctx, params
    card = types.Resource(
        uri=URI, name="answer", title="Memoriter", description=_ABOUT, mime_type=APP_MIME_TYPE
    )
    return types.ListResourcesResult(resources=[card])


async def read_card(
    ctx: McpContext, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    """The document of the card; raises MCPError for another address."""
    del ctx
    if (uri := str(params.uri)) != URI:
        raise MCPError(types.INVALID_PARAMS, f"there is no resource {uri[:80]!r}; there is: {URI}")
    content = types.TextResourceContents(uri=URI, mime_type=APP_MIME_TYPE, text=card_html())
    return types.ReadResourceResult(contents=[content])
