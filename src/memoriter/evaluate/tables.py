"""Scores and comparisons as tables of text; shares in percent with whole-percent intervals."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from memoriter.evaluate.compare import Differences, RecipeComparison
from memoriter.evaluate.data import Dataset
from memoriter.evaluate.metrics import METRICS, PRINTED
from memoriter.evaluate.resampling import Estimate, PairedDifference
from memoriter.evaluate.score import Abstention, Figures, Score

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
