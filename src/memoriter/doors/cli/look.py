"""The commands that show what is stored: browse, get, history, links, agents, status."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from memoriter.doors import render
from memoriter.doors.cli.declare import Flags, command
from memoriter.doors.cli.options import (
    IdArgument,
    KeyOption,
    KnownAtOption,
    PrintedOptions,
    ScopedOptions,
    opened_memory,
    store_path,
)
from memoriter.doors.cli.output import show
from memoriter.memory import options


@dataclass(frozen=True, slots=True)
class BrowseOptions:
    """Which memories, in which order."""

    declared: Annotated[dict[str, Any], Flags(options.BrowseKwargs)]
    sort: Annotated[
        str,
        typer.Option("--sort", metavar="ORDER", help="By creation time: newest or oldest first."),
    ] = "newest"
    cursor: Annotated[
        str | None,
        typer.Option(
            "--cursor",
            metavar="CURSOR",
            help="What the previous page printed as its cursor: continue after it.",
        ),
    ] = None
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="How many at most.")] = 20


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
    """Show one memory, as it is now or as it was known at a time."""
    with opened_memory(at, "read") as memory:
        record = memory.get(id, known_at=known_at)
    show(record.to_dict(), lambda: render.records.record_card(record), as_json=at.json)


@command("history", "memoriter history ID")
def history(id: IdArgument, at: ScopedOptions, known_at: KnownAtOption = None) -> None:
    """Show all versions of a memory, oldest first."""
    with opened_memory(at, "read") as memory:
        versions = memory.history(id, known_at=known_at)
    data = {"id": id, "versions": [version.to_dict() for version in versions]}
    show(data, lambda: render.records.history_list(versions), as_json=at.json)


@command("links", "memoriter links ID")
def links(id: IdArgument, at: ScopedOptions) -> None:
    """Show the links of a memory, in both directions."""
    with opened_memory(at, "read") as memory:
        edges = memory.links(id)
    data = {"id": id, "links": [edge.to_dict() for edge in edges]}
    show(data, lambda: render.records.edge_list(edges, id), as_json=at.json)


# --- agents -----------------------------------------------------------------------------------

AgentArgument = Annotated[
    str, typer.Argument(metavar="AGENT", help="The name of an agent.", show_default=False)
]


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
    alias: Annotated[
        str, typer.Argument(metavar="ALIAS", help="Another name of the agent.", show_default=False)
    ],
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
    words: Annotated[
        str, typer.Argument(metavar="WORDS", help="What to look for.", show_default=False)
    ],
    at: PrintedOptions,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many at most.")
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
        typer.Option("--by", metavar="FIELD", help="Also count by this field, such as agent."),
    ] = None,
) -> None:
    """Show how many memories, tenants, missing vectors and index segments there are, and sizes."""
    path = Path(store_path(at)).expanduser()
    with opened_memory(at, "read") as memory:
        counts = memory.status(by)
    sizes = _sizes(path)
    data = {"store": str(path), **counts.to_dict(), "bytes": sizes}
    show(data, lambda: render.reports.status_report(counts, path, sizes, by), as_json=at.json)


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
