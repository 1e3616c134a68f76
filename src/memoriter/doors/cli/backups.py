"""The commands that copy a whole store: backup and restore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memoriter.core.errors import Conflict
from memoriter.core.shown import counted
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import PrintedOptions, opened_memory, store_path
from memoriter.doors.cli.output import show

if TYPE_CHECKING:
    from memoriter.memory.backups import Backup


@command("backup", "memoriter backup agent-2026-11-17.db --verify")
def backup(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)
    ],
    at: PrintedOptions,
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check every record of the copy before it is kept.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Copy the whole store, all its tenants, to one file; others may use the store meanwhile.

    The file appears when it is complete. `restore` makes a store of it again.
    """
    if file.exists() and not force:
        raise Conflict(f"{file} exists already", hint="name another file, or give --force")
    with opened_memory(at, "read") as memory:
        made = memory.backup(file, verify=verify, progress=not at.json)
    show(made.to_dict(), lambda: _line("copied the store to", made), as_json=at.json)


@command("restore", "memoriter restore agent-2026-11-17.db --store agent.db")
def restore(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A file that `backup` wrote.", show_default=False),
    ],
    at: PrintedOptions,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing store.")] = False,
) -> None:
    """Check every record of a backup, then restore it.

    An existing store is replaced only with --force, and is kept if anything fails.
    """
    from memoriter.memory.backups import restore as restored  # noqa: PLC0415  # loads the engine

    try:
        made = restored(file, store_path(at), force=force, progress=not at.json)
    except Conflict as error:
        raise Conflict(error.message, hint="name another --store, or give --force") from None
    show(made.to_dict(), lambda: _line("restored", made), as_json=at.json)


def _line(done: str, made: Backup) -> str:
    checked = made.checkup
    line = f"{done} {made.path}: {made.size:,} bytes"
    if checked is None:
        return line
    entries = counted(checked.entries, "entry", "entries")
    return f"{line}, {entries} in {counted(checked.tenants, 'tenant')}"
