"""Runs every question of a data set with every recipe and scores the answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from memoriter.core.errors import NothingToRun
from memoriter.evaluate.data import Dataset, EvalCase, EvalQuestion, EvalRecord
from memoriter.evaluate.metrics import DEPTH, mean, metrics_of
from memoriter.memory.facade import Memory
from memoriter.memory.opening import open_memory
from memoriter.memory.options import DraftFields
from memoriter.pipeline.recipe import Recipe

_DAY: Final = 86_400_000_000
OnProgress = Callable[[int], None]
"""Called with the number of questions answered so far, over all recipes."""


@dataclass(frozen=True, slots=True)
class FixedClock:
    """A clock that always returns the same time, so that two runs give the same numbers."""

    at: int

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return self.at


@dataclass(frozen=True, slots=True)
class Score:
    """The metrics of one recipe on one data set."""

    recipe: str
    means: Mapping[str, float]
    categories: Mapping[str, Mapping[str, float]]
    questions: int
    seconds: float
    """Wall time of the searches alone, without loading and remembering the data."""

    def only(self, names: Collection[str]) -> Score:
        """The score with only these metrics."""
        categories = {each: _only(means, names) for each, means in self.categories.items()}
        return replace(self, means=_only(self.means, names), categories=categories)

    def to_dict(self) -> dict[str, object]:
        """The score as plain data."""
        return {
            "recipe": self.recipe,
            "questions": self.questions,
            **{name: round(value, 6) for name, value in self.means.items()},
            "seconds": round(self.seconds, 3),
            "categories": {
                category: {name: round(value, 6) for name, value in means.items()}
                for category, means in self.categories.items()
            },
        }


def _only(means: Mapping[str, float], names: Collection[str]) -> dict[str, float]:
    return {name: value for name, value in means.items() if name in names}


def evaluate(
    dataset: Dataset, recipes: Mapping[str, Recipe], on_progress: OnProgress
) -> list[Score]:
    """The score of each recipe, in order. Each case gets a store of its own in memory."""
    answers: dict[str, list[tuple[EvalQuestion, list[str]]]] = {label: [] for label in recipes}
    seconds = dict.fromkeys(recipes, 0.0)
    done = 0
    for case in dataset.cases:
        with _remembered(case) as memory:
            for label, recipe in recipes.items():
                start = time.perf_counter()
                for question in case.questions:
                    answers[label].append((question, _answer(memory, recipe, question)))
                    done += 1
                    on_progress(done)
                seconds[label] += time.perf_counter() - start
    return [_score(label, answers[label], seconds[label]) for label in recipes]


def _remembered(case: EvalCase) -> Memory:
    """A store with the records of a case."""
    # The clock stands one day after the newest record, so that recency boosts see realistic ages.
    latest = max((record.created or 0 for record in case.records), default=0)
    memory = open_memory(":memory:", clock=FixedClock(latest + _DAY))
    drafts = cast("Iterable[DraftFields]", map(EvalRecord._asdict, case.records))
    memory.remember_many(drafts)
    return memory


def _answer(memory: Memory, recipe: Recipe, question: EvalQuestion) -> list[str]:
    try:
        hits = memory.recall(question.text, DEPTH, recipe=recipe, now=question.now)
    except NothingToRun:  # no lane can run, for example words for a question of stop words only
        return []
    return [hit.id for hit in hits]


def _score(label: str, answers: Sequence[tuple[EvalQuestion, list[str]]], seconds: float) -> Score:
    rows = [(question.category, metrics_of(ids, question.gold)) for question, ids in answers]
    categories = sorted({category for category, _ in rows})
    return Score(
        label,
        mean(row for _, row in rows),
        {each: mean(row for category, row in rows if category == each) for each in categories},
        len(rows),
        seconds,
    )
