"""The command page: opens the memory in the browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from typing import Annotated, Final

import typer

from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import (
    PrintedOptions,
    RerankerOption,
    embedder_option,
    must_exist,
    settings,
)
from memoriter.doors.cli.output import note, print_json
from memoriter.doors.cli.serve import HTTP_PACKAGES, require_packages
from memoriter.memory.options import OpenOptions

_LOOPBACK: Final = "127.0.0.1"


@command(
    "page",
    "memoriter page",
    "memoriter page --store agent.db --read-only --no-open",
)
def page(
    at: PrintedOptions,
    reranker: RerankerOption = None,
    *,
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", help="The port; 0 picks a free one.")
    ] = 0,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Look and ask only: nothing can be written.")
    ] = False,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the browser, or only print the link.")
    ] = True,
) -> None:
    """Open the memory in the browser: ask, see why, what if, browse and change it.

    The page listens on this machine only. The link works once and needs no token. The page
    stops when this command ends.
    """
    require_packages("memoriter page", HTTP_PACKAGES)
    values = settings(
        {"store": at.store, "tenant": at.tenant, "embedder": at.embedder, "reranker": reranker}
    )
    place, tenant = str(values["store"].value), str(values["tenant"].value)
    must_exist(place)
    options: OpenOptions = {"reranker": values["reranker"].value, "read_only": read_only}
    options |= embedder_option(values["embedder"].value)

    def started(url: str) -> None:
        if at.json:
            print_json({"url": url})
        else:
            note(f"the page of {place}; this link signs in once: {url}")
            note("Ctrl-C ends it")
        if open_browser:
            webbrowser.open(url)

    _serve_page(place, tenant, options, port, started)


def _serve_page(
    place: str, tenant: str, options: OpenOptions, port: int, started: Callable[[str], None]
) -> None:
    """Serve one tenant on the loopback address; `started` is called with the link."""
    from memoriter.doors.http.app import app  # noqa: PLC0415  # needs an extra
    from memoriter.doors.http.guards import PAGE  # noqa: PLC0415  # as above
    from memoriter.doors.http.limits import Limits  # noqa: PLC0415  # as above
    from memoriter.doors.http.page import OneTimeLink  # noqa: PLC0415  # as above
    from memoriter.doors.http.serving import ServerConfig, bind_socket, run_server, uvicorn_server  # noqa: PLC0415  # as above
    from memoriter.doors.http.state import ServerState  # noqa: PLC0415  # as above
    from memoriter.doors.tokens import Tokens  # noqa: PLC0415  # loads the engine
    from memoriter.memory.tenants import Tenants  # noqa: PLC0415  # as above

    # One person who waits for an answer, not a crowd: a slow one is better than none.
    config = ServerConfig(host=_LOOPBACK, port=port, limits=Limits(answer_s=60.0)).checked()
    with bind_socket(config) as listening:
        tenants = Tenants(place, **options)
        tokens = Tokens()  # in memory: the store's own tokens are no key to this page
        right = "read" if options.get("read_only") else "admin"
        link = OneTimeLink(lambda: tokens.create(tenant, right, label="memoriter page")[0])
        address = f"http://{_LOOPBACK}:{listening.getsockname()[1]}{PAGE}"
        url = f"{address}#link={link.secret}"
        server_state = ServerState(tenants, tokens, config.limits)
        application = app(server_state, config.host_policy, link=link)
        run_server(uvicorn_server(application, config, lambda: started(url)), listening)
