"""Ask every question of a data set with every recipe, and score the answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memoriter.core.errors import NothingToRun
from memoriter.evaluate.data import Dataset, EvalCase, EvalQuestion, Item
from memoriter.evaluate.metrics import DEPTH, mean, scored
from memoriter.memory.facade import Memory
from memoriter.memory.opening import open_memory
from memoriter.pipeline.recipe import Recipe

_DAY: Final = 86_400_000_000
Told = Callable[[int], None]
"""Told how many questions were answered so far, over all recipes."""


@dataclass(frozen=True, slots=True)
class StandingClock:
    """A clock that stands still, so that two runs give the same numbers."""

    at: int

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return self.at


@dataclass(frozen=True, slots=True)
class Score:
    """How one recipe did on one data set."""

    recipe: str
    means: Mapping[str, float]
    categories: Mapping[str, Mapping[str, float]]
    questions: int
    seconds: float
    """Wall time of answering, without reading the data and remembering it."""

    def only(self, names: Collection[str]) -> Score:
        """The score by some metrics alone."""
        few = {each: _few(means, names) for each, means in self.categories.items()}
        return replace(self, means=_few(self.means, names), categories=few)

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


def _few(means: Mapping[str, float], names: Collection[str]) -> dict[str, float]:
    return {name: value for name, value in means.items() if name in names}


def evaluate(dataset: Dataset, recipes: Mapping[str, Recipe], told: Told) -> list[Score]:
    """Each recipe's score, in the order given; every case in a store of its own, in memory."""
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
                    told(done)
                seconds[label] += time.perf_counter() - start
    return [_score(label, answers[label], seconds[label]) for label in recipes]


def _remembered(case: EvalCase) -> Memory:
    """A store with the records of a case, the day after the last of them."""
    latest = max((record.created or 0 for record in case.records), default=0)
    memory = open_memory(":memory:", clock=StandingClock(latest + _DAY))
    memory.remember_many(map(Item._asdict, case.records))
    return memory


def _answer(memory: Memory, recipe: Recipe, question: EvalQuestion) -> list[str]:
    try:
        found = memory.recall(question.text, DEPTH, recipe=recipe, now=question.now)
    except NothingToRun:
        return []
    return [hit.id for hit in found]


def _score(label: str, answers: Sequence[tuple[EvalQuestion, list[str]]], seconds: float) -> Score:
    rows = [(asked.category, scored(ranked, asked.gold)) for asked, ranked in answers]
    categories = sorted({category for category, _ in rows})
    return Score(
        label,
        mean(row for _, row in rows),
        {each: mean(row for category, row in rows if category == each) for each in categories},
        len(rows),
        seconds,
    )
