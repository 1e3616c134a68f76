"""Asks every question of a data set with every recipe and keeps what was answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, NamedTuple, cast

from memoriter.core.errors import NothingToRun
from memoriter.core.lazy_dataclass import dataclass
from memoriter.evaluate.data import Dataset, EvalCase, EvalQuestion, EvalRecord
from memoriter.evaluate.metrics import DEPTH, hit_at
from memoriter.memory.facade import Memory
from memoriter.memory.opening import open_memory
from memoriter.memory.options import DraftFields, OpenOptions
from memoriter.pipeline.recipe import Recipe

_DAY: Final = 86_400_000_000
_PATIENCE: Final = 3600.0
"""Seconds that an embedder has for a call. Nobody waits for the answer, and a figure must not
depend on how busy the machine is, so the short deadline of a search does not apply here."""
OnProgress = Callable[[int], None]
"""Called with the number of questions answered so far, over all recipes."""


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """What is asked besides the questions of a store, and how stores are opened."""

    cross: bool = False
    """Ask each store the questions of the other stores too."""
    remove_gold: bool = False
    """Ask a question whose gold is in the first ten again, without the gold records."""
    embedders: tuple[str, ...] | None = None
    """The first embeds the records, all are searched; empty: words only; None: the packaged one."""


@dataclass(slots=True)
class SetClock:
    """A clock that stands still until it is set, so that two runs give the same numbers."""

    at: int

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return self.at


class EvalReply(NamedTuple):
    """What a recipe answered to a question."""

    ids: tuple[str, ...] = ()
    top: float | None = None
    """The score of the first hit."""
    relevance: float | None = None
    """How relevant the answer is by the engine's own account, where it has one."""
    strength: str | None = None
    """The engine's verdict on the answer, where it has one: `strong`, `weak`, `none` …"""

    @property
    def is_none(self) -> bool:
        """Whether the engine says that it does not know: no hit, or a verdict of none."""
        return not self.ids or self.strength == "none"


class EvalOutcome(NamedTuple):
    """A question and the answers to it."""

    question: EvalQuestion
    reply: EvalReply
    without_gold: EvalReply | None = None
    """The answer without the gold records; None where that was not asked."""

    @property
    def in_ten(self) -> bool:
        """Whether a gold record is among the first ten."""
        return bool(hit_at(10, self.reply.ids, self.question.gold))


class StoreReplies(NamedTuple):
    """What was answered from one store."""

    outcomes: list[EvalOutcome]
    cross: list[EvalReply]
    """The answers to questions of other stores."""


@dataclass(slots=True)
class EvalRun:
    """Everything that one recipe answered on one data set."""

    label: str
    recipe: Recipe
    outcomes: list[EvalOutcome] = field(default_factory=list[EvalOutcome])
    """In the order of the data set's questions."""
    cross: list[EvalReply] = field(default_factory=list[EvalReply])
    """The answers to questions of other stores."""
    stores: dict[str, StoreReplies] = field(default_factory=dict[str, StoreReplies])
    """The same by the name of the store."""
    seconds: float = 0.0
    """Wall time of the questions alone, without loading and remembering the data."""


class ReplayStep(NamedTuple):
    """A moment of a store: what is written by then, and what is asked."""

    now: int
    records: Sequence[EvalRecord]
    questions: Sequence[tuple[int, EvalQuestion]]
    """With their places in the case."""


def evaluate(
    dataset: Dataset,
    recipes: Mapping[str, Recipe],
    on_progress: OnProgress,
    options: EvalOptions | None = None,
) -> list[EvalRun]:
    """What each recipe answered, in order. Each case gets a store of its own in memory."""
    chosen = options or EvalOptions()
    runs = [EvalRun(label, recipe) for label, recipe in recipes.items()]
    for at, case in enumerate(dataset.cases):
        others = _of_other_stores(dataset, at) if chosen.cross else ()
        before = [(len(run.outcomes), len(run.cross)) for run in runs]
        _run_case(case, others, runs, chosen, on_progress)
        for run, (outcomes, cross) in zip(runs, before, strict=True):
            own = StoreReplies(run.outcomes[outcomes:], run.cross[cross:])
            run.stores[case.name or f"store {at + 1}"] = own
    return runs


def questions_to_ask(dataset: Dataset, options: EvalOptions) -> int:
    """How many questions `evaluate` asks each recipe, not counting those without their gold."""
    cross = sum(len(_of_other_stores(dataset, at)) for at in range(len(dataset.cases)))
    return dataset.questions + (cross if options.cross else 0)


def _of_other_stores(dataset: Dataset, at: int) -> list[EvalQuestion]:
    """The questions that other stores answer: in this one they have no answer."""
    others = (case for nth, case in enumerate(dataset.cases) if nth != at)
    return [question for case in others for question in case.questions if question.gold]


def _run_case(
    case: EvalCase,
    others: Sequence[EvalQuestion],
    runs: Sequence[EvalRun],
    options: EvalOptions,
    on_progress: OnProgress,
) -> None:
    """Ask the questions of one case, and those of other stores at its end."""
    done = sum(len(run.outcomes) + len(run.cross) for run in runs)
    clock = SetClock(0)
    outcomes: list[dict[int, EvalOutcome]] = [{} for _ in runs]
    opened: OpenOptions = {"clock": clock, "embed_timeout": _PATIENCE}
    if options.embedders is not None:
        opened["embedder"] = options.embedders or None
    with open_memory(":memory:", **opened) as memory:
        if options.embedders:
            # Fusion and relevance go by what unrelated texts get; the packaged table knows it.
            memory.calibrate()
        for step in steps_of(case):
            clock.at = step.now
            _remember(memory, step.records, options)
            for run, answered in zip(runs, outcomes, strict=True):
                for place, question in step.questions:
                    answered[place] = _outcome(memory, run, question, options)
                    on_progress(done := done + 1)
        for run, answered in zip(runs, outcomes, strict=True):
            run.outcomes += [answered[place] for place in sorted(answered)]
            for question in others:
                run.cross.append(_reply(memory, run.recipe, question.text, None))
                on_progress(done := done + 1)


def _remember(memory: Memory, records: Sequence[EvalRecord], options: EvalOptions) -> None:
    """Write records, with the vectors of every embedder."""
    memory.remember_many([cast("DraftFields", record.to_draft()) for record in records])
    memory.embedding.fill()
    if options.embedders and len(options.embedders) > 1:
        memory.maintain()  # writing computes the vectors of the first embedder only


def steps_of(case: EvalCase) -> Iterator[ReplayStep]:
    """The moments of a case: one for all, or, in a replay, one for each time of a question."""
    # The clock stands one day after the newest record, so that recency boosts see realistic ages.
    end = max((record.created or 0 for record in case.records), default=0) + _DAY
    questions = list(enumerate(case.questions))
    if not case.replay:
        yield ReplayStep(end, case.records, questions)
        return
    asked = {question.now for question in case.questions if question.now is not None}
    records = sorted(case.records, key=lambda record: record.created or 0)
    written = 0
    for now in sorted(asked):
        until = sum((record.created or 0) <= now for record in records)
        at_once = [(place, question) for place, question in questions if question.now == now]
        yield ReplayStep(now, records[written:until], at_once)
        written = until
    # A question without a time is asked when everything is written.
    untimed = [(place, question) for place, question in questions if question.now is None]
    if untimed:
        yield ReplayStep(max({end, *asked}), records[written:], untimed)


def _outcome(
    memory: Memory, run: EvalRun, question: EvalQuestion, options: EvalOptions
) -> EvalOutcome:
    start = time.perf_counter()
    outcome = EvalOutcome(question, _reply(memory, run.recipe, question.text, question.now))
    run.seconds += time.perf_counter() - start
    if not options.remove_gold or not outcome.in_ten:
        return outcome
    again = _reply(memory, run.recipe, question.text, question.now, question.gold)
    return outcome._replace(without_gold=again)


def _reply(
    memory: Memory, recipe: Recipe, text: str, now: int | None, without: Collection[str] = ()
) -> EvalReply:
    where = {"not": {"id": sorted(without)}} if without else None
    try:
        result = memory.recall(text, DEPTH, recipe=recipe, now=now, where=where)
    except NothingToRun:  # no lane can run, for example words for a question of stop words only
        return EvalReply()
    return EvalReply(
        tuple(hit.id for hit in result),
        result[0].score if len(result) else None,
        getattr(result, "relevance", None),
        getattr(result, "strength", None),
    )
