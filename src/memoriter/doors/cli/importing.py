"""import: many memories in, from files of many kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memoriter.core.errors import BadRecord
from memoriter.doors.cli import completing
from memoriter.doors.cli.opening import opened, stands
from memoriter.doors.cli.options import Scoped
from memoriter.doors.cli.out import show, watched
from memoriter.doors.cli.tree import command

if TYPE_CHECKING:
    from memoriter.memory.importing import Imported

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Files, or folders of Markdown notes.",
        show_default=False,
    ),
]
Form = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        help="What the files are.",
        autocompletion=completing.formats,
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Tell what would come, write nothing.")]


@command(
    "import",
    "memoriter import notes.jsonl todo.txt",
    "memoriter import old.db --dry-run",
    "memoriter import backup.export --store new.db",
    lists={"format": completing.formats},
)
def import_(files: Files, at: Scoped, format: Form = "auto", *, dry_run: DryRun = False) -> None:
    """Remember what stands in files; the store is made if it is not there.

    What a file is follows from its content: a database or an export of another system, chats,
    Markdown notes, JSON lines, plain lines, an export of ours. A bad row is named and keeps no
    other out. What was imported before is not written again.
    """
    from memoriter.imports.table import chosen  # noqa: PLC0415  # loads the readers

    named = [(path, chosen(path, format).format.name) for path in files]
    if dry_run and not stands(at):
        at = replace(at, store=":memory:")
    with opened(at, "read" if dry_run and stands(at) else "make") as memory:
        done = [
            memory.import_file(path, name, dry_run=dry_run, progress=watched())
            for path, name in named
        ]
    if not any(one.records.written + one.records.already for one in done):
        _must_hold(done)
    from memoriter.doors.render.imported import Reports  # noqa: PLC0415  # loads rich

    show({"files": [one.to_dict() for one in done]}, lambda: Reports(done), as_json=at.json)


def _must_hold(done: Sequence[Imported]) -> None:
    """Fail where no row of any file could be taken."""
    refused = [row for one in done for row in one.refused]
    if refused:
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        first = refused[0]
        raise BadRecord(
            f"{first.where}: {first.reason}{more}; no row could be imported", hint=first.hint
        )
