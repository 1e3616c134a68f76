"""The command `memoriter eval`: scores recipes on data sets and prints a table or JSON.

`doors.cli.tune` parses the command line and calls `run_eval`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from memoriter.core.errors import InputError
from memoriter.evaluate.data import Dataset, find_datasets
from memoriter.evaluate.metrics import MEANING, METRICS
from memoriter.evaluate.protocols import STRICT, EvalProtocol, protocol_of, with_ablations
from memoriter.evaluate.run import Score, evaluate
from memoriter.pipeline.load import recipe_of
from memoriter.pipeline.recipe import Recipe
from memoriter.write.progress import show_progress


def run_eval(
    data: Path | None,
    recipes: list[str],
    limit: int | None,
    *,
    json_out: bool,
    protocol: str = STRICT,
    without: Sequence[str] = (),
) -> int:
    """Score recipes on data sets, print the result and return the exit code.

    Args:
        data: A file or folder of data sets; None: the environment names it.
        recipes: Names or files of recipes; empty: those of the protocol.
        limit: Questions per data set at most.
        json_out: Print JSON instead of a table.
        protocol: The name of the evaluation protocol.
        without: Lanes or boosts; each recipe is scored again without each of them.

    Raises InputError or NotFound if the data, a recipe, the protocol or the limit is wrong.

    """
    if limit is not None and limit < 1:
        raise InputError(f"limit: {limit} is not a number of questions", field="limit")
    chosen = protocol_of(protocol)
    named = {label: recipe_of(label) for label in recipes or chosen.recipes}
    rows = with_ablations(named, chosen.settings, without)
    data_sets: list[dict[str, object]] = []
    sets = [dataset.first(limit) for dataset in _adapted(data, chosen)]
    if not json_out:
        _print(_opening(rows))
    for dataset in sets:
        scores = [score.only(chosen.metrics) for score in _scores(dataset, rows)]
        data_sets.append(_data(dataset, scores))
        if not json_out:
            _print(_table(dataset, scores))
    if json_out:
        _print([json.dumps(_whole(rows, data_sets), ensure_ascii=False, indent=2)])
    return 0


def _adapted(data: Path | None, protocol: EvalProtocol) -> list[Dataset]:
    """The data sets that a protocol can use, prepared by it."""
    datasets = find_datasets(data)
    adapted = [made for dataset in datasets if (made := protocol.adapt(dataset)) is not None]
    if not adapted:
        raise InputError(
            f"this protocol cannot use {datasets[0].name}",
            hint="it needs several conversations, such as LoCoMo",
            field="protocol",
        )
    return adapted


def _print(lines: Iterator[str] | Sequence[str]) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()  # a data set may take minutes: show each table at once


def _scores(dataset: Dataset, recipes: dict[str, Recipe]) -> list[Score]:
    """The scores of a data set, with a progress bar on stderr if that is a terminal."""
    total = dataset.questions * len(recipes)
    with show_progress(sys.stderr.isatty(), dataset.name, total) as on_progress:
        return evaluate(dataset, recipes, on_progress)


def _opening(recipes: dict[str, Recipe]) -> Iterator[str]:
    yield f"{MEANING} In percent."
    yield "Compared on the same stores, with the packaged embedder and no language model:"
    for label, recipe in recipes.items():
        about = f"{recipe.name} v{recipe.version} {recipe.fingerprint[:12]}"
        yield f"  {label}: {about}. {recipe.about}"


def _table(dataset: Dataset, scores: Sequence[Score]) -> Iterator[str]:
    records = sum(len(case.records) for case in dataset.cases)
    wide = max(len("recipe"), *(len(score.recipe) for score in scores))
    yield f"\n{dataset.name}: {dataset.protocol}."
    yield f"{len(dataset.cases):,} stores, {records:,} records, {dataset.questions:,} questions."
    names = "".join(f"{name:>9}" for name in METRICS)
    yield f"  {'recipe':{wide}}{names}{'questions':>11}{'seconds':>9}"
    for score in scores:
        cells = "".join(
            f"{100 * score.means[name]:9.1f}" if name in score.means else f"{'-':>9}"
            for name in METRICS
        )
        yield f"  {score.recipe:{wide}}{cells}{score.questions:>11,}{score.seconds:>9.1f}"


def _data(dataset: Dataset, scores: Sequence[Score]) -> dict[str, object]:
    return {
        "name": dataset.name,
        "protocol": dataset.protocol,
        "stores": len(dataset.cases),
        "records": sum(len(case.records) for case in dataset.cases),
        "questions": dataset.questions,
        "scores": [score.to_dict() for score in scores],
    }


def _whole(recipes: dict[str, Recipe], data: Sequence[dict[str, object]]) -> dict[str, object]:
    return {
        "metrics": f"{MEANING} As fractions of 1.",
        "recipes": {
            label: {"name": r.name, "version": r.version, "fingerprint": r.fingerprint}
            for label, r in recipes.items()
        },
        "data": list(data),
    }
