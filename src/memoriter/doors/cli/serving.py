"""serve: the memory over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memoriter.doors.cli import completing
from memoriter.doors.cli.opening import embedding
from memoriter.doors.cli.options import Place, Reranker
from memoriter.doors.cli.out import note, print_json
from memoriter.doors.cli.settings import settings
from memoriter.doors.cli.tree import command
from memoriter.doors.extra import HTTP, need

if TYPE_CHECKING:
    from memoriter.doors.tokens import Tokens
    from memoriter.memory.options import OpenOptions

_NET = "Network"


@dataclass(frozen=True, slots=True)
class Listening:
    """Where to listen, and whom to answer."""

    host: Annotated[
        str, typer.Option("--host", rich_help_panel=_NET, help="The address to listen at.")
    ] = "127.0.0.1"
    port: Annotated[
        int, typer.Option("--port", rich_help_panel=_NET, help="The port; 0 takes a free one.")
    ] = 8321
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            rich_help_panel=_NET,
            help="Another name that requests may call this server by.",
        ),
    ] = None
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-origin",
            metavar="URL",
            rich_help_panel=_NET,
            help="A web page's origin that may ask, for example https://app.example.org.",
        ),
    ] = None
    behind_proxy: Annotated[
        bool,
        typer.Option("--behind-proxy", rich_help_panel=_NET, help="A proxy before it speaks TLS."),
    ] = False
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", rich_help_panel=_NET, help="A certificate (PEM).")
    ] = None
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", rich_help_panel=_NET, help="Its key (PEM).")
    ] = None


Tools = Annotated[
    str,
    typer.Option(
        "--tools",
        help="Tools for models: core (six), full, compat (others' names).",
        autocompletion=completing.words("core", "full", "compat"),
    ),
]


@command(
    "serve",
    "memoriter serve",
    "memoriter serve --host 0.0.0.0 --behind-proxy --allow-host memory.example.org",
)
def serve(at: Place, net: Listening, reranker: Reranker = None, tools: Tools = "core") -> None:
    """Serve the memory over HTTP: REST under /v1, JSON-RPC at /rpc, MCP at /mcp, /metrics.

    Every request needs a token, which says the tenant and the right. A store without any gets one
    on the first start: an admin token of the tenant, printed once. `memoriter token` makes others.
    """
    need("memoriter serve", HTTP)
    from memoriter.doors.http.serving import Where, bound, run, server_of  # noqa: PLC0415  # needs the extra
    from memoriter.doors.mcp.http import beside  # noqa: PLC0415  # as above
    from memoriter.doors.mcp.tools import choice_of  # noqa: PLC0415  # as above

    choice = choice_of(tools)

    told = settings(
        {"store": at.store, "tenant": at.tenant, "embedder": at.embedder, "reranker": reranker}
    )
    where = Where(
        net.host, net.port, net.allow_host or (), net.allow_origin or (),
        net.behind_proxy, net.tls_cert, net.tls_key,
    ).checked()  # fmt: skip
    welcome = where.welcome
    with bound(where) as listening:
        from memoriter.doors.tokens import Tokens  # noqa: PLC0415  # loads the engine
        from memoriter.memory.house import House  # noqa: PLC0415  # as above

        place = str(told["store"].value)
        options: OpenOptions = {"reranker": told["reranker"].value}
        house = House(place, **(options | embedding(told["embedder"].value)))
        tokens = Tokens.beside(place)
        url = _address(net, listening.getsockname()[1])

        def started() -> None:
            if at.json:
                print_json({"url": url, "token": first})
                return
            if first is not None:
                note(f"an admin token, shown this once: {first}")
            note(f"serving {place} at {url}; Ctrl-C stops")

        from memoriter.doors.http.app import app  # noqa: PLC0415  # needs the extra
        from memoriter.doors.http.office import Office  # noqa: PLC0415  # as above

        office = Office(house, tokens, where.limits)
        inside = app(office, welcome, [beside(office, choice)])
        server = server_of(inside, where, started)
        # The last thing: a start that fails must not swallow the token that is shown once.
        first = _first(tokens, str(told["tenant"].value))
        run(server, listening)


def _address(net: Listening, port: int) -> str:
    """Where the server is reached."""
    name = f"[{net.host}]" if ":" in net.host else net.host
    return f"{'https' if net.tls_cert else 'http'}://{name}:{port}"


def _first(tokens: Tokens, tenant: str) -> str | None:
    """A token for a store that has none."""
    if tokens.list():
        return None
    return tokens.create(tenant, "admin", label="first start")[0]
