"""The command that serves the memory over HTTP, and those for the tokens of its callers."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from memoriter.core.errors import Unsupported, install_hint
from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors import render
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import (
    JsonOption,
    PrintedOptions,
    RerankerOption,
    StoreOptions,
    complete_words,
    embedder_option,
    must_exist,
    setting,
    settings,
    shown_store,
    store_path,
)
from memoriter.doors.cli.output import print_json, print_note, show
from memoriter.doors.cli.params import CliArgument, CliOption

if TYPE_CHECKING:
    from memoriter.doors.http.heap import Heap
    from memoriter.doors.http.processes import Siblings
    from memoriter.doors.tokens import Credential, Tokens
    from memoriter.memory.options import OpenOptions

_PANEL: Final = "Network"
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
            help="A proxy in front of this server handles TLS: no certificate is needed here.",
        ),
    ] = False
    tls_cert: Annotated[
        Path | None,
        CliOption(
            "--tls-cert", metavar="FILE", rich_help_panel=_PANEL, help="A TLS certificate (PEM)."
        ),
    ] = None
    tls_key: Annotated[
        Path | None,
        CliOption(
            "--tls-key",
            metavar="FILE",
            rich_help_panel=_PANEL,
            help="The private key of the TLS certificate (PEM).",
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
            print_note(f"an admin token, shown this once: {self.token}")
        print_note(f"serving {shown_store(self.place)} at {self.url}; Ctrl-C stops")
        print_note(f"the page: {self.url}{PAGE}")


def _nothing() -> None:
    """The other processes print nothing."""


def _share_fairly(heap: Heap, serve: Callable[[], None]) -> None:
    """Serve, and bound what one tenant takes from others: memory kept, turns of threads, pauses."""
    from memoriter.doors.http.workers import TURN_S  # noqa: PLC0415  # needs an extra

    heap.limit_arenas()
    heap.freeze()
    # Threads that compute give way to those that answer others five times as often as usual.
    sys.setswitchinterval(TURN_S)
    serve()


def _first_token(tokens: Tokens, tenant: str) -> str | None:
    """A token for a store that has none."""
    if tokens.list():
        return None
    return tokens.create(tenant, "admin", label="first start")[0]


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
            help="The right: read, write or admin; each includes those before it.",
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
    rows = [tuple(_cell(token, head) for head in heads) for token in tokens]
    show(
        {"tokens": [token.to_dict() for token in tokens]},
        lambda: render.ink.TextColumns(heads, rows, wide=6) if rows else "no tokens",
        as_json=at.json,
    )


@command("revoke", "memoriter token revoke 3f9ab2c41d07")
def token_revoke(
    id: Annotated[
        str,
        CliArgument(
            metavar="ID", help="The id of a token, as `token list` shows it.", show_default=False
        ),
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


def _cell(token: Credential, head: str) -> str:
    value = token.to_dict()[head]
    return "—" if value is None else str(value)
