"""The commands that measure recipes on questions with known answers: eval, recipe compare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import (
    JsonOption,
    RecipeArgument,
    complete_protocol,
    complete_recipe,
    setting,
)

if TYPE_CHECKING:
    from memoriter.evaluate.command import EvalData


@dataclass(frozen=True, slots=True)
class QuestionsOptions:
    """Which questions to ask, and how."""

    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="PATH",
            help="Questions with known answers: a folder with memories.jsonl and "
            "questions.jsonl, a .jsonl file, LoCoMo, LongMemEval, BEIR, or a folder of these "
            "(MEMORITER_DATA).",
        ),
    ] = None
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            metavar="N",
            min=1,
            help="Ask only N questions of each data set, spread evenly.",
        ),
    ] = None
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol",
            metavar="NAME",
            help="How the questions are asked.",
            autocompletion=complete_protocol,
        ),
    ] = "strict"
    embedder: Annotated[
        str | None,
        typer.Option(
            "--embedder",
            metavar="NAMES",
            help="Embedding models, comma-separated: the first embeds the memories, all are "
            "searched; `none`: search by words only (MEMORITER_EMBEDDER; default: the packaged "
            "one).",
        ),
    ] = None
    cross: Annotated[
        bool,
        typer.Option(
            "--cross", help="Also ask each store the questions of the others: it has no answer."
        ),
    ] = False
    remove_gold: Annotated[
        bool,
        typer.Option(
            "--remove-gold",
            help="Ask again without the memories that hold the answer, if they were in the first "
            "ten.",
        ),
    ] = False

    def to_eval(self) -> EvalData:
        """The options as the evaluation takes them."""
        from memoriter.evaluate.command import EvalData  # noqa: PLC0415  # loads the engine
        from memoriter.evaluate.run import EvalOptions  # noqa: PLC0415  # as above

        names = setting("embedder", self.embedder)
        listed = [] if names in (None, "none") else [n.strip() for n in str(names).split(",")]
        embedders = None if names is None else tuple(listed)
        options = EvalOptions(self.cross, self.remove_gold, embedders)
        return EvalData(self.data, self.limit, self.protocol, options)


@command(
    "eval",
    "memoriter eval --data my-questions/ --recipe memoriter --recipe mine.toml",
    "memoriter eval --data questions.jsonl --remove-gold --json",
    lists={"protocol": complete_protocol},
)
def evaluate(
    asked: QuestionsOptions,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            "--recipe",
            metavar="NAME",
            help="A recipe to measure, by name or .toml file; may be repeated.",
            autocompletion=complete_recipe,
        ),
    ] = None,
    *,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="LABEL",
            help="Measure again without this lane or boost; may be repeated.",
        ),
    ] = None,
    reliability: Annotated[
        bool,
        typer.Option(
            "--reliability",
            help="Also how often an answer of a given relevance is right, and how often each "
            "store says none.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure the quality of recipes on questions with known answers."""
    from memoriter.evaluate.command import run_eval  # noqa: PLC0415  # loads the engine

    done = run_eval(
        asked.to_eval(),
        recipe or (),
        json_out=as_json,
        without=list(without or ()),
        reliability=reliability,
    )
    raise typer.Exit(done)


@command(
    "compare",
    "memoriter recipe compare memoriter mine.toml --data my-questions/",
    lists={"protocol": complete_protocol},
)
def recipe_compare(
    asked: QuestionsOptions,
    first: RecipeArgument,
    second: RecipeArgument,
    *,
    as_json: JsonOption = False,
) -> None:
    """Ask the same questions with two recipes and test whether they differ, by type of question."""
    from memoriter.evaluate.command import run_compare  # noqa: PLC0415  # loads the engine

    raise typer.Exit(run_compare(asked.to_eval(), first, second, json_out=as_json))
