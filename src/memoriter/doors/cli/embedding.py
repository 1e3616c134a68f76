"""embed: which model turns memories into vectors, and how to change it."""

from __future__ import annotations

from typing import Annotated

import typer

from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Place
from memoriter.doors.cli.out import show
from memoriter.doors.cli.tree import branch, command

embed = branch("embed", "Which model turns memories into vectors, and how to change it.")
Name = Annotated[
    str,
    typer.Argument(
        metavar="EMBEDDER", help="For example static, hash or onnx:FOLDER.", show_default=False
    ),
]
Partly = Annotated[bool, typer.Option("--partly", help="Even if records lack a vector of it.")]


@command("status", "memoriter embed status", under=embed)
def status(at: Place) -> None:
    """Show every space of vectors, how full it is, and which one serves."""
    with opened(at, "read") as memory:
        found = memory.embedding.status()
    from memoriter.doors.render.columns import Columns  # noqa: PLC0415  # loads the engine

    heads = ("embedder", "serves", "rows", "of", "space")
    rows = [
        (s.embedder or "", "yes" if s.serves else "no", f"{s.rows:,}", f"{s.of:,}", s.space)
        for s in found
    ]
    data = {"spaces": [space.to_dict() for space in found]}
    show(
        data,
        lambda: Columns(heads, rows, wide=len(heads) - 1) if rows else "no vectors",
        as_json=at.json,
    )


@command("migrate", "memoriter embed migrate minilm", under=embed)
def migrate(model: Name, at: Place) -> None:
    """Embed every memory with another model, while the present one goes on serving.

    It can be stopped and begun again. `promote` lets the new vectors serve.
    """
    with opened(at, "change") as memory:
        space = memory.embedding.migrate(model, progress=True)
    line = f"{space.rows:,} of {space.of:,} are embedded with {model}"
    show(space.to_dict(), lambda: line, as_json=at.json)


@command("promote", "memoriter embed promote minilm", under=embed)
def promote(model: Name, at: Place, *, partly: Partly = False) -> None:
    """Let the vectors of a model serve: memories opened from now on use it."""
    with opened(at, "change") as memory:
        commit = memory.embedding.promote(model, partly=partly)
    show(commit.to_dict(), lambda: f"{model} serves from now on", as_json=at.json)


@command("rollback", "memoriter embed rollback", under=embed)
def rollback(at: Place) -> None:
    """Let the model serve that served before; its vectors are still there."""
    with opened(at, "change") as memory:
        commit = memory.embedding.rollback()
    show(commit.to_dict(), lambda: "the model before serves again", as_json=at.json)
