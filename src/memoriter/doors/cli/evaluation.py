"""eval: how good are the answers?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memoriter.doors.cli import completing
from memoriter.doors.cli.options import AsJson
from memoriter.doors.cli.tree import command

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="PATH", help="Questions with known answers (MEMORITER_DATA)."),
]
Recipes = Annotated[
    list[str] | None,
    typer.Option(
        "--recipe", help="A recipe to measure; may be repeated.", autocompletion=completing.recipes
    ),
]
Limit = Annotated[
    int | None, typer.Option("--limit", "-n", min=1, help="Only the first questions.")
]

Protocol = Annotated[
    str,
    typer.Option("--protocol", help="How to ask.", autocompletion=completing.protocols),
]
Without = Annotated[
    list[str] | None,
    typer.Option("--without", metavar="LABEL", help="A lane or boost left out in further rows."),
]


@command(
    "eval",
    "memoriter eval --data locomo.json --recipe memoriter --recipe lexical",
    lists={"protocol": completing.protocols},
)
def evaluate(
    data: Data = None,
    recipe: Recipes = None,
    limit: Limit = None,
    *,
    protocol: Protocol = "strict",
    without: Without = None,
    as_json: AsJson = False,
) -> None:
    """Measure how good the answers of recipes are on questions with known answers."""
    from memoriter.evaluate.command import run_eval  # noqa: PLC0415  # loads the engine

    how = protocol, list(without or ())
    raise typer.Exit(run_eval(data, list(recipe or ()), limit, json_out=as_json, how=how))
