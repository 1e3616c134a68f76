"""export: many memories out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memoriter.core.errors import InputError
from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Scoped, Where
from memoriter.doors.cli.out import show
from memoriter.doors.cli.tree import command
from memoriter.doors.cli.values import where_of

if TYPE_CHECKING:
    from memoriter.memory.facade import Memory

Target = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]


@command(
    "export",
    "memoriter export backup.export",
    'memoriter export facts.jsonl --where \'{"kind": "fact"}\'',
)
def export(file: Target, at: Scoped, where: Where = None, *, force: Force = False) -> None:
    """Write a tenant to a file, whole, so that import restores it exactly.

    With --where, or for one agent, user or session, the memories are written as plain JSON lines.
    """
    test = where_of(where)
    if file.exists() and not force:
        raise InputError(f"{file} is there already", hint="name another file, or give --force")
    with opened(at, "read") as memory:
        count = _exported(memory, file, test)
    show(
        {"file": str(file), "lines": count},
        lambda: f"wrote {count} lines to {file}",
        as_json=at.json,
    )


def _exported(memory: Memory, file: Path, where: dict[str, object] | None) -> int:
    """Write beside the target first, so that a failure leaves no half of a file."""
    part = file.with_name(file.name + ".part")
    try:
        count = memory.export(part, where=where)
        part.replace(file)
    except OSError as error:
        raise InputError(
            f"{file}: {error.strerror}", hint="name a file that can be written"
        ) from None
    finally:
        part.unlink(missing_ok=True)
    return count
