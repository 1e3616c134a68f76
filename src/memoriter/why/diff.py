"""Two answers side by side: who moved, through which part of the score, and what was behind it.

Everything is read from the two receipts. What differs between two searches is one of five: the
data, the recipe, the model, the filter, the question. Where only one of them differs, it is behind
every move; where several do, each changed number names those that it can follow from.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final, Literal, cast

from memoriter.core.differing import differing
from memoriter.core.shown import counted, named, plain, shown
from memoriter.core.slate import signal_of
from memoriter.lanes.port import Lane
from memoriter.why.case import Case, Handed, handed
from memoriter.why.receipt import Receipt, columns_of

Cause = Literal["data", "recipe", "model", "filter", "question"]
CAUSES: Final[tuple[Cause, ...]] = ("data", "recipe", "model", "filter", "question")
_FILTER: Final = ("where", "scope", "as_of")
_SAME: Final = ("known_at", "overrides")
"""Parts of a query that show elsewhere: in the view, in the recipe."""
_MODEL: Final = ("generations", "no_vector", "unread", "vector")


@dataclass(frozen=True, slots=True)
class Input:
    """Something that differs between what two searches were given."""

    cause: Cause
    path: str
    was: object
    now: object

    def __repr__(self) -> str:
        return shown("Input", f"{self.cause}, {plain(self.path)}")


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A number that a score is made of, and how it changed; None where there was none."""

    name: str
    was: float | None
    now: float | None
    causes: tuple[Cause, ...]
    """What it can follow from."""

    def __repr__(self) -> str:
        ends = ["none" if each is None else f"{each:.4g}" for each in (self.was, self.now)]
        return shown(f"ScorePart {plain(self.name)}", " → ".join(ends))


@dataclass(frozen=True, slots=True)
class Move:
    """A hit of either answer: where it stood and stands, and what changed its score."""

    id: str
    was: int | None
    """Its rank in the first answer; None where it was no hit."""
    now: int | None
    score_was: float | None
    """None where it was no candidate."""
    score_now: float | None
    parts: tuple[ScorePart, ...]
    passed: tuple[str, ...]
    """Hits that stood above it and no longer do."""
    passed_by: tuple[str, ...]
    """Hits that stand above it now and did not."""
    causes: tuple[Cause, ...]
    """What its move can follow from."""

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
class Diff:
    """What differs between two answers, and why."""

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
        """What differs between the two searches."""
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


def diff(before: Handed, after: Handed) -> Diff:
    """What differs between the answers of two receipts, each hit's move with what is behind it."""
    was, now = _Answer(handed(before)), _Answer(handed(after))
    inputs = tuple(_inputs(was, now))
    moves = [_move(id, was, now, inputs) for id in dict.fromkeys((*now.hits, *was.hits))]
    return Diff(inputs, tuple(move for move in moves if _moved(move)))


class _Answer:
    """What a receipt tells of an answer."""

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
        return columns_of(self.body)

    def value(self, name: str, id: str) -> float | None:
        """A column's number for a record."""
        at = self.place.get(id)
        return None if at is None or name not in self.columns else self.columns[name][at]

    def row(self, id: str) -> int | None:
        """Which version of a record was a candidate."""
        return self.rows[self.place[id]] if id in self.place else None

    def score(self, id: str) -> float | None:
        """What the last step that knows a record made of it."""
        made = [self.value(step["out"], id) for step in self.steps]
        return next((value for value in reversed(made) if value is not None), None)

    @property
    def parts(self) -> list[str]:
        """The columns that scores are made of and that no step made."""
        made = {step["out"] for step in self.steps}
        every = (name for step in self.steps for name in step["inputs"])
        return [name for name in dict.fromkeys(every) if name not in made]


# -- what differs in what they were given ----------------------------------------------------------


def _inputs(was: _Answer, now: _Answer) -> Iterator[Input]:
    for path, one, two in differing(was.body["view"], now.body["view"], "view"):
        yield Input("data", path, one, two)
    one, two = was.body["recipe"]["data"], now.body["recipe"]["data"]
    for path, first, second in differing(one, two):
        yield Input("recipe", path, first, second)
    for key in _MODEL:
        first, second = was.body["outcomes"].get(key), now.body["outcomes"].get(key)
        if first != second and not (key == "vector" and _text(was) != _text(now)):
            short = key == "vector"
            yield Input("model", key, _brief(first, short), _brief(second, short))
    yield from _judged(was, now)
    for path, first, second in differing(was.body["query"], now.body["query"]):
        head = path.partition(".")[0]
        if head not in _SAME and head != "tenant":
            yield Input("filter" if head in _FILTER else "question", path, first, second)


def _text(answer: _Answer) -> tuple[str, object]:
    """What the query's vector is made from."""
    return answer.case.query.text, answer.case.query.vector


def _brief(value: object, short: bool) -> object:  # noqa: FBT001  # of a value that nobody reads
    return f"{len(value)} characters" if short and isinstance(value, str) else value


def _judged(was: _Answer, now: _Answer) -> Iterator[Input]:
    """Where a reranker failed in one, or judged the same version of a record otherwise."""
    one, two = was.case.judgement, now.case.judgement
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        for row in sorted(set(one) & set(two)):
            if one[row] != two[row]:
                yield Input("model", f"rerank.{row}", one[row], two[row])
    elif one != two:
        reasons = [each if isinstance(each, str) else None for each in (one, two)]
        yield Input("model", "rerank", *reasons)


# -- who moved -------------------------------------------------------------------------------------


def _move(id: str, was: _Answer, now: _Answer, inputs: Sequence[Input]) -> Move:
    parts = tuple(_engine(id, was, now, inputs))
    one, two = was.rank.get(id), now.rank.get(id)
    above, over = set(was.hits[: (one or 1) - 1]), set(now.hits[: (two or 1) - 1])
    passed = [] if two is None else [other for other in was.hits if other in above - over]
    passed_by = [] if one is None else [other for other in now.hits if other in over - above]
    own = {cause for part in parts for cause in part.causes}
    # Where its own score stayed, others moved, or it was cut or dropped otherwise.
    causes = _in_order(own or {each.cause for each in inputs})
    ends = was.score(id), now.score(id)
    return Move(id, one, two, *ends, parts, tuple(passed), tuple(passed_by), causes)


def _moved(move: Move) -> bool:
    return (move.was, move.score_was) != (move.now, move.score_now)


def _engine(id: str, was: _Answer, now: _Answer, inputs: Sequence[Input]) -> Iterator[ScorePart]:
    """The parts of a score that changed."""
    for name in dict.fromkeys((*was.parts, *now.parts)):
        one, two = was.value(name, id), now.value(name, id)
        if one != two:
            changed = _changed(name, id, was, now)
            able = {each.cause for each in inputs if _ABLE[each.cause](each.path, changed)}
            yield ScorePart(name, one, two, _in_order(able or {each.cause for each in inputs}))


@dataclass(frozen=True, slots=True)
class _Changed:
    """A number that changed: whose it is, and what became of the raw score behind it.

    A raw score that stayed leaves only what is counted over all candidates: weights, scale, pools.
    One that came or went may do so because the record was let in or kept out.
    """

    label: str
    lane: Lane | None
    """None for a boost and a pass."""
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
    """A filter changes who is a candidate, and so the best of a lane; not what a lane measures."""
    del path
    return changed.raw != "changed" or changed.lane is None or not changed.lane.independent


def _by_question(path: str, changed: _Changed) -> bool:
    """A limit changes no score; the time is read by some, and lets in what has not expired yet."""
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
"""Parts of a question that no score knows."""
_ABLE: Final[Mapping[Cause, Callable[[str, _Changed], bool]]] = {
    "data": _by_data,
    "recipe": _by_recipe,
    "model": _by_model,
    "filter": _by_filter,
    "question": _by_question,
}
"""Whether a difference can be behind a changed number."""
