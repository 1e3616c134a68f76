"""remember: a memory gets in."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from memoriter.core.errors import BadRecord
from memoriter.core.given import Given
from memoriter.doors.cli.flags import Flags
from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Scoped
from memoriter.doors.cli.out import show
from memoriter.doors.cli.tree import command
from memoriter.memory import options

PANEL: Final = "Fields of the memory"
Said = Annotated[
    str,
    typer.Argument(
        metavar="TEXT", help="What to remember; - reads it from stdin.", show_default=False
    ),
]


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known of the memory beside its text."""

    beside: Annotated[dict[str, Any], Flags(options.Beside)]
    fields: Annotated[dict[str, Any], Flags(Given, panel=PANEL)]


@command(
    "remember",
    'memoriter remember "Prod SSH port is 49222" --kind fact --tag ops --supersedes OLD_ID',
    "git log -1 | memoriter remember - --tag git",
)
def remember(text: Said, at: Scoped, draft: Draft) -> None:
    """Keep one memory; prints its id. The store is made if it is not there."""
    said = _stdin() if text == "-" else text
    if not said.strip():
        raise BadRecord("text: must not be empty", hint="say what to remember", field="text")
    fields = {**draft.fields, **draft.beside}
    from memoriter.core.clock import SystemClock  # noqa: PLC0415  # help needs none of it
    from memoriter.core.draft import Draft as Checked  # noqa: PLC0415  # as above

    Checked.of({"text": said, **fields}, SystemClock().now)  # before a store is made
    with opened(at, "make") as memory:
        commit = memory.remember(said, **fields)
    show(commit.to_dict(), lambda: commit.id, as_json=at.json)


def _stdin() -> str:
    """All of stdin, without the line feed that ends it."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").removesuffix("\n")
    except UnicodeDecodeError as bad:
        raise BadRecord(
            f"stdin is not UTF-8 (byte {bad.start})", hint="convert it to UTF-8 first", field="text"
        ) from None
