"""mcp: the memory as tools for a model."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from memoriter.core.errors import InputError
from memoriter.doors.cli import serving
from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Opening, Place, Reranker
from memoriter.doors.cli.settings import setting
from memoriter.doors.cli.tree import command
from memoriter.doors.extra import MCP, need


@command(
    "mcp",
    "memoriter mcp --store agent.db",
    "memoriter mcp --store agent.db --tools full --read-only",
    "memoriter mcp --http --port 8321",
)
def mcp(
    at: Opening,
    net: serving.Listening,
    reranker: Reranker = None,
    tools: serving.Tools = "core",
    *,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer only the tools that read.")
    ] = False,
    http: Annotated[
        bool, typer.Option("--http", help="Listen at a port, as serve does; the tools are at /mcp.")
    ] = False,
) -> None:
    """Offer the memory to a model as tools (MCP), over the standard streams or HTTP."""
    need("memoriter mcp", MCP)
    if http and read_only:
        raise InputError(
            "read-only: with --http the right of a token decides",
            hint="memoriter token create --right read makes one that only reads",
            field="read-only",
        )
    if http:
        serving.serve(Place(at.store, at.tenant, at.embedder), net, reranker, tools)
    else:
        _speak(at, reranker, tools, read_only=read_only)


def _speak(at: Opening, reranker: str | None, tools: str, *, read_only: bool) -> None:
    """Answer the standard input, line by line, until it ends."""
    import anyio  # noqa: PLC0415  # comes with the extra

    from memoriter.doors.desk import Desk  # noqa: PLC0415  # loads the engine
    from memoriter.doors.mcp.server import Local, server_of  # noqa: PLC0415  # as above
    from memoriter.doors.mcp.stdio import serve  # noqa: PLC0415  # as above
    from memoriter.doors.mcp.tools import choice_of  # noqa: PLC0415  # as above

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    choice = choice_of(tools)
    mine = setting("reranker", reranker)
    with opened(at, "read" if read_only else "make", mine) as memory:
        seat = Local(Desk(memory), "read" if read_only else "write")
        anyio.run(serve, server_of(choice, seat))
