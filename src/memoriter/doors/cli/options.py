"""The options that many commands share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from memoriter.core.options import declared
from memoriter.memory.options import Asking, Changes, Chosen

_PLACE = "Store and scope"

_CHOSEN = declared(Chosen)
Where = Annotated[
    str | None,
    typer.Option("--where", metavar="JSON", help=_CHOSEN["where"].option.about),
]
KnownAt = Annotated[
    str | None,
    typer.Option("--known-at", metavar="TIME", help=_CHOSEN["known_at"].option.about),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a memory.", show_default=False)]
Key = Annotated[
    str | None,
    typer.Option("--key", help=declared(Changes)["key"].option.about),
]
Reranker = Annotated[
    str | None,
    typer.Option(
        "--reranker",
        help="Reads the best candidates again, for recipes that ask one (MEMORITER_RERANKER).",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", "-n", help=declared(Asking)["limit"].option.about),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


@dataclass(frozen=True, slots=True)
class Store:
    """Which store, and whose memories."""

    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="PATH",
            rich_help_panel=_PLACE,
            help="The file of the store (MEMORITER_STORE; default: memoriter.db).",
        ),
    ] = None
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant",
            rich_help_panel=_PLACE,
            help="Whose memories: a hard wall (MEMORITER_TENANT; default: default).",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Beside(Store):
    """The same, and how to print: for what lies beside a store and opens no memory."""

    json: AsJson = False


@dataclass(frozen=True, slots=True)
class Opening(Store):
    """Which memory to open."""

    embedder: Annotated[
        str | None,
        typer.Option(
            "--embedder",
            metavar="NAMES",
            rich_help_panel=_PLACE,
            help="Who embeds; of several, with commas between, the first serves and the others are "
            "read beside it; none for words alone (MEMORITER_EMBEDDER; default: the one promoted).",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Place(Opening):
    """The same, and how to print."""

    json: AsJson = False


@dataclass(frozen=True, slots=True)
class Scoped(Place):
    """The same, for one agent, user or session."""

    agent: Annotated[
        str | None,
        typer.Option("--agent", rich_help_panel=_PLACE, help="Of this agent (MEMORITER_AGENT)."),
    ] = None
    user: Annotated[
        str | None,
        typer.Option("--user", rich_help_panel=_PLACE, help="Of this user (MEMORITER_USER)."),
    ] = None
    session: Annotated[
        str | None,
        typer.Option(
            "--session", rich_help_panel=_PLACE, help="Of this session (MEMORITER_SESSION)."
        ),
    ] = None
