"""The answer of a search: hits in order, each with its reasons, and the plan that found them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, cast, overload

from memoriter.core.budget import FREE, Budget
from memoriter.core.explanation import Explanation, Facts
from memoriter.core.other_words import Hinting
from memoriter.core.ranking import Attempt
from memoriter.core.record import Record
from memoriter.core.shown import counted, draw_by, quoted, shown
from memoriter.pipeline.plan import Plan
from memoriter.text.port import Analyzer
from memoriter.text.spans import Matched, Span, snippet, spans_of
from memoriter.why.context import Block, block_of
from memoriter.why.figures import figure
from memoriter.why.receipt import Receipt
from memoriter.why.rows import LaneRow, rows_of
from memoriter.why.trace import signals_of, trace_of


@dataclass(frozen=True, slots=True)
class LaneScore:
    """What one lane said of a hit."""

    rank: int
    score: float
    why: Explanation

    def __repr__(self) -> str:
        return shown("LaneScore", f"#{self.rank}, {figure(self.score)}")

    def to_dict(self) -> dict[str, object]:
        """The lane's word as plain data."""
        return {"rank": self.rank, "score": self.score, "why": self.why.to_dict()}


@dataclass(frozen=True, slots=True)
class Hit(Hinting):
    """One record that was found, and why it stands here."""

    record: Record
    rank: int
    score: float
    explanation: Explanation
    lanes: Mapping[str, LaneScore]
    moves: Mapping[str, Mapping[str, object]]
    """What each pass and ordering that moved rows noted of it, and where it stood before."""
    _analyzer: Analyzer = field(compare=False)
    """Who read the query: it knows the matched words again in the text."""
    superseded_by: tuple[str, ...] = ()
    """The ids of what took its place at the time asked about, as far as the caller may read it."""
    source: str | None = None
    """What the recipe calls the lanes that found it; None where it has no such name."""
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """The numbers that the recipe's users know, under their names, always all."""
    _asked: tuple[str, ...] = field(default=(), compare=False)
    """The terms of the question, in its order."""

    def __repr__(self) -> str:
        record = self.record
        text = record.essence if record.kind == "reflection" else record.text
        return shown(f"Hit {self.rank}", f"{figure(self.score)} {quoted(text)}")

    @property
    def id(self) -> str:
        """The record's id."""
        return self.record.id

    @property
    def matched(self) -> dict[str, list[str]]:
        """The terms that matched, as the question has them, each with the fields that have it."""
        out: dict[str, list[str]] = {}
        for lane in self.lanes.values():
            for facts in _facts(lane.why):
                if "term" in facts:
                    fields = [facts["field"]] if "field" in facts else facts["fields"]
                    found = out.setdefault(str(facts["term"]), [])
                    found += [str(f) for f in cast("Iterable[object]", fields) if f not in found]
        place = {term: at for at, term in enumerate(self._asked)}
        return {term: out[term] for term in sorted(out, key=lambda t: place.get(t, len(place)))}

    @property
    def _marks(self) -> Matched:
        """What matched, as terms and beginnings of terms of the index."""
        terms: set[str] = set()
        beginnings: set[str] = set()
        for lane in self.lanes.values():
            for facts in _facts(lane.why):
                if "term" in facts:
                    terms.update(cast("list[str]", facts.get("tokens", [facts["term"]])))
                beginnings.update(cast("list[str]", facts.get("beginnings", [])))
                for key in ("word", "met"):
                    if key in facts:
                        terms.update(self._analyzer.terms(str(facts[key])))
        return Matched(frozenset(terms), tuple(beginnings))

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where in the record's text the matched words stand, by character."""
        return self.spans_in(self.record.text)

    def spans_in(self, text: str) -> tuple[Span, ...]:
        """Where the matched words stand in another text, for example in the record's title."""
        return tuple(spans_of(text, self._marks, self._analyzer))

    def snippet(self, width: int = 160, marks: tuple[str, str] = ("<mark>", "</mark>")) -> str:
        """About `width` characters of the text around the first match, matches marked."""
        return snippet(self.record.text, list(self.spans), width, marks)

    @property
    def journey(self) -> tuple[tuple[str, int], ...]:
        """Where the hit stood, stage by stage: in each lane, after each pass and ordering."""
        before = [cast("int", told["from"]) for told in self.moves.values()]
        after = zip(("fuse", *self.moves), (*before, self.rank), strict=True)
        return (*((label, lane.rank) for label, lane in self.lanes.items()), *after)

    def _repr_html_(self) -> str:
        """The hit as notebooks show it."""
        from memoriter.why.card import card  # noqa: PLC0415  # only where it is shown

        return card(self)

    def to_dict(self) -> dict[str, object]:
        """The hit as plain data."""
        return {
            "rank": self.rank,
            "score": self.score,
            "record": self.record.to_dict(),
            "superseded_by": list(self.superseded_by),
            **({} if self.source is None else {"source": self.source}),
            **({"scores": dict(self.scores)} if self.scores else {}),
            "matched": self.matched,
            "spans": [list(span) for span in self.spans],
            "lanes": {label: lane.to_dict() for label, lane in self.lanes.items()},
            "explanation": self.explanation.to_dict(),
            **({"moves": {k: dict(v) for k, v in self.moves.items()}} if self.moves else {}),
        }


def _facts(node: Explanation) -> Iterator[Facts]:
    yield node.facts
    for part in node.parts:
        yield from _facts(part)


@dataclass(frozen=True)
class Result(Hinting, Sequence[Hit]):
    """Hits, best first; a sequence."""

    hits: tuple[Hit, ...]
    plan: Plan
    total: int
    """How many candidates stood in the slate before the limit."""
    _account: Callable[[], Receipt] = field(compare=False)
    """Makes the receipt."""
    _budget: Budget = FREE
    """How much of a prompt the call allowed the hits."""

    def __repr__(self) -> str:
        return shown("Result", f"{counted(len(self.hits), 'hit')}, {self.status}")

    @cached_property
    def receipt(self) -> Receipt:
        """Every input of this ranking, bound by a digest; made when first asked for."""
        return self._account()

    @property
    def status(self) -> str:
        """`complete`, or `degraded` when a lane of the recipe could not run."""
        return self.plan.status

    @property
    def skipped(self) -> dict[str, str]:
        """The lanes that could not run, and why."""
        return self.plan.skipped

    @property
    def used(self) -> tuple[str, ...]:
        """The lanes that took part."""
        return self.plan.running

    @property
    def backend(self) -> str | None:
        """What the recipe calls the mix of lanes behind this answer; None where it has no name."""
        return self.plan.backend

    @property
    def signals(self) -> tuple[str, ...]:
        """The lanes that ran and the boosts that touched a candidate, as the recipe's users say."""
        return signals_of(self.plan)

    @property
    def trace(self) -> dict[str, object]:
        """What the search did, as flat facts: modes, attempts, counts, reranking, numbers."""
        return trace_of(self.plan)

    @overload
    def rows(self, *, detailed: Literal[False] = False) -> list[tuple[str, float]]: ...
    @overload
    def rows(self, *, detailed: Literal[True]) -> list[LaneRow]: ...
    def rows(self, *, detailed: bool = False) -> list[tuple[str, float]] | list[LaneRow]:
        """(id, score) of every hit; detailed, a row for every lane that found it."""
        return rows_of(self.hits) if detailed else [(hit.id, hit.score) for hit in self.hits]

    @property
    def fell_back(self) -> bool:
        """Whether the lane kept for that case answers alone, as a mode's own could not run."""
        return self.plan.fell_back

    @property
    def approximate(self) -> bool:
        """Whether a lane looked for nearly all of the best: so many vectors are read by codes."""
        return self.plan.approximate

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every search of a lane that searches again when it finds nothing."""
        return self.plan.attempts

    @property
    def used_retry(self) -> bool:
        """Whether the first search found nothing and another was made."""
        return len(self.attempts) > 1

    @property
    def near(self) -> tuple[str, ...]:
        """Words that were perhaps meant: nearly as typed, and there to be found."""
        return tuple(word for attempt in self.attempts for word in attempt.near)

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def context(
        self, *, budget_tokens: int | None = None, budget_chars: int | None = None
    ) -> Block:
        """The hits as text for a prompt, whole entries within a budget; the call's own by default.

        Numbered in order; `citations` says which id a number stands for.
        """
        budget = Budget.of(budget_tokens, budget_chars) or self._budget
        told = [(hit.record, bool(hit.superseded_by)) for hit in self.hits]
        return block_of(told, budget)

    def to_html(self) -> str:
        """The result as a static page of its own: no script, nothing from elsewhere."""
        from memoriter.why.card import page  # noqa: PLC0415  # as above

        return page(self)

    def _repr_html_(self) -> str:
        """The result as notebooks show it."""
        from memoriter.why.card import answer  # noqa: PLC0415  # as above

        return answer(self)

    def to_dict(self) -> dict[str, object]:
        """The result as plain data."""
        return {
            "status": self.status,
            **({} if self.backend is None else {"backend": self.backend}),
            "used": list(self.used),
            "skipped": self.skipped,
            "total": self.total,
            **({"approximate": True} if self.approximate else {}),
            **({"near": list(self.near)} if self.near else {}),
            "plan": self.plan.to_dict(),
            "hits": [hit.to_dict() for hit in self.hits],
            "receipt": self.receipt.digest,
        }


# -- what notebooks show of things that live in lower rooms ----------------------------------------


def _draw_explanation(node: Explanation) -> str:
    from memoriter.why.card import tree  # noqa: PLC0415  # only where it is shown

    return tree(node)


def _draw_plan(plan: Plan) -> str:
    from memoriter.why.card import steps  # noqa: PLC0415  # only where it is shown

    return steps(plan)


draw_by(Explanation, _draw_explanation)
draw_by(Plan, _draw_plan)
