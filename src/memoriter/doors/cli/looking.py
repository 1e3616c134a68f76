"""browse, get, history, links: what is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, cast

import typer

from memoriter.doors.cli.flags import Flags
from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Id, KnownAt, Scoped
from memoriter.doors.cli.out import show
from memoriter.doors.cli.tree import command
from memoriter.memory import options


@dataclass(frozen=True, slots=True)
class Look:
    """Which records, in which order."""

    given: Annotated[dict[str, Any], Flags(options.Look)]
    sort: Annotated[str, typer.Option("--sort", help="newest or oldest first.")] = "newest"
    cursor: Annotated[
        str | None, typer.Option("--cursor", help="Go on where the page before ended.")
    ] = None
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many at most.")] = 20


@command(
    "browse",
    "memoriter browse --sort oldest --limit 5",
    'memoriter browse --where \'{"kind": "fact"}\'',
)
def browse(look: Look, at: Scoped) -> None:
    """List memories by date, page by page."""
    with opened(at, "read") as memory:
        page = memory.browse(
            cast("Any", look.sort), cursor=look.cursor, limit=look.limit, **look.given
        )
    from memoriter.doors.render.plain import page_list  # noqa: PLC0415  # loads the engine

    show(page.to_dict(), lambda: page_list(page.records, page.total, page.cursor), as_json=at.json)


@command("get", "memoriter get ID", "memoriter get ID --known-at 2026-10-01 --json")
def get(id: Id, at: Scoped, known_at: KnownAt = None) -> None:  # the word users type
    """Show one memory, as it is or as it was known at a time."""
    with opened(at, "read") as memory:
        record = memory.get(id, known_at=known_at)
    from memoriter.doors.render.plain import record_card  # noqa: PLC0415  # as above

    show(record.to_dict(), lambda: record_card(record), as_json=at.json)


@command("history", "memoriter history ID")
def history(id: Id, at: Scoped, known_at: KnownAt = None) -> None:  # as above
    """Show all versions of a memory, oldest first."""
    with opened(at, "read") as memory:
        versions = memory.history(id, known_at=known_at)
    from memoriter.doors.render.plain import history_list  # noqa: PLC0415  # as above

    data = {"id": id, "versions": [version.to_dict() for version in versions]}
    show(data, lambda: history_list(versions), as_json=at.json)


@command("links", "memoriter links ID")
def links(id: Id, at: Scoped) -> None:  # as above
    """Show the links at a memory, in both directions."""
    with opened(at, "read") as memory:
        edges = memory.links(id)
    from memoriter.doors.render.plain import edge_list  # noqa: PLC0415  # as above

    data = {"id": id, "links": [edge.to_dict() for edge in edges]}
    show(data, lambda: edge_list(edges, id), as_json=at.json)
