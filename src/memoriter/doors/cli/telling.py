"""remember: a memory gets in."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import typer

from memoriter.core.errors import BadRecord
from memoriter.doors.cli.fields import Fields, fields_of
from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Key, Scoped
from memoriter.doors.cli.out import show
from memoriter.doors.cli.tree import command

Said = Annotated[
    str,
    typer.Argument(
        metavar="TEXT", help="What to remember; - reads it from stdin.", show_default=False
    ),
]


@dataclass(frozen=True, slots=True)
class Beside:
    """What is given beside the fields."""

    id: Annotated[
        str | None, typer.Option("--id", help="An id of your own (default: a new UUIDv7).")
    ] = None
    key: Key = None
    supersedes: Annotated[
        list[str] | None,
        typer.Option("--supersedes", metavar="ID", help="The memory it replaces; may be repeated."),
    ] = None
    corrects: Annotated[
        list[str] | None,
        typer.Option("--corrects", metavar="ID", help="The memory it sets right; may be repeated."),
    ] = None
    invalidates: Annotated[
        list[str] | None,
        typer.Option(
            "--invalidates", metavar="ID", help="The memory it makes void; may be repeated."
        ),
    ] = None

    def given(self) -> dict[str, object]:
        """What was given."""
        told = {
            "id": self.id, "key": self.key, "supersedes": self.supersedes,
            "corrects": self.corrects, "invalidates": self.invalidates,
        }  # fmt: skip
        return {name: value for name, value in told.items() if value not in (None, [])}


@command(
    "remember",
    'memoriter remember "Prod SSH port is 49222" --kind fact --tag ops --supersedes OLD_ID',
    "git log -1 | memoriter remember - --tag git",
)
def remember(text: Said, at: Scoped, beside: Beside, fields: Fields) -> None:
    """Keep one memory; prints its id. The store is made if it is not there."""
    given = {**fields_of(fields), **beside.given()}
    said = _stdin() if text == "-" else text
    if not said.strip():
        raise BadRecord("text: must not be empty", hint="say what to remember", field="text")
    with opened(at, "make") as memory:
        commit = memory.remember(said, **given)
    show(commit.to_dict(), lambda: commit.id, as_json=at.json)


def _stdin() -> str:
    """All of stdin, without the line feed that ends it."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").removesuffix("\n")
    except UnicodeDecodeError as bad:
        raise BadRecord(
            f"stdin is not UTF-8 (byte {bad.start})", hint="convert it to UTF-8 first", field="text"
        ) from None
