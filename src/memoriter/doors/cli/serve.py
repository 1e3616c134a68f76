"""The commands that serve the memory, over HTTP or as an MCP server, and those for tokens."""

from __future__ import annotations

import importlib
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from memoriter.core.errors import InputError, Unsupported, install_hint
from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors import render
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import (
    CliArgument,
    CliOption,
    JsonOption,
    MemoryOptions,
    PrintedOptions,
    RerankerOption,
    StoreOptions,
    complete_words,
    embedder_option,
    must_exist,
    opened_memory,
    setting,
    settings,
    shown_store,
    store_path,
)
from memoriter.doors.cli.output import print_json, print_note, show

if TYPE_CHECKING:
    from memoriter.doors.http.processes import Siblings
    from memoriter.doors.port import Right
    from memoriter.doors.tokens import Tokens
    from memoriter.memory.options import OpenOptions

HTTP_PACKAGES: Final = ("starlette", "uvicorn", "mcp")
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


def _network(flag: str, **settings: Any) -> CliOption:
    return CliOption(flag, rich_help_panel="Network", **settings)


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """Where to listen, and which requests to answer."""

    host: Annotated[str, _network("--host", metavar="HOST", help="The address to listen on.")] = (
        "127.0.0.1"
    )
    port: Annotated[
        int, _network("--port", metavar="PORT", help="The port; 0 picks a free one.")
    ] = 8321
    allow_host: Annotated[
        list[str] | None,
        _network(
            "--allow-host",
            metavar="NAME",
            help="Another host name that requests may use for this server; may be repeated.",
        ),
    ] = None
    allow_origin: Annotated[
        list[str] | None,
        _network(
            "--allow-origin",
            metavar="URL",
            help="The origin of a web page that may send requests, for example "
            "https://app.example.org; may be repeated.",
        ),
    ] = None
    behind_proxy: Annotated[
        bool,
        _network(
            "--behind-proxy",
            help="No certificate is needed here: a proxy in front of this server handles TLS.",
        ),
    ] = False
    tls_cert: Annotated[
        Path | None, _network("--tls-cert", metavar="FILE", help="A TLS certificate (PEM).")
    ] = None
    tls_key: Annotated[
        Path | None,
        _network("--tls-key", metavar="FILE", help="The private key of the TLS certificate (PEM)."),
    ] = None
    processes: Annotated[
        int,
        _network(
            "--processes",
            metavar="COUNT",
            help="How many processes serve this address; use more than one for several cores.",
        ),
    ] = 1
    log: Annotated[
        str,
        _network(
            "--log",
            metavar="FORMAT",
            help="The log on stderr: `off`, `text` or `json`. Texts of memories and "
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
    serve_http(at, net, reranker, tools)


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


def serve_http(at: PrintedOptions, net: NetworkOptions, reranker: str | None, tools: str) -> None:
    """Serve over HTTP until the process is stopped."""
    from memoriter.doors.http.app import app  # noqa: PLC0415  # needs an extra
    from memoriter.doors.http.logs import log_format, start_logging  # noqa: PLC0415  # as above
    from memoriter.doors.http.processes import run_processes  # noqa: PLC0415  # as above
    from memoriter.doors.http.serving import ServerConfig, bind_socket, run_server, uvicorn_server  # noqa: PLC0415  # as above
    from memoriter.doors.http.state import ServerState  # noqa: PLC0415  # as above
    from memoriter.doors.http.workers import share_fairly  # noqa: PLC0415  # as above
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
            first = siblings is None or siblings.is_first
            server = uvicorn_server(
                app(state, config.host_policy, [mcp_mount(state, choice)]),
                config,
                greeting.show if first else lambda: None,
            )
            # Made last: it is shown only once, and a start that fails must not use it up.
            if first:
                greeting.token = _first_token(tokens, str(values["tenant"].value))
            share_fairly(state.heap)
            run_server(server, listening)

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
            print_note(f"an admin token, shown this once: {self.token}")
        print_note(f"serving {shown_store(self.place)} at {self.url}; Ctrl-C stops")
        print_note(f"the page: {self.url}{PAGE}")


def _first_token(tokens: Tokens, tenant: str) -> str | None:
    """A token for a store that has none."""
    return None if tokens.list() else tokens.create(tenant, "admin", label="first start")[0]


# --- MCP --------------------------------------------------------------------------------------


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


# --- tokens -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TokenOptions(StoreOptions):
    """Which store and tenant, and how to print; no embedder, since no memory is opened."""

    json: JsonOption = False


@command(
    "create",
    "memoriter token create --right write --name laptop",
    "memoriter token create --tenant acme --right read --expires 30d",
)
def token_create(
    at: TokenOptions,
    right: Annotated[
        str,
        CliOption(
            "--right",
            metavar="RIGHT",
            help="What the token allows: read, write or admin; each includes those before it.",
            autocompletion=complete_words("read", "write", "admin"),
        ),
    ] = "read",
    expires: Annotated[
        str | None,
        CliOption(
            "--expires",
            metavar="TIME",
            help="When the token expires: 30d or 12h from now, or a time (ISO 8601).",
        ),
    ] = None,
    name: Annotated[
        str | None, CliOption("--name", metavar="NAME", help="A note on what the token is for.")
    ] = None,
    trust: TrustOption = "learned",
) -> None:
    """Make a token and print it once: only its hash is stored, next to the store.

    The token is valid for the tenant of --tenant only.
    """
    tenant = str(setting("tenant", at.tenant))
    text, made = _tokens(at).create(tenant, right, expires=expires, label=name, trust=trust)
    if not at.json:
        rights = f"right {made.right}, trust up to {made.trust}"
        print_note(f"tenant {made.tenant}, {rights}, id {made.id}; shown this once:")
    show({"token": text, **made.to_dict()}, lambda: text, as_json=at.json)


@command("list", "memoriter token list")
def token_list(at: TokenOptions) -> None:
    """List all tokens of the store, without their secrets."""
    tokens = _tokens(at).list()
    heads = ("id", "tenant", "right", "trust", "created", "expires", "name")
    rows = [tuple(str(token.to_dict()[head] or "—") for head in heads) for token in tokens]
    show(
        {"tokens": [token.to_dict() for token in tokens]},
        lambda: render.ink.TextColumns(heads, rows, wide=6) if rows else "no tokens",
        as_json=at.json,
    )


@command("revoke", "memoriter token revoke 3f9ab2c41d07")
def token_revoke(
    id: Annotated[
        str, CliArgument(metavar="ID", help="The id of a token, as `token list` shows it.")
    ],
    at: TokenOptions,
) -> None:
    """Revoke a token; a running server refuses it from now on."""
    revoked = _tokens(at).revoke(id)
    show({"revoked": revoked.id}, lambda: f"revoked {revoked.id}", as_json=at.json)


def _tokens(at: TokenOptions) -> Tokens:
    from memoriter.doors.tokens import Tokens  # noqa: PLC0415  # loads the engine

    place = store_path(at)
    must_exist(place)
    return Tokens.for_store(place)
