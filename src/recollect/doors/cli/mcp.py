"""mcp: the memory as tools for a model."""

from __future__ import annotations

import logging
import sys
from importlib.util import find_spec
from typing import Annotated

import typer

from recollect.core.errors import Unsupported
from recollect.doors.cli.opening import opened
from recollect.doors.cli.options import Store
from recollect.doors.cli.tree import command


@command(
    "mcp",
    "recollect mcp --store agent.db",
    "recollect mcp --store agent.db --tools full --read-only",
)
def mcp(
    at: Store,
    tools: Annotated[
        str,
        typer.Option("--tools", help="core (six tools), full, or compat (other systems' names)."),
    ] = "core",
    *,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer only the tools that read.")
    ] = False,
) -> None:
    """Offer the memory to a model as tools, over the standard streams (MCP)."""
    need_server("recollect mcp")
    import anyio  # noqa: PLC0415  # comes with the extra

    from recollect.doors.desk import Desk  # noqa: PLC0415  # loads the engine
    from recollect.doors.mcp.server import Caller, server_of  # noqa: PLC0415  # as above
    from recollect.doors.mcp.stdio import serve  # noqa: PLC0415  # as above
    from recollect.doors.mcp.tools import choice_of  # noqa: PLC0415  # as above

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    choice = choice_of(tools)
    with opened(at, "read" if read_only else "make") as memory:
        caller = Caller(Desk(memory), "read" if read_only else "write")
        anyio.run(serve, server_of(choice, lambda _: caller))


def need_server(command: str) -> None:
    """Say what to install where the packages of a server are missing."""
    for module in ("mcp", "starlette", "uvicorn"):
        if find_spec(module) is None:
            raise Unsupported(
                f"{command} needs {module}, which is not installed",
                hint='pip install "recollect[server]"',
            )
