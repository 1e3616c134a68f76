"""The commands that show what is stored: records, links, claims, agents, counts, the page."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, cast

from memoriter import __version__
from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors import render
from memoriter.doors.cli.declare import Flags, command
from memoriter.doors.cli.options import (
    CliArgument,
    CliOption,
    IdArgument,
    JsonOption,
    KeyOption,
    KnownAtOption,
    PrintedOptions,
    RerankerOption,
    ScopedOptions,
    embedder_option,
    must_exist,
    opened_memory,
    settings,
    shown_store,
    store_path,
)
from memoriter.doors.cli.output import print_json, print_note, show
from memoriter.doors.cli.serve import HTTP_PACKAGES, require_packages
from memoriter.memory import options
from memoriter.memory.options import OpenOptions
from memoriter.text.safe import one_line

_LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class BrowseOptions:
    """Which memories, in which order."""

    declared: Annotated[dict[str, Any], Flags(options.BrowseKwargs)]
    sort: Annotated[
        str,
        CliOption(
            "--sort", metavar="ORDER", help="The order by creation time: newest or oldest first."
        ),
    ] = "newest"
    cursor: Annotated[
        str | None,
        CliOption(
            "--cursor",
            metavar="CURSOR",
            help="Continue after this cursor, which the previous page printed.",
        ),
    ] = None
    limit: Annotated[
        int, CliOption("--limit", "-n", metavar="N", help="How many memories are on a page.")
    ] = 20


@command(
    "browse",
    "memoriter browse --sort oldest --limit 5",
    'memoriter browse --where \'{"kind": "fact"}\'',
)
def browse(look: BrowseOptions, at: ScopedOptions) -> None:
    """List memories by date, page by page."""
    with opened_memory(at, "read") as memory:
        page = memory.browse(
            cast("Any", look.sort), cursor=look.cursor, limit=look.limit, **look.declared
        )
    show(
        page.to_dict(),
        lambda: render.records.page_list(page.records, page.total, page.cursor),
        as_json=at.json,
    )


@command("get", "memoriter get ID", "memoriter get ID --known-at 2026-10-01 --json")
def get(id: IdArgument, at: ScopedOptions, known_at: KnownAtOption = None) -> None:
    """Show one memory as it is now or, with --known-at, as it was at that time."""
    with opened_memory(at, "read") as memory:
        record = memory.get(id, known_at=known_at)
    show(record.to_dict(), lambda: render.records.record_card(record), as_json=at.json)


@command("history", "memoriter history ID")
def history(
    id: IdArgument,
    at: ScopedOptions,
    known_at: KnownAtOption = None,
    limit: Annotated[int, CliOption("--limit", metavar="N", help="How many versions.")] = 50,
    upto: Annotated[
        int | None, CliOption("--upto", metavar="ROW", help="Only versions up to this row.")
    ] = None,
) -> None:
    """Show the newest versions of a memory, oldest first."""
    with opened_memory(at, "read") as memory:
        versions = memory.history(id, known_at=known_at, limit=limit, upto=upto)
    data = {"id": id, "versions": [version.to_dict() for version in versions]}
    show(data, lambda: render.records.history_list(versions), as_json=at.json)


@command("links", "memoriter links ID")
def links(id: IdArgument, at: ScopedOptions) -> None:
    """Show the links of a memory, in both directions."""
    with opened_memory(at, "read") as memory:
        edges = memory.links(id)
    data = {"id": id, "links": [edge.to_dict() for edge in edges]}
    show(data, lambda: render.records.edge_list(edges, id), as_json=at.json)


# --- claims against what is trusted more --------------------------------------------------------


@command("review", "memoriter review")
def review(
    at: ScopedOptions,
    limit: Annotated[int, CliOption("--limit", metavar="N", help="How many claims to list.")] = 100,
) -> None:
    """List claims: memories that supersede or contradict a more trusted one. See also `decide`."""
    with opened_memory(at, "read") as memory:
        claims = memory.review(limit=limit)
    data = {"claims": [claim.to_dict() for claim in claims]}
    show(data, lambda: render.records.claim_list(claims), as_json=at.json)


@command("decide", "memoriter decide WEB_ID RULE_ID --reject")
def decide(
    source: IdArgument,
    target: Annotated[
        list[str],
        CliArgument(
            metavar="ID",
            help="The id of the memory that the first memory claims to supersede or contradict."
            " Give several ids to decide several claims at once.",
        ),
    ],
    at: ScopedOptions,
    *,
    accept: Annotated[
        bool,
        CliOption(
            "--accept", help="Accept the claim: the first memory gets the trust of the second."
        ),
    ] = False,
    reject: Annotated[
        bool,
        CliOption(
            "--reject", help="Reject the claim: end the link from the first memory to the second."
        ),
    ] = False,
) -> None:
    """Accept or reject a claim that `memoriter review` lists."""
    if accept == reject:
        raise InputError(
            "decide: pass either --accept or --reject",
            hint="--accept gives the first memory the trust of the second, --reject ends the link"
            " between them",
            field="accept",
        )
    with opened_memory(at, "change") as memory:
        commit = memory.decide(source, target, accept=accept)
    word = "accepted" if accept else "rejected"
    show(commit.to_dict(), lambda: one_line(f"{word} {source}"), as_json=at.json)


# --- agents -----------------------------------------------------------------------------------

AgentArgument = Annotated[str, CliArgument(metavar="AGENT", help="The name of an agent.")]


@command("list", "memoriter agents list")
def agents_list(at: PrintedOptions) -> None:
    """List all registered agents."""
    with opened_memory(at, "read") as memory:
        agents = memory.agents.list()
    data = {"agents": [agent.to_dict() for agent in agents]}
    show(data, lambda: render.records.agent_list(agents), as_json=at.json)


@command("show", "memoriter agents show deploy-bot")
def agents_show(agent: AgentArgument, at: PrintedOptions) -> None:
    """Show the registry entry of an agent."""
    with opened_memory(at, "read") as memory:
        entry = memory.agents.get(agent)
    lines = {**entry.to_dict(), "aliases": ", ".join(entry.aliases)}
    show(entry.to_dict(), lambda: render.ink.fact_table(lines), as_json=at.json)


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """The fields of a registry entry."""

    declared: Annotated[dict[str, Any], Flags(options.AgentFields)]


@command("upsert", 'memoriter agents upsert deploy-bot --owner ana --description "ships releases"')
def agents_upsert(agent: AgentArgument, at: PrintedOptions, entry: AgentOptions) -> None:
    """Register an agent, or change its registry entry."""
    with opened_memory(at, "make") as memory:
        commit = memory.agents.upsert(agent, **entry.declared)
    show(commit.to_dict(), lambda: f"registered {agent}", as_json=at.json)


@command("alias", "memoriter agents alias deploy-bot shipper")
def agents_alias(
    agent: AgentArgument,
    alias: Annotated[str, CliArgument(metavar="ALIAS", help="Another name of the agent.")],
    at: PrintedOptions,
    key: KeyOption = None,
) -> None:
    """Add another name for a registered agent."""
    with opened_memory(at, "change") as memory:
        memory.agents.get(agent)  # raises for an agent that is not registered
        commit = memory.agents.alias(agent, alias, key=key)
    show(commit.to_dict(), lambda: f"{agent} is also {alias}", as_json=at.json)


@command("search", 'memoriter agents search "who ships releases"')
def agents_search(
    words: Annotated[str, CliArgument(metavar="WORDS", help="What to look for.")],
    at: PrintedOptions,
    limit: Annotated[
        int, CliOption("--limit", "-n", metavar="N", min=1, help="How many agents to list.")
    ] = 10,
) -> None:
    """Find agents by the words of their registry entry."""
    with opened_memory(at, "read") as memory:
        hits = memory.agents.search(words, limit)
    data = {"agents": [{**agent.to_dict(), "score": score} for agent, score in hits]}
    show(data, lambda: render.records.agent_hits(hits), as_json=at.json)


# --- status -----------------------------------------------------------------------------------


@command("status", "memoriter status --by agent", "memoriter status --json")
def status(
    at: PrintedOptions,
    by: Annotated[
        str | None,
        CliOption("--by", metavar="FIELD", help="Also count by this field, such as agent."),
    ] = None,
    *,
    repeats: Annotated[
        bool, CliOption("--repeats", help="Also list memories whose texts are nearly the same.")
    ] = False,
) -> None:
    """Count the memories, tenants, missing vectors and index segments, and show sizes."""
    place = store_path(at)
    with opened_memory(at, "read") as memory:
        counts = memory.status(by, repeats=repeats)
    place, sizes = shown_store(place), {} if "://" in place else _sizes(Path(place).expanduser())
    data = {"store": place, **counts.to_dict(), "bytes": sizes}
    show(data, lambda: render.reports.status_report(counts, place, sizes, by), as_json=at.json)


def _sizes(path: Path) -> dict[str, int]:
    """Bytes of the file, of the write-ahead log beside it, and of the index."""
    path = path.resolve()
    folder = path.with_name(path.name + ".idx")
    segments = sum(each.stat().st_size for each in folder.iterdir()) if folder.is_dir() else 0
    wal = path.with_name(path.name + "-wal")
    return {
        "file": path.stat().st_size if path.exists() else 0,
        "wal": wal.stat().st_size if wal.exists() else 0,
        "index": segments,
    }


# --- page -------------------------------------------------------------------------------------


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
        int, CliOption("--port", metavar="PORT", help="The port; 0 picks a free one.")
    ] = 0,
    read_only: Annotated[
        bool, CliOption("--read-only", help="Read only: the page cannot write to the memory.")
    ] = False,
    open_browser: Annotated[
        bool,
        CliOption("--open/--no-open", help="Whether to open the browser or only print the link."),
    ] = True,
) -> None:
    """Open the memory in the browser: ask, see why, try other settings, browse and edit.

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
            print_note(f"the page of {place}; this link signs in once: {url}")
            print_note("Ctrl-C ends it")
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


@command("version", "memoriter version")
def version(*, as_json: JsonOption = False) -> None:
    """Print the version."""
    show({"version": __version__}, lambda: f"memoriter {__version__}", as_json=as_json)
