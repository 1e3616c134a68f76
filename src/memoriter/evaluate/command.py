"""The commands `memoriter eval` and `memoriter recipe compare`: they print tables or JSON.

`doors.cli.tune` parses the command line and calls `run_eval` and `run_compare`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.evaluate.compare import compare_runs
from memoriter.evaluate.data import Dataset
from memoriter.evaluate.find import find_datasets
from memoriter.evaluate.metrics import MEANING
from memoriter.evaluate.protocols import STRICT, EvalProtocol, protocol_of, with_ablations
from memoriter.evaluate.reliability import reliability_lines, reliability_of
from memoriter.evaluate.run import EvalOptions, EvalRun, evaluate, questions_to_ask
from memoriter.evaluate.score import score_run
from memoriter.evaluate.tables import comparison_lines, dataset_lines, figure_lines
from memoriter.pipeline.load import recipe_of
from memoriter.pipeline.recipe import Recipe
from memoriter.write.progress import show_progress

_INTERVALS = "In brackets 95 % bootstrap intervals over questions."


@dataclass(frozen=True, slots=True)
class EvalData:
    """Which questions are asked, and how."""

    place: Path | None = None
    """A file or folder of data sets; None: the environment names it."""
    limit: int | None = None
    """Questions per data set at most."""
    protocol: str = STRICT
    options: EvalOptions = field(default_factory=EvalOptions)


def run_eval(
    data: EvalData,
    recipes: Sequence[str],
    *,
    json_out: bool,
    without: Sequence[str] = (),
    reliability: bool = False,
) -> int:
    """Score recipes on data sets, print the result and return the exit code.

    Args:
        data: The questions.
        recipes: Names or files of recipes; empty: those of the protocol.
        json_out: Print JSON instead of tables.
        without: Lanes or boosts; each recipe is scored again without each of them.
        reliability: Also how often an answer of a given relevance is right, and each store.

    Raises InputError or NotFound if the data, a recipe, the protocol or the limit is wrong.

    """
    protocol = protocol_of(data.protocol)
    named = {label: recipe_of(label) for label in recipes or protocol.recipes}
    rows = with_ablations(named, protocol.settings, without)
    datasets = _datasets(data, protocol)
    out: list[dict[str, object]] = []
    if not json_out:
        _print([f"{MEANING} In percent. {_INTERVALS}", *_opening(rows, data.options)])
    for dataset in datasets:
        runs = _runs(dataset, rows, data.options)
        scores = [score_run(run, protocol.metrics) for run in runs]
        relied = [reliability_of(run) for run in runs] if reliability else []
        out.append(_about(dataset) | {"scores": [score.to_dict() for score in scores]})
        if reliability:
            out[-1]["reliability"] = {each.recipe: each.to_dict() for each in relied}
        if not json_out:
            _print(dataset_lines(dataset))
            _print(figure_lines(scores, protocol.metrics))
            _print(line for each in relied for line in reliability_lines(each))
    if json_out:
        _print_json(rows, data.options, out)
    return 0


def run_compare(data: EvalData, first: str, second: str, *, json_out: bool) -> int:
    """Compare two recipes question by question, print the differences and return the exit code.

    Raises InputError or NotFound if the data, a recipe, the protocol or the limit is wrong.
    """
    if first == second:
        raise InputError(
            f"both recipes are {first!r}, so there is nothing to compare",
            hint="name two different recipes",
        )
    protocol = protocol_of(data.protocol)
    rows = with_ablations(
        {label: recipe_of(label) for label in (first, second)}, protocol.settings, ()
    )
    datasets = _datasets(data, protocol)
    out: list[dict[str, object]] = []
    if not json_out:
        meaning = "A difference is the second minus the first, on the same questions."
        _print([f"{MEANING} {meaning}", *_opening(rows, data.options)])
    for dataset in datasets:
        one, two = _runs(dataset, rows, data.options)
        comparison = compare_runs(one, two, protocol.metrics)
        out.append(_about(dataset) | comparison.to_dict())
        if not json_out:
            _print(dataset_lines(dataset))
            _print(comparison_lines(comparison, protocol.metrics))
    if json_out:
        _print_json(rows, data.options, out)
    return 0


def _datasets(data: EvalData, protocol: EvalProtocol) -> list[Dataset]:
    """The data sets that a protocol can use, prepared by it."""
    if data.limit is not None and data.limit < 1:
        raise InputError(f"limit: expected at least 1 question, got {data.limit}", field="limit")
    datasets = find_datasets(data.place)
    adapted = [made for dataset in datasets if (made := protocol.adapt(dataset)) is not None]
    if not adapted:
        raise InputError(
            f"the protocol {data.protocol} cannot use the data set {datasets[0].name}",
            hint="give a data set of several conversations, such as LoCoMo",
            field="protocol",
        )
    if data.options.cross and all(len(dataset.cases) == 1 for dataset in adapted):
        raise InputError(
            "cross: each store is asked the questions of the others, but"
            f" {adapted[0].name} has a single store",
            hint="leave out --cross, or give a data set of several stores",
            field="cross",
        )
    return [dataset.first(data.limit) for dataset in adapted]


def _runs(dataset: Dataset, recipes: dict[str, Recipe], options: EvalOptions) -> list[EvalRun]:
    """The answers of each recipe, with a progress bar on stderr if that is a terminal."""
    total = questions_to_ask(dataset, options) * len(recipes)
    with show_progress(sys.stderr.isatty(), dataset.name, total) as on_progress:
        return evaluate(dataset, recipes, on_progress, options)


def _opening(recipes: dict[str, Recipe], options: EvalOptions) -> Iterable[str]:
    embedder = _embedder(options)
    yield f"On the same stores, with {embedder} and no language model, neither to answer nor judge:"
    for label, recipe in recipes.items():
        about = f"{recipe.name} v{recipe.version} {recipe.fingerprint[:12]}"
        yield f"  {label}: {about}. {recipe.about}"


def _embedder(options: EvalOptions) -> str:
    if options.embedders is None:
        return "the packaged embedder"
    return f"embedder {', '.join(options.embedders)}" if options.embedders else "no embedder"


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()  # a data set may take minutes: show each table at once


def _about(dataset: Dataset) -> dict[str, object]:
    return {
        "name": dataset.name,
        "protocol": dataset.protocol,
        "stores": len(dataset.cases),
        "records": sum(len(case.records) for case in dataset.cases),
        "questions": dataset.questions,
    }


def _print_json(
    recipes: dict[str, Recipe], options: EvalOptions, data: Sequence[dict[str, object]]
) -> None:
    whole = {
        "metrics": f"{MEANING} As fractions of 1; intervals are 95 % bootstrap ones.",
        "embedder": _embedder(options),
        "recipes": {
            label: {"name": r.name, "version": r.version, "fingerprint": r.fingerprint}
            for label, r in recipes.items()
        },
        "data": list(data),
    }
    _print([json.dumps(whole, ensure_ascii=False, indent=2)])
