"""analyzer: how the words of memories are read."""

from __future__ import annotations

from typing import Annotated

import typer

from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Place
from memoriter.doors.cli.out import show
from memoriter.doors.cli.tree import branch, command

analyzer = branch("analyzer", "How words are read: what recipes may ask for, and what is kept.")
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="An analyzer, as `list` names it.", show_default=False)
]


@command("list", "memoriter analyzer list", under=analyzer)
def list_(at: Place) -> None:
    """List all analyzers, and how much of the store each has read."""
    with opened(at, "read") as memory:
        found = memory.analyzers.list()
    from memoriter.doors.render.columns import Columns  # noqa: PLC0415  # loads the engine

    heads = ("analyzer", "kept", "rows", "of")
    rows = [(a.name, "yes" if a.added else "no", f"{a.rows:,}", f"{a.of:,}") for a in found]
    data = {"analyzers": [each.to_dict() for each in found]}
    show(data, lambda: Columns(heads, rows, wide=0), as_json=at.json)


@command("add", "memoriter analyzer add fts5-porter", under=analyzer)
def add(name: Name, at: Place) -> None:
    """Keep the words of an analyzer: of all that is there, and of every write from now on.

    Recipes that name it then work on a store of any size. It can be stopped and begun again.
    """
    with opened(at, "change") as memory:
        kept = memory.analyzers.add(name, progress=True)
    show(kept.to_dict(), lambda: f"{name} has read {kept.rows:,} of {kept.of:,}", as_json=at.json)


@command("remove", "memoriter analyzer remove fts5-porter", under=analyzer)
def remove(name: Name, at: Place) -> None:
    """Drop the words of an analyzer; small stores are still read through it, in memory."""
    with opened(at, "change") as memory:
        memory.analyzers.remove(name)
    show({"removed": name}, lambda: f"removed {name}", as_json=at.json)
