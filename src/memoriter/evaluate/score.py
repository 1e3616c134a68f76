"""The figures of a run: metrics by type of question, and how it answers what it cannot know."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from memoriter.core.lazy_dataclass import dataclass
from memoriter.evaluate.metrics import METRICS, metrics_of
from memoriter.evaluate.resampling import Estimate, auc_estimate, mean_estimate
from memoriter.evaluate.run import EvalOutcome, EvalReply, EvalRun

CROSS: Final = "other stores"
REMOVED: Final = "gold removed"
ALL: Final = "all"
MetricRows = Mapping[str, Sequence[float]]
"""Values of questions by metric."""
Figures = Mapping[str, Estimate]
"""Estimates by metric."""


class Unanswerable(NamedTuple):
    """One kind of questions without an answer in the store."""

    replies: Sequence[EvalReply]
    answerable: Sequence[EvalReply]
    """The answers that they are held against, for the AUC."""
    paired: bool = False
    """Whether both are of the same questions."""


class Abstained(NamedTuple):
    """How one kind of unanswerable questions was answered."""

    none: Estimate
    """The share that was answered with nothing, or with a verdict of none."""
    auc: Estimate | None
    """How well the signal tells them from answerable ones; None where there are none."""

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        none = self.none.to_dict()
        return {
            "questions": none.pop("questions"),
            "none": none,
            "AUC": self.auc and {k: v for k, v in self.auc.to_dict().items() if k != "questions"},
        }


@dataclass(frozen=True, slots=True)
class Abstention:
    """How well a recipe knows that it does not know."""

    signal: str
    """What the AUC is computed from: `relevance` or `top score`."""
    kinds: Mapping[str, Abstained]
    wrongly_none: Estimate | None
    """Of the answerable questions with gold in the first ten: the share with a verdict of none."""

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        return {
            "signal": self.signal,
            "kinds": {kind: each.to_dict() for kind, each in self.kinds.items()},
            "wrongly_none": self.wrongly_none and self.wrongly_none.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of one recipe on one data set."""

    recipe: str
    questions: int
    """How many can be answered; the metrics are means over them."""
    figures: Figures
    types: Mapping[str, Figures]
    abstention: Abstention
    seconds: float

    def to_dict(self) -> dict[str, object]:
        """The score as plain data."""
        return {
            "recipe": self.recipe,
            **_figures_data(self.figures, self.questions),
            "seconds": round(self.seconds, 3),
            "types": {
                name: _figures_data(figures, max(each.questions for each in figures.values()))
                for name, figures in self.types.items()
            },
            "abstention": self.abstention.to_dict(),
        }


def _figures_data(figures: Figures, questions: int) -> dict[str, object]:
    return {
        "questions": questions,
        **{name: round(each.value, 6) for name, each in figures.items()},
        "intervals": {
            name: [round(each.low, 6), round(each.high, 6)] for name, each in figures.items()
        },
    }


def score_run(run: EvalRun, metrics: Collection[str] = tuple(METRICS)) -> Score:
    """The figures of a run, with these metrics."""
    answerable = [outcome for outcome in run.outcomes if outcome.question.gold]
    return Score(
        run.label,
        len(answerable),
        figures=_figures(answerable, metrics),
        types={name: _figures(each, metrics) for name, each in by_type(answerable).items()},
        abstention=abstention_of(run),
        seconds=run.seconds,
    )


def by_type(outcomes: Iterable[EvalOutcome]) -> dict[str, list[EvalOutcome]]:
    """Outcomes by the type of their question, in the order of the names."""
    types: dict[str, list[EvalOutcome]] = {}
    for outcome in outcomes:
        types.setdefault(outcome.question.category, []).append(outcome)
    return dict(sorted(types.items()))


def metric_rows(outcomes: Iterable[EvalOutcome], metrics: Collection[str]) -> MetricRows:
    """The values of each metric, question by question, leaving out those it does not apply to."""
    rows: dict[str, list[float]] = {name: [] for name in METRICS if name in metrics}
    for question, reply, _ in outcomes:
        for name, value in metrics_of(reply.ids, question.gold, question.category).items():
            if name in rows:
                rows[name].append(value)
    return {name: values for name, values in rows.items() if values}


def _figures(outcomes: Iterable[EvalOutcome], metrics: Collection[str]) -> Figures:
    estimates = {
        name: mean_estimate(values) for name, values in metric_rows(outcomes, metrics).items()
    }
    return {name: each for name, each in estimates.items() if each is not None}


# --- questions without an answer ---------------------------------------------------------------


def unanswerable_kinds(run: EvalRun) -> dict[str, Unanswerable]:
    """The kinds of unanswerable questions of a run: by type, all of these, and the made ones."""
    answerable = [outcome.reply for outcome in run.outcomes if outcome.question.gold]
    types = by_type(outcome for outcome in run.outcomes if not outcome.question.gold)
    kinds = {
        name: Unanswerable([outcome.reply for outcome in outcomes], answerable)
        for name, outcomes in types.items()
    }
    if len(kinds) > 1:
        kinds[ALL] = Unanswerable([r for each in kinds.values() for r in each.replies], answerable)
    if run.cross:
        kinds[CROSS] = Unanswerable(run.cross, answerable)
    again = [(each.without_gold, each.reply) for each in run.outcomes if each.without_gold]
    if again:
        without, with_gold = zip(*again, strict=True)
        kinds[REMOVED] = Unanswerable(without, with_gold, paired=True)
    return kinds


def abstention_signal(run: EvalRun) -> str:
    """`relevance` if the engine gave one with every answer that is not empty, else `top score`."""
    rated = [reply.relevance is not None for reply in _replies(run) if reply.ids]
    return "relevance" if rated and all(rated) else "top score"


def can_abstain(run: EvalRun) -> bool:
    """Whether some answer is none, or the signal tells one answer from another."""
    replies = _replies(run)
    values = set(signals(replies, abstention_signal(run)))
    return any(reply.is_none for reply in replies) or len(values) > 1


def _replies(run: EvalRun) -> list[EvalReply]:
    again = (outcome.without_gold for outcome in run.outcomes if outcome.without_gold is not None)
    return [*run.cross, *again, *(outcome.reply for outcome in run.outcomes)]


def signals(replies: Iterable[EvalReply], signal: str) -> list[float]:
    """The signal of each answer; an empty answer lies below all others."""
    values = ((r.relevance if signal == "relevance" else r.top, r.ids) for r in replies)
    return [value if value is not None and ids else -math.inf for value, ids in values]


def abstention_of(run: EvalRun) -> Abstention:
    """How well a recipe knows that it does not know."""
    signal = abstention_signal(run)
    kinds: dict[str, Abstained] = {}
    for name, kind in unanswerable_kinds(run).items():
        none = mean_estimate([float(reply.is_none) for reply in kind.replies])
        positive, negative = (signals(each, signal) for each in (kind.answerable, kind.replies))
        if none is not None:
            kinds[name] = Abstained(none, auc_estimate(positive, negative, paired=kind.paired))
    in_ten = [float(each.reply.is_none) for each in run.outcomes if each.in_ten]
    return Abstention(signal, kinds, mean_estimate(in_ten))
