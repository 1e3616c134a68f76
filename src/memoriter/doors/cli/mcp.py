"""The commands of MCP: run the server, add it to the settings of a host, remove it."""

from __future__ import annotations

import difflib
import importlib.util
import logging
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from memoriter.core.errors import InputError, Unsupported, install_hint
from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import (
    JsonOption,
    MemoryOptions,
    PrintedOptions,
    RerankerOption,
    complete_words,
    opened_memory,
    setting,
)
from memoriter.doors.cli.output import print_json, print_note
from memoriter.doors.cli.params import CliArgument, CliOption
from memoriter.doors.cli.serve import (
    HTTP_PACKAGES,
    NetworkOptions,
    ToolsOption,
    TrustOption,
    require_packages,
    serve_http,
)
from memoriter.doors.hosts import HOST_NAMES, Host, host_of
from memoriter.doors.installing import FileChange, plan_install, plan_uninstall, store_for_hosts

if TYPE_CHECKING:
    from memoriter.doors.port import Right


@dataclass(frozen=True, slots=True)
class McpOptions:
    """Which tools to offer, how they are reached, and what they may do."""

    tools: ToolsOption = "core"
    read_only: Annotated[bool, CliOption("--read-only", help="Offer only the tools that read.")] = (
        False
    )
    http: Annotated[
        bool,
        CliOption(
            "--http",
            help="Serve over HTTP, as `serve` does, not over stdin and stdout; the tools are at"
            " /mcp.",
        ),
    ] = False
    trust: TrustOption = "learned"


@command(
    "run",
    "memoriter mcp --store agent.db",
    "memoriter mcp --store agent.db --tools full --read-only",
    "memoriter mcp --http --port 8321",
)
def mcp_run(
    at: MemoryOptions, net: NetworkOptions, offer: McpOptions, reranker: RerankerOption = None
) -> None:
    """Offer the memory to a model as tools (MCP), over stdin and stdout or over HTTP."""
    require_packages("memoriter mcp", ("mcp",))
    if offer.http and offer.read_only:
        raise InputError(
            "read-only: cannot be combined with --http, because each token has its own right",
            hint="make a token that only reads: memoriter token create --right read",
            field="read-only",
        )
    if offer.http and offer.trust != "learned":
        raise InputError(
            "trust: cannot be combined with --http, because each token has its own trust",
            hint="make a token with that trust: memoriter token create --right write --trust …",
            field="trust",
        )
    if offer.http:
        require_packages("memoriter serve", HTTP_PACKAGES)
        serve_http(PrintedOptions(at.store, at.tenant, at.embedder), net, reranker, offer.tools)
    else:
        _serve_stdin(at, reranker, offer)


def _serve_stdin(at: MemoryOptions, reranker: str | None, offer: McpOptions) -> None:
    """Answer the requests on stdin, line by line, until it ends."""
    import anyio  # noqa: PLC0415  # comes with the extra

    from memoriter.doors.mcp.server import LocalCaller, mcp_server  # noqa: PLC0415  # as above
    from memoriter.doors.mcp.stdio import serve_stdio  # noqa: PLC0415  # as above
    from memoriter.doors.mcp.tools import choice_of  # noqa: PLC0415  # as above
    from memoriter.doors.tenant_session import TenantSession  # noqa: PLC0415  # loads the engine

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    choice = choice_of(offer.tools)
    right: Right = "read" if offer.read_only else "write"
    access = "read" if offer.read_only else "make"
    with opened_memory(at, access, setting("reranker", reranker)) as memory:
        caller = LocalCaller(TenantSession(memory.with_ceiling(offer.trust)), right)
        anyio.run(serve_stdio, mcp_server(choice, caller))


# --- install and uninstall --------------------------------------------------------------------

_STORE: Final = "~/.memoriter.db"
HostArgument = Annotated[
    str,
    CliArgument(
        metavar="HOST",
        help="The host, the program that runs the agent: "
        f"{', '.join(HOST_NAMES[:-1])} or {HOST_NAMES[-1]}.",
        show_default=False,
        autocompletion=complete_words(*HOST_NAMES),
    ),
]
ProjectOption = Annotated[
    bool,
    CliOption(
        "--project", help="Change the settings of this project, not those in your home folder."
    ),
]
DryOption = Annotated[bool, CliOption("--dry-run", help="Show what would change; change nothing.")]


@command(
    "install",
    "memoriter mcp install claude-code",
    "memoriter mcp install codex --project --store .memoriter.db --dry-run",
)
def mcp_install(
    host: HostArgument,
    store: Annotated[
        str,
        CliOption(
            "--store",
            metavar="FILE",
            help="The store that the MCP server and the hooks use: a file, or an address.",
        ),
    ] = _STORE,
    *,
    project: ProjectOption = False,
    hooks: Annotated[
        bool,
        CliOption(
            "--hooks/--no-hooks",
            help="Also install the hooks that recall memories and capture conversations.",
        ),
    ] = True,
    dry_run: DryOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add memoriter's MCP server and hooks to the settings of a host; the change is shown first.

    Both use the same store. All other settings stay as they are; `uninstall` removes both again.
    """
    wanted = host_of(host)
    if not dry_run and importlib.util.find_spec("mcp") is None:
        raise Unsupported(
            "memoriter's MCP server needs the package mcp, which is not installed",
            hint=install_hint("server"),
        )
    root = _root(wanted, project=project)
    place = store_for_hosts(store)
    changes = plan_install(wanted, root, place, _program(), project=project, hooks=hooks)
    _finish(wanted, changes, dry_run=dry_run, as_json=as_json)


@command("uninstall", "memoriter mcp uninstall claude-code")
def mcp_uninstall(
    host: HostArgument,
    *,
    project: ProjectOption = False,
    dry_run: DryOption = False,
    as_json: JsonOption = False,
) -> None:
    """Remove memoriter's MCP server and hooks from the settings of a host; the store is kept."""
    wanted = host_of(host)
    root = _root(wanted, project=project)
    changes = plan_uninstall(wanted, root, project=project)
    _finish(wanted, changes, dry_run=dry_run, as_json=as_json)


def _program() -> str:
    """The program that a host runs: this one, by its whole path, else the one on the path."""
    own = Path(sys.executable).with_name("memoriter")
    return str(own) if own.exists() else shutil.which("memoriter") or "memoriter"


def _root(host: Host, *, project: bool) -> Path:
    if project and host.project_servers is None:
        raise InputError(
            f"project: {host.title} has no settings for a single project",
            hint="leave --project out: the settings in your home folder are changed then",
            field="project",
        )
    return Path.cwd() if project else Path.home()


def _finish(host: Host, changes: Sequence[FileChange], *, dry_run: bool, as_json: bool) -> None:
    """Show the changes, then make them."""
    shown = [
        {"path": str(each.path), "diff": "\n".join(_diff(each)), "removed": each.after is None}
        for each in changes
    ]
    if not as_json:  # not through the console, which would break long lines
        print("\n".join(str(each["diff"]) for each in shown) or "nothing to change")
    if not dry_run:
        for each in changes:
            each.check()
        for each in changes:
            each.make()
    if as_json:
        print_json({"host": host.name, "changes": shown, "made": not dry_run})
    elif changes and not dry_run:
        print_note(f"done; restart {host.title} if it is running")


def _diff(change: FileChange) -> Iterator[str]:
    before = (change.before or "").splitlines()
    after = (change.after or "").splitlines()
    name = str(change.path)
    yield from difflib.unified_diff(before, after, name, name, lineterm="", n=2)
