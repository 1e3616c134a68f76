"""Compares two recipes question by question: what the second gains, and whether by chance."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from memoriter.core.lazy_dataclass import dataclass
from memoriter.evaluate.metrics import METRICS
from memoriter.evaluate.resampling import PairedDifference, auc_difference, paired_difference
from memoriter.evaluate.run import EvalOutcome, EvalRun
from memoriter.evaluate.score import (
    ALL,
    Unanswerable,
    abstention_signal,
    by_type,
    can_abstain,
    metric_rows,
    signals,
    unanswerable_kinds,
)

Differences = Mapping[str, PairedDifference | None]
"""Differences by metric; None where a recipe has nothing that could be compared."""


@dataclass(frozen=True, slots=True)
class RecipeComparison:
    """Two recipes on one data set; every difference is the second minus the first."""

    first: str
    second: str
    types: Mapping[str, Differences]
    """By type of answerable question, all of them first."""
    unanswerable: Mapping[str, Differences]
    """By kind of unanswerable question."""

    def to_dict(self) -> dict[str, object]:
        """The comparison as plain data."""
        return {
            "first": self.first,
            "second": self.second,
            "types": _data(self.types),
            "unanswerable": _data(self.unanswerable),
        }


def _data(groups: Mapping[str, Differences]) -> dict[str, object]:
    return {
        group: {name: each and each.to_dict() for name, each in differences.items()}
        for group, differences in groups.items()
    }


def compare_runs(
    first: EvalRun, second: EvalRun, metrics: Collection[str] = tuple(METRICS)
) -> RecipeComparison:
    """The differences of two runs on the same questions."""
    one, two = _answerable(first), _answerable(second)
    groups = {ALL: (one, two)}
    first_types, second_types = by_type(one), by_type(two)
    if len(first_types) > 1:
        groups |= {name: (first_types[name], second_types[name]) for name in first_types}
    types = {name: _differences(*pair, metrics) for name, pair in groups.items()}
    return RecipeComparison(first.label, second.label, types, _abstentions(first, second))


def _answerable(run: EvalRun) -> list[EvalOutcome]:
    return [outcome for outcome in run.outcomes if outcome.question.gold]


def _differences(
    first: Sequence[EvalOutcome], second: Sequence[EvalOutcome], metrics: Collection[str]
) -> Differences:
    rows = metric_rows(first, metrics), metric_rows(second, metrics)
    pairs = {name: (values, rows[1][name]) for name, values in rows[0].items()}
    if all(any(each.reply.strength is not None for each in run) for run in (first, second)):
        both = [(a, b) for a, b in zip(first, second, strict=True) if a.in_ten and b.in_ten]
        none = [[float(outcome.reply.is_none) for outcome in pair] for pair in both]
        pairs["wrongly none"] = ([a for a, _ in none], [b for _, b in none])
    return _present({name: paired_difference(*pair) for name, pair in pairs.items()})


def _abstentions(first: EvalRun, second: EvalRun) -> dict[str, Differences]:
    one, two = _asked_again_by_both(first, second)
    kinds = unanswerable_kinds(one), unanswerable_kinds(two)
    return {
        name: _abstention((one, kind), (two, kinds[1][name])) for name, kind in kinds[0].items()
    }


def _abstention(
    first: tuple[EvalRun, Unanswerable], second: tuple[EvalRun, Unanswerable]
) -> Differences:
    """The differences, None unless both recipes have relevance, or both only scores that differ."""
    signal = abstention_signal(first[0])
    if signal != abstention_signal(second[0]) or not (
        can_abstain(first[0]) and can_abstain(second[0])
    ):
        return {"none": None, "AUC": None}
    none = [[float(reply.is_none) for reply in kind.replies] for _, kind in (first, second)]
    curves = [
        (
            signals(kind.answerable, signal),
            signals(kind.replies, signal),
        )
        for _, kind in (first, second)
    ]
    return _present(
        {
            "none": paired_difference(none[0], none[1]),
            "AUC": auc_difference(curves[0], curves[1], paired=first[1].paired),
        }
    )


def _asked_again_by_both(first: EvalRun, second: EvalRun) -> tuple[EvalRun, EvalRun]:
    """The runs with answers without gold only where both have one: a pair needs two."""
    one: list[EvalOutcome] = []
    two: list[EvalOutcome] = []
    for a, b in zip(first.outcomes, second.outcomes, strict=True):
        both = a.without_gold is not None and b.without_gold is not None
        one.append(a if both else a._replace(without_gold=None))
        two.append(b if both else b._replace(without_gold=None))
    return replace(first, outcomes=one), replace(second, outcomes=two)


def _present(differences: Mapping[str, PairedDifference | None]) -> Differences:
    return {name: each for name, each in differences.items() if each is not None}
