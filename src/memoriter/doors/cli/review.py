"""The commands for claims of less trusted memories: review, decide."""

from __future__ import annotations

from typing import Annotated

import typer

from memoriter.core.errors import InputError
from memoriter.doors import render
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import IdArgument, ScopedOptions, opened_memory
from memoriter.doors.cli.output import show
from memoriter.text.safe import one_line


@command("review", "memoriter review")
def review(
    at: ScopedOptions,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="How many claims at most.")
    ] = 100,
) -> None:
    """List memories that supersede or contradict a more trusted one, to accept or reject."""
    with opened_memory(at, "read") as memory:
        claims = memory.review(limit=limit)
    data = {"claims": [claim.to_dict() for claim in claims]}
    show(data, lambda: render.records.claim_list(claims), as_json=at.json)


@command("decide", "memoriter decide WEB_ID RULE_ID --reject")
def decide(
    source: IdArgument,
    target: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="The id of the memory that it speaks against.", show_default=False
        ),
    ],
    at: ScopedOptions,
    *,
    accept: Annotated[
        bool, typer.Option("--accept", help="Trust the first as much as the second.")
    ] = False,
    reject: Annotated[bool, typer.Option("--reject", help="End the link.")] = False,
) -> None:
    """Accept or reject a claim of `memoriter review`."""
    if accept == reject:
        raise InputError(
            "decide: pass either --accept or --reject",
            hint="--accept trusts the first memory as much as the second, --reject ends the link",
            field="accept",
        )
    with opened_memory(at, "change") as memory:
        commit = memory.decide(source, target, accept=accept)
    word = "accepted" if accept else "rejected"
    show(commit.to_dict(), lambda: one_line(f"{word} {source}"), as_json=at.json)
