"""The commands `memoriter eval` and `memoriter recipe compare`: they print tables or JSON.

`doors.cli.tune` parses the command line and calls `run_eval` and `run_compare`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Final

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.evaluate.compare import Differences, RecipeComparison, compare_runs
from memoriter.evaluate.data import Dataset
from memoriter.evaluate.find import find_datasets
from memoriter.evaluate.metrics import MEANING, METRICS, PRINTED
from memoriter.evaluate.protocols import STRICT, EvalProtocol, protocol_of, with_ablations
from memoriter.evaluate.reliability import reliability_lines, reliability_of
from memoriter.evaluate.resampling import Estimate, PairedDifference
from memoriter.evaluate.run import EvalOptions, EvalRun, evaluate, questions_to_ask
from memoriter.evaluate.score import Abstention, Figures, Score, score_run
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
            f"cross: the data set {adapted[0].name} has a single store, so there are no"
            " questions of other stores to ask",
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


# --- scores and comparisons as tables of text: shares in percent, whole-percent intervals ----

_CELL: Final = 16
"""The width of a figure with its interval."""


def printed_metrics(metrics: Collection[str]) -> list[str]:
    """Those of a protocol's metrics that a table shows."""
    return [name for name in PRINTED if name in metrics] or [n for n in METRICS if n in metrics]


def dataset_lines(dataset: Dataset) -> Iterator[str]:
    """What a data set consists of."""
    records = sum(len(case.records) for case in dataset.cases)
    yield f"\n{dataset.name}: {dataset.protocol}."
    yield f"{len(dataset.cases):,} stores, {records:,} records, {dataset.questions:,} questions."


def figure_lines(scores: Sequence[Score], metrics: Collection[str]) -> Iterator[str]:
    """A table of recipes, and for each recipe its figures by type and its abstention."""
    shown = [name for name in printed_metrics(metrics) if any(name in s.figures for s in scores)]
    wide = max(len("recipe"), *(len(score.recipe) for score in scores))
    yield f"  {'recipe':{wide}}{_heads(shown)}{'n':>7}{'seconds':>9}"
    for score in scores:
        cells = _cells(score.figures, shown)
        yield f"  {score.recipe:{wide}}{cells}{score.questions:>7,}{score.seconds:>9.1f}"
    for score in scores:
        if len(score.types) > 1:
            yield from _type_lines(score, shown)
        if score.abstention.kinds:
            yield from _abstention_lines(score.recipe, score.abstention)


def _type_lines(score: Score, shown: Sequence[str]) -> Iterator[str]:
    wide = max(len("type"), *map(len, score.types))
    yield f"\n  {score.recipe}, by type of question"
    yield f"  {'type':{wide}}{_heads(shown)}{'n':>7}"
    for name, figures in score.types.items():
        questions = max(each.questions for each in figures.values())
        yield f"  {name:{wide}}{_cells(figures, shown)}{questions:>7,}"


def _abstention_lines(recipe: str, abstention: Abstention) -> Iterator[str]:
    wide = max(len("type"), *map(len, abstention.kinds))
    yield f"\n  {recipe}, questions without an answer (AUC of the {abstention.signal})"
    yield f"  {'type':{wide}}{_heads(['none'])}{'AUC':>{_CELL + 2}}{'n':>7}"
    for name, kind in abstention.kinds.items():
        cells = f"{_percent(kind.none):>{_CELL}}{_share(kind.auc):>{_CELL + 2}}"
        yield f"  {name:{wide}}{cells}{kind.none.questions:>7,}"
    wrong = abstention.wrongly_none
    if wrong is not None:
        yield f"  wrongly none: {_percent(wrong)} of {wrong.questions:,} with gold in the first ten"


def _heads(names: Sequence[str]) -> str:
    return "".join(f"{name:>{_CELL}}" for name in names)


def _cells(figures: Figures, shown: Sequence[str]) -> str:
    return "".join(f"{_percent(figures.get(name)):>{_CELL}}" for name in shown)


def _percent(figure: Estimate | None) -> str:
    """As `44.6 (38–51)`, in percent.

    >>> _percent(Estimate(0.446, 0.3844, 0.5083, 242)), _percent(None)
    ('44.6 (38–51)', '-')
    """
    if figure is None:
        return "-"
    return f"{100 * figure.value:.1f} ({100 * figure.low:.0f}–{100 * figure.high:.0f})"


def _share(figure: Estimate | None) -> str:
    if figure is None:
        return "-"
    return f"{figure.value:.2f} ({figure.low:.2f}–{figure.high:.2f})"


def comparison_lines(comparison: RecipeComparison, metrics: Collection[str]) -> Iterator[str]:
    """A table of differences by type and metric, in percent; an AUC in hundredths."""
    shown = printed_metrics(metrics)
    rows = [
        row
        for group, differences in comparison.types.items()
        for row in _difference_rows(group, differences, [*shown, "wrongly none"])
    ] + [
        row
        for group, differences in comparison.unanswerable.items()
        for row in _difference_rows(f"no answer: {group}", differences, ["none", "AUC"])
    ]
    heads = ("type", "metric", "first", "second", "difference", "95 %", "p", "higher", "lower", "n")
    widths = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    yield f"first: {comparison.first}, second: {comparison.second}. Shares in percent."
    for row in (heads, *rows):
        texts = (f"{cell:{wide}}" for cell, wide in zip(row[:2], widths[:2], strict=True))
        numbers = (f"{cell:>{wide}}" for cell, wide in zip(row[2:], widths[2:], strict=True))
        yield "  " + "  ".join((*texts, *numbers))


def _difference_rows(
    group: str, differences: Differences, shown: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    for name in shown:
        if name in differences:
            each = differences[name]
            yield (group, name, *_difference_cells(each, counted=name != "AUC"))
            group = ""  # named once


def _difference_cells(each: PairedDifference | None, *, counted: bool) -> tuple[str, ...]:
    if each is None:
        return ("-",) * 8
    return (
        f"{100 * each.first:.1f}",
        f"{100 * each.second:.1f}",
        f"{100 * each.difference:+.1f}",
        f"{100 * each.low:+.1f} to {100 * each.high:+.1f}",
        f"{each.p:.4f}",
        f"{each.higher:,}" if counted else "",
        f"{each.lower:,}" if counted else "",
        f"{each.questions:,}",
    )
