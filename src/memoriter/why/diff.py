"""Compares two answers by their receipts: which hits moved, by which parts of the score, and why.

Two searches can differ in five causes: data, recipe, model, filter and question. If only one of
them differs, it explains every move; if several do, each changed number names those causes that
can have changed it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any, Final, Literal, cast

from memoriter.core.differing import differing
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.other_words import Hinting
from memoriter.core.shown import counted, named, plain, shown
from memoriter.core.slate import signal_of
from memoriter.core.work_limit import WorkLimit
from memoriter.lanes.port import Lane
from memoriter.why.case import Case, ReceiptLike, receipt_from
from memoriter.why.read_receipt import receipt_columns
from memoriter.why.receipt import Receipt

Cause = Literal["data", "recipe", "model", "filter", "question"]
CAUSES: Final[tuple[Cause, ...]] = ("data", "recipe", "model", "filter", "question")
STEPS: Final = 50_000_000
"""How many steps a comparison may take by default; a step compares about two numbers."""
_PER_STEP: Final = 16
"""So many ids of hits are put into a set in one step."""
_FILTER: Final = ("where", "scope", "as_of")
"""Parts of a query that belong to the cause `filter`."""
_SAME: Final = ("known_at", "overrides")
"""Parts of a query that are compared elsewhere: in the view, in the recipe."""
_MODEL: Final = ("generations", "no_vector", "unread", "vector")
"""Outcomes that belong to the cause `model`."""


@dataclass(frozen=True, slots=True)
class Input:
    """A difference between the inputs of two searches."""

    cause: Cause
    path: str
    was: object
    now: object

    def __repr__(self) -> str:
        return shown("Input", f"{self.cause}, {plain(self.path)}")


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A part of a score whose value changed; None: the row had no value."""

    name: str
    was: float | None
    now: float | None
    causes: tuple[Cause, ...]
    """The causes that can have changed it."""

    def __repr__(self) -> str:
        ends = ["none" if each is None else f"{each:.4g}" for each in (self.was, self.now)]
        return shown(f"ScorePart {plain(self.name)}", " → ".join(ends))


@dataclass(frozen=True, slots=True)
class Move:
    """A hit of either answer whose rank or score changed."""

    id: str
    was: int | None
    """Its rank in the first answer; None if it was not a hit."""
    now: int | None
    """Its rank in the second answer; None if it is not a hit."""
    score_was: float | None
    """Its score in the first answer; None if it was not a candidate."""
    score_now: float | None
    parts: tuple[ScorePart, ...]
    """The parts of its score that changed."""
    passed: tuple[str, ...]
    """Hits that were above it in the first answer and are not in the second."""
    passed_by: tuple[str, ...]
    """Hits that are above it in the second answer and were not in the first."""
    causes: tuple[Cause, ...]
    """The causes that can explain its move."""

    def __repr__(self) -> str:
        ends = ["none" if each is None else f"#{each}" for each in (self.was, self.now)]
        return shown(f"Move {named(self.id)}", " → ".join(ends))

    @property
    def entered(self) -> bool:
        """Whether only the second answer has it."""
        return self.was is None

    @property
    def left(self) -> bool:
        """Whether only the first answer has it."""
        return self.now is None

    def to_dict(self) -> dict[str, object]:
        """The move as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Diff(Hinting):
    """The differences between two answers and their causes."""

    inputs: tuple[Input, ...]
    moves: tuple[Move, ...]
    """Hits whose rank or score changed, by their new rank; those that left come last."""

    def __repr__(self) -> str:
        if self.same:
            return shown("Diff", "same")
        causes = f", by {', '.join(self.causes)}" if self.causes else ""
        ends = f"{len(self.entered)} entered, {len(self.left)} left"
        return shown("Diff", f"{counted(len(self.moves), 'move')}{causes}; {ends}")

    @property
    def same(self) -> bool:
        """Whether both have the same hits, at the same ranks, with the same scores."""
        return not self.moves

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes in which the two searches differ."""
        return _in_order({each.cause for each in self.inputs})

    @property
    def entered(self) -> tuple[str, ...]:
        """Hits that only the second answer has."""
        return tuple(move.id for move in self.moves if move.entered)

    @property
    def left(self) -> tuple[str, ...]:
        """Hits that only the first answer has."""
        return tuple(move.id for move in self.moves if move.left)

    def to_dict(self) -> dict[str, object]:
        """The differences as plain data."""
        return {
            "same": self.same,
            "causes": list(self.causes),
            "inputs": [asdict(each) for each in self.inputs],
            "entered": list(self.entered),
            "left": list(self.left),
            "moves": [move.to_dict() for move in self.moves],
        }


def _in_order(causes: Container[str]) -> tuple[Cause, ...]:
    return tuple(cause for cause in CAUSES if cause in causes)


def diff(before: ReceiptLike, after: ReceiptLike, steps: int = STEPS) -> Diff:
    """Compare the answers of two receipts; raises BadQuery or Corrupt if one is not valid.

    Raises TooCostly if it needs more steps than it may take.

    Arguments:
        before: A result, its receipt, the path of a saved one, or its data.
        after: The one to compare with it.
        steps: How many numbers it may compare.

    """
    was, now = _Answer(receipt_from(before)), _Answer(receipt_from(after))
    inputs = tuple(_inputs(was, now))
    ids = dict.fromkeys((*now.hits, *was.hits))
    budget = WorkLimit(steps, "diff", "compare answers with fewer hits")
    parts = len(was.parts) + len(now.parts)
    each = parts * (len(inputs) + 1) + len(was.steps) + len(now.steps)
    budget.spend(len(ids) * (each + len(ids) // _PER_STEP + 1))
    moves = [_move(id, was, now, inputs) for id in ids]
    return Diff(inputs, tuple(move for move in moves if _moved(move)))


class _Answer:
    """An answer as its receipt describes it."""

    def __init__(self, receipt: Receipt) -> None:
        self.body = cast("Mapping[str, Any]", receipt.body)
        self.case = Case.of(receipt)
        self.hits: list[str] = list(self.body["hits"])
        self.rank = {id: at for at, id in enumerate(self.hits, start=1)}
        slate = self.body["slate"]
        self.place = {id: at for at, id in enumerate(slate["ids"])}
        self.rows: list[int] = slate["rows"]
        self.steps: list[dict[str, Any]] = slate["steps"]

    @cached_property
    def columns(self) -> dict[str, list[float | None]]:
        """The columns of the candidates."""
        return receipt_columns(self.body)

    def value(self, name: str, id: str) -> float | None:
        """The value of a column for a record; None if the record or the column is not there."""
        at = self.place.get(id)
        return None if at is None or name not in self.columns else self.columns[name][at]

    def row(self, id: str) -> int | None:
        """The row of a record that was a candidate: it identifies the version."""
        return self.rows[self.place[id]] if id in self.place else None

    def score(self, id: str) -> float | None:
        """The final score of a record: the value of the last step that has one for it."""
        values = [self.value(step["out"], id) for step in self.steps]
        return next((value for value in reversed(values) if value is not None), None)

    @cached_property
    def parts(self) -> list[str]:
        """The input columns of the scores that are not the output of another step."""
        outputs = {step["out"] for step in self.steps}
        every = (name for step in self.steps for name in step["inputs"])
        return [name for name in dict.fromkeys(every) if name not in outputs]


# -- differences between the inputs ----------------------------------------------------------------


def _inputs(was: _Answer, now: _Answer) -> Iterator[Input]:
    for path, one, two in differing(was.body["view"], now.body["view"], "view"):
        yield Input("data", path, one, two)
    one, two = was.body["recipe"]["data"], now.body["recipe"]["data"]
    for path, first, second in differing(one, two):
        yield Input("recipe", path, first, second)
    for key in _MODEL:
        first, second = was.body["outcomes"].get(key), now.body["outcomes"].get(key)
        # Another vector for another text is no difference of the model.
        if first != second and not (key == "vector" and _text(was) != _text(now)):
            short = key == "vector"
            yield Input("model", key, _brief(first, short), _brief(second, short))
    yield from _judged(was, now)
    for path, first, second in differing(was.body["query"], now.body["query"]):
        head = path.partition(".")[0]
        if head not in _SAME and head != "tenant":
            yield Input("filter" if head in _FILTER else "question", path, first, second)


def _text(answer: _Answer) -> tuple[str, object]:
    """The inputs from which the query's vector is computed."""
    return answer.case.query.text, answer.case.query.vector


def _brief(value: object, short: bool) -> object:  # noqa: FBT001  # private, called in one place
    """The value; of an encoded vector only its length."""
    return f"{len(value)} characters" if short and isinstance(value, str) else value


def _judged(was: _Answer, now: _Answer) -> Iterator[Input]:
    """Differences of the reranker: it failed once, or scored the same row differently."""
    one, two = was.case.judgement, now.case.judgement
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        for row in sorted(set(one) & set(two)):
            if one[row] != two[row]:
                yield Input("model", f"rerank.{row}", one[row], two[row])
    elif one != two:
        reasons = [each if isinstance(each, str) else None for each in (one, two)]
        yield Input("model", "rerank", *reasons)


# -- the moves of hits -----------------------------------------------------------------------------


def _move(id: str, was: _Answer, now: _Answer, inputs: Sequence[Input]) -> Move:
    parts = tuple(_changed_parts(id, was, now, inputs))
    one, two = was.rank.get(id), now.rank.get(id)
    above_then, above_now = set(was.hits[: (one or 1) - 1]), set(now.hits[: (two or 1) - 1])
    passed = [] if two is None else [each for each in was.hits if each in above_then - above_now]
    passed_by = [] if one is None else [each for each in now.hits if each in above_now - above_then]
    own = {cause for part in parts for cause in part.causes}
    # If its own score is unchanged, other hits moved or an ordering cut differently; then every
    # difference of the inputs is a possible cause.
    causes = _in_order(own or {each.cause for each in inputs})
    return Move(
        id=id,
        was=one,
        now=two,
        score_was=was.score(id),
        score_now=now.score(id),
        parts=parts,
        passed=tuple(passed),
        passed_by=tuple(passed_by),
        causes=causes,
    )


def _moved(move: Move) -> bool:
    return (move.was, move.score_was) != (move.now, move.score_now)


def _changed_parts(
    id: str, was: _Answer, now: _Answer, inputs: Sequence[Input]
) -> Iterator[ScorePart]:
    """The parts of a score that changed."""
    for name in dict.fromkeys((*was.parts, *now.parts)):
        one, two = was.value(name, id), now.value(name, id)
        if one != two:
            changed = _changed(name, id, was, now)
            able = {each.cause for each in inputs if _ABLE[each.cause](each.path, changed)}
            yield ScorePart(name, one, two, _in_order(able or {each.cause for each in inputs}))


@dataclass(frozen=True, slots=True)
class _Changed:
    """A changed part of a score: its owner, and how the raw score behind it changed.

    If the raw score stayed, the change comes from what is computed over all candidates (weights,
    scale, pools). If it came or went, the record may have been filtered differently.
    """

    label: str
    lane: Lane | None
    """None for a boost or a pass."""
    raw: Literal["stayed", "changed", "came or went"]


def _changed(name: str, id: str, was: _Answer, now: _Answer) -> _Changed:
    label = signal_of(name)
    lane = was.case.recipe.lanes.get(label) or now.case.recipe.lanes.get(label)
    raw = name if lane is None else f"{label}.score"
    one, two = was.value(raw, id), now.value(raw, id)
    if one is None or two is None:
        return _Changed(label, lane, "came or went")
    return _Changed(label, lane, "stayed" if one == two else "changed")


def _by_recipe(path: str, changed: _Changed) -> bool:
    counted = path.startswith(("pass.", "select.", "window")) or path.endswith(".pool")
    own = path.startswith((f"lanes.{changed.label}.", f"boosts.{changed.label}.", "analyzer"))
    match changed.raw:
        case "stayed":
            return counted
        case "changed":
            return own or path.startswith("pass.") or changed.lane is None
        case _:
            return own or counted


def _by_model(path: str, changed: _Changed) -> bool:
    if path.startswith("rerank"):
        return changed.label == "rerank"
    touched = "words" if path == "unread" else "vectors"
    return changed.raw == "stayed" or changed.lane is None or changed.lane.generation == touched


def _by_filter(path: str, changed: _Changed) -> bool:
    """A filter changes the candidates, and so a lane's best score; not the raw scores."""
    del path
    return changed.raw != "changed" or changed.lane is None or not changed.lane.independent


def _by_question(path: str, changed: _Changed) -> bool:
    """A limit changes no score; the time matters to some lanes, and to expired records."""
    if path in _CUTTING:
        return False
    if path in ("now", "cycle"):
        reads = changed.lane is None or changed.lane.reads_time
        return reads or changed.raw == "came or went"
    return True


def _by_data(path: str, changed: _Changed) -> bool:
    del path, changed
    return True


_CUTTING: Final = ("limit", "require")
"""Parts of a question that change no score."""
_ABLE: Final[Mapping[Cause, Callable[[str, _Changed], bool]]] = {
    "data": _by_data,
    "recipe": _by_recipe,
    "model": _by_model,
    "filter": _by_filter,
    "question": _by_question,
}
"""Cause → whether a difference at a path of that cause can explain a changed part."""
