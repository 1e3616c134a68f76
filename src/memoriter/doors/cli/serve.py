"""The commands for servers: serve, mcp."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from memoriter.core.errors import InputError, Unsupported, install_hint
from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import (
    MemoryOptions,
    PrintedOptions,
    RerankerOption,
    complete_words,
    embedder_option,
    opened_memory,
    setting,
    settings,
    shown_store,
)
from memoriter.doors.cli.output import note, print_json
from memoriter.doors.cli.params import CliOption

if TYPE_CHECKING:
    from memoriter.doors.http.heap import Heap
    from memoriter.doors.http.processes import Siblings
    from memoriter.doors.port import Right
    from memoriter.doors.tokens import Tokens
    from memoriter.memory.options import OpenOptions

SWITCH_S: Final = 0.001
"""After how many seconds a thread of a server lets another one run."""
_PANEL: Final = "Network"
HTTP_PACKAGES: Final = ("starlette", "uvicorn", "mcp")
_MCP_PACKAGES: Final = ("mcp",)
TrustOption = Annotated[
    str,
    CliOption(
        "--trust",
        metavar="TRUST",
        help="The highest trust that a write may have: system, learned or external.",
        autocompletion=complete_words("system", "learned", "external"),
    ),
]
ToolsOption = Annotated[
    str,
    CliOption(
        "--tools",
        metavar="SET",
        help="MCP tools to offer: core (six tools), full (all), or compat (core, and tools named "
        "as in other memory systems).",
        autocompletion=complete_words("core", "full", "compat"),
    ),
]


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """Where to listen, and which requests to answer."""

    host: Annotated[
        str,
        CliOption(
            "--host", metavar="HOST", rich_help_panel=_PANEL, help="The address to listen on."
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int,
        CliOption(
            "--port", metavar="PORT", rich_help_panel=_PANEL, help="The port; 0 picks a free one."
        ),
    ] = 8321
    allow_host: Annotated[
        list[str] | None,
        CliOption(
            "--allow-host",
            metavar="NAME",
            rich_help_panel=_PANEL,
            help="Another host name that requests may use for this server; may be repeated.",
        ),
    ] = None
    allow_origin: Annotated[
        list[str] | None,
        CliOption(
            "--allow-origin",
            metavar="URL",
            rich_help_panel=_PANEL,
            help="The origin of a web page that may send requests, for example "
            "https://app.example.org; may be repeated.",
        ),
    ] = None
    behind_proxy: Annotated[
        bool,
        CliOption(
            "--behind-proxy",
            rich_help_panel=_PANEL,
            help="A proxy in front of this server handles TLS.",
        ),
    ] = False
    tls_cert: Annotated[
        Path | None,
        CliOption(
            "--tls-cert", metavar="FILE", rich_help_panel=_PANEL, help="A certificate (PEM)."
        ),
    ] = None
    tls_key: Annotated[
        Path | None,
        CliOption(
            "--tls-key",
            metavar="FILE",
            rich_help_panel=_PANEL,
            help="The key of the certificate (PEM).",
        ),
    ] = None

    processes: Annotated[
        int,
        CliOption(
            "--processes",
            metavar="COUNT",
            rich_help_panel=_PANEL,
            help="How many processes serve this address; use more than one for several cores.",
        ),
    ] = 1

    log: Annotated[
        str,
        CliOption(
            "--log",
            metavar="FORMAT",
            rich_help_panel=_PANEL,
            help="Write a log to stderr: off, text or json. Texts of memories and "
            "questions are never logged.",
            autocompletion=complete_words("off", "text", "json"),
        ),
    ] = "off"

    def url(self, port: int) -> str:
        """The address of the server."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls_cert else 'http'}://{name}:{port}"


@command(
    "serve",
    "memoriter serve",
    "memoriter serve --host 0.0.0.0 --behind-proxy --allow-host memory.example.org",
)
def serve(
    at: PrintedOptions,
    net: NetworkOptions,
    reranker: RerankerOption = None,
    tools: ToolsOption = "core",
) -> None:
    """Serve the memory over HTTP: REST at /v1, JSON-RPC at /rpc, MCP at /mcp, a page at /page/.

    Metrics are at /metrics.

    Every request needs a token, which decides the tenant and the permission. On the first start a
    store without tokens gets one admin token for --tenant, printed once; `memoriter token` makes
    others.
    """
    require_packages("memoriter serve", HTTP_PACKAGES)
    _serve(at, net, reranker, tools)


def require_packages(command_line: str, packages: tuple[str, ...]) -> None:
    """Raise Unsupported if a package of the extra `server` is not installed."""
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError:
            raise Unsupported(
                f"{command_line} needs the package {package}, which is not installed",
                hint=install_hint("server"),
            ) from None


def _serve(at: PrintedOptions, net: NetworkOptions, reranker: str | None, tools: str) -> None:
    from memoriter.doors.http.app import app  # noqa: PLC0415  # needs an extra
    from memoriter.doors.http.logs import log_format, start_logging  # noqa: PLC0415  # as above
    from memoriter.doors.http.processes import run_processes  # noqa: PLC0415  # as above
    from memoriter.doors.http.serving import ServerConfig, bind_socket, run_server, uvicorn_server  # noqa: PLC0415  # as above
    from memoriter.doors.http.state import ServerState  # noqa: PLC0415  # as above
    from memoriter.doors.mcp.http import mcp_mount  # noqa: PLC0415  # as above
    from memoriter.doors.mcp.tools import choice_of  # noqa: PLC0415  # as above
    from memoriter.doors.tokens import Tokens  # noqa: PLC0415  # loads the engine
    from memoriter.memory.tenants import Tenants  # noqa: PLC0415  # as above

    choice = choice_of(tools)
    start_logging(log_format(net.log), sys.stderr)
    values = settings(
        {"store": at.store, "tenant": at.tenant, "embedder": at.embedder, "reranker": reranker}
    )
    config = ServerConfig(
        host=net.host,
        port=net.port,
        hosts=net.allow_host or (),
        origins=net.allow_origin or (),
        behind_proxy=net.behind_proxy,
        cert=net.tls_cert,
        key=net.tls_key,
    ).checked()
    # Bound first: a port that is taken must fail before a store is opened or created.
    with bind_socket(config) as listening:

        def work(siblings: Siblings | None) -> None:
            place = str(values["store"].value)
            options: OpenOptions = {"reranker": values["reranker"].value}
            tenants = Tenants(place, **(options | embedder_option(values["embedder"].value)))
            tokens = Tokens.for_store(place)
            greeting = _Greeting(at, net.url(listening.getsockname()[1]), place)
            state = ServerState(tenants, tokens, config.limits, siblings)
            application = app(state, config.host_policy, [mcp_mount(state, choice)])
            first = siblings is None or siblings.is_first
            server = uvicorn_server(application, config, greeting.show if first else _nothing)
            # Made last: it is shown only once, and a start that fails must not use it up.
            if first:
                greeting.token = _first_token(tokens, str(values["tenant"].value))
            _share_fairly(state.heap, partial(run_server, server, listening))

        run_processes(net.processes, work)


@dataclass(slots=True)
class _Greeting:
    """What is printed when a server accepts connections."""

    at: PrintedOptions
    url: str
    place: str
    token: str | None = None

    def show(self) -> None:
        from memoriter.doors.http.guards import PAGE  # noqa: PLC0415  # needs an extra

        if self.at.json:
            print_json({"url": self.url, "token": self.token})
            return
        if self.token is not None:
            note(f"an admin token, shown this once: {self.token}")
        note(f"serving {shown_store(self.place)} at {self.url}; Ctrl-C stops")
        note(f"the page: {self.url}{PAGE}")


def _nothing() -> None:
    """The other processes print nothing."""


def _share_fairly(heap: Heap, serve: Callable[[], None]) -> None:
    """Serve, and bound what one tenant takes from others: memory kept, turns of threads, pauses."""
    heap.limit_arenas()
    heap.settle()
    # Threads that compute give way to those that answer others five times as often as usual.
    sys.setswitchinterval(SWITCH_S)
    serve()


def _first_token(tokens: Tokens, tenant: str) -> str | None:
    """A token for a store that has none."""
    if tokens.list():
        return None
    return tokens.create(tenant, "admin", label="first start")[0]


# --- mcp --------------------------------------------------------------------------------------


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
def mcp(
    at: MemoryOptions, net: NetworkOptions, offer: McpOptions, reranker: RerankerOption = None
) -> None:
    """Offer the memory to a model as tools (MCP), over stdin and stdout or over HTTP."""
    require_packages("memoriter mcp", _MCP_PACKAGES)
    if offer.http and offer.read_only:
        raise InputError(
            "read-only: cannot be combined with --http, where the right of each token decides",
            hint="make a token that only reads: memoriter token create --right read",
            field="read-only",
        )
    if offer.http and offer.trust != "learned":
        raise InputError(
            "trust: cannot be combined with --http, where the trust of each token decides",
            hint="make a token with that trust: memoriter token create --right write --trust …",
            field="trust",
        )
    if offer.http:
        require_packages("memoriter serve", HTTP_PACKAGES)
        _serve(PrintedOptions(at.store, at.tenant, at.embedder), net, reranker, offer.tools)
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
