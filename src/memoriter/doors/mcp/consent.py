"""The user's consent before several memories are forgotten, asked for through the host.

On the protocol 2026-07-28 the question is the result of the call, and the host calls again with the
answer; before that, the server asks while the call runs. Nothing is kept between the two calls: the
second is compared with what it would forget now.
"""

from __future__ import annotations

import hashlib
from typing import Final, cast

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memoriter.core.canonical import canonical
from memoriter.core.errors import Conflict, Forbidden
from memoriter.core.names import JsonObject
from memoriter.doors.mcp.card import McpContext
from memoriter.doors.mcp.resources import Ask
from memoriter.doors.mcp.tools import Tool

SEVERAL: Final = 2
"""From so many memories on the user is asked."""
_KEY: Final = "forget"
"""The name of the question among those of a call, and of the field of its answer."""
_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {_KEY: {"type": "boolean", "title": "Forget them for good"}},
    "required": [_KEY],
}


async def consent_question(
    ctx: McpContext, ask: Ask, tool: Tool, params: types.CallToolRequestParams
) -> types.InputRequiredResult | None:
    """None if the call may go on, else the question that is its result.

    Raises Forbidden if the user does not agree. A host that cannot ask (it has no elicitation with
    forms, or is served without a session on an older protocol) is not asked: there the annotation
    `destructive` of the tool and the host's own consent have to do.
    """
    arguments = params.arguments or {}
    if tool.name != "forget" or arguments.get("dry_run") or not _may_be_many(arguments):
        return None
    if not _can_ask(ctx.session.client_capabilities):
        return None
    ids = await _ids(ctx, ask, tool, arguments)
    if len(ids) < SEVERAL:
        return None
    question = types.ElicitRequestFormParams(
        message=f"Forget {len(ids)} memories for good? They are erased from the store.",
        requested_schema=_SCHEMA,
    )
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        _check_answer(await _answer(ctx, question))
        if await _ids(ctx, ask, tool, arguments) != ids:
            raise Conflict(
                "the filter now matches other memories than those that the user was asked"
                " about; nothing was forgotten",
                hint="call forget again",
            )
        return None
    # The answer counts for these memories and arguments alone; for others the user is asked anew.
    state = hashlib.sha256(canonical({"ids": ids, "arguments": arguments})).hexdigest()
    answer = (params.input_responses or {}).get(_KEY)
    if answer is None or params.request_state != state:
        return types.InputRequiredResult(
            input_requests={_KEY: types.ElicitRequest(params=question)}, request_state=state
        )
    _check_answer(answer)
    return None


def _may_be_many(arguments: JsonObject) -> bool:
    return arguments.get("where") is not None or isinstance(arguments.get("id"), list)


def _can_ask(capabilities: types.ClientCapabilities | None) -> bool:
    """Whether the host shows forms. Before there were modes, hosts declared an empty object."""
    able = capabilities.elicitation if capabilities is not None else None
    return able is not None and (able.form is not None or able.url is None)


async def _ids(ctx: McpContext, ask: Ask, tool: Tool, arguments: JsonObject) -> list[str]:
    """The memories that would be forgotten, each once."""
    ids = arguments.get("id")
    if isinstance(ids, list):
        return sorted({str(each) for each in cast("list[object]", ids)})
    reply = await ask(ctx, tool, {**arguments, "dry_run": True})
    return sorted(reply["ids"])


async def _answer(ctx: McpContext, question: types.ElicitRequestFormParams) -> types.ElicitResult:
    """The answer to a question that is put while the call runs."""
    try:
        return await ctx.session.elicit_form(
            question.message, question.requested_schema, ctx.request_id
        )
    except MCPError as error:
        raise Forbidden(
            f"the user could not be asked whether to forget these memories: {error}",
            hint="the user can forget them on the command line: memoriter forget",
        ) from None


def _check_answer(answer: types.InputResponse) -> None:
    agreed = (
        isinstance(answer, types.ElicitResult)
        and answer.action == "accept"
        and (answer.content or {}).get(_KEY) is True
    )
    if not agreed:
        raise Forbidden(
            "the user did not agree to forget these memories",
            hint="do not ask again unless the user brings it up",
        )
