"""The result of a search: hits in order, each with its explanation, and the plan that ran.

`why.answer` builds it; `Memory.recall` returns it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast, overload

from memoriter.core.budget import FREE, Budget
from memoriter.core.errors import BadQuery
from memoriter.core.explanation import Explanation
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import choice
from memoriter.core.options import guided
from memoriter.core.other_words import Hinting, NotAsync, not_a_mapping
from memoriter.core.ranking import Attempt
from memoriter.core.record import Record
from memoriter.core.shown import counted, draw_by, quoted, shown
from memoriter.lanes.port import WordMatch
from memoriter.pipeline.plan import Plan
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.relevance import Strength
from memoriter.text.figures import figure
from memoriter.text.port import Analyzer
from memoriter.text.spans import Matched, Span, snippet, spans_of
from memoriter.why.context import Block, Include, block_of, nothing_block
from memoriter.why.lane_score import LaneRow, LaneScore, lane_rows
from memoriter.why.later import Later
from memoriter.why.receipt import Receipt
from memoriter.why.strengths import judgement, strength_text
from memoriter.why.trace import signals_of, trace_of

if TYPE_CHECKING:
    from memoriter.why.versus import Versus


@dataclass(frozen=True, slots=True)
class Hit(Hinting):
    """One record of an answer, with its score, its rank and their explanation."""

    record: Record
    rank: int
    score: float
    lanes: Mapping[str, LaneScore]
    _explanation: Later[Explanation]
    _moves: Later[Mapping[str, Mapping[str, object]]]
    _relevance: Later[Explanation | None]
    recipe: Recipe = field(compare=False)
    """The recipe that ranked it."""
    _analyzer: Analyzer = field(compare=False)
    """The analyzer of the query; it finds the matched words in the text."""
    relevance: float | None = None
    """How well it answers the question, 0 to 1; comparable between questions, unlike the score.
    None if the recipe has no relevance."""
    strength: Strength | None = None
    """What the relevance means: `strong`, `weak`, `none`, or `unknown`."""
    superseded_by: tuple[str, ...] = ()
    """The ids of the records that superseded it as of the search, if the scope may read them."""
    copies: tuple[str, ...] = ()
    """The ids of the copies that it stands for, the most trusted and newest first."""
    source: str | None = None
    """The recipe's name for the lanes that found it; None if it has none."""
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """The numbers that the recipe exports, by the recipe's names."""
    _terms: tuple[str, ...] = field(default=(), compare=False)
    """The terms of the query, in its order."""

    def __repr__(self) -> str:
        record = self.record
        text = record.essence if record.kind == "reflection" else record.text
        return shown(f"Hit {self.rank}", f"{figure(self.score)} {quoted(text)}")

    @property
    def id(self) -> str:
        """The record's id."""
        return self.record.id

    @property
    def explanation(self) -> Explanation:
        """The arithmetic of the score."""
        return self._explanation.value

    @property
    def relevance_explanation(self) -> Explanation | None:
        """What the relevance is made from, as facts; None if the recipe has no relevance."""
        return self._relevance.value

    @property
    def moves(self) -> Mapping[str, Mapping[str, object]]:
        """For each pass and ordering that moved rows, its rank before (`from`) and its details."""
        return self._moves.value

    @property
    def text(self) -> str:
        """The record's text."""
        return self.record.text

    @property
    def matched(self) -> dict[str, list[str]]:
        """Term of the query that matched → fields of the record in which it occurs."""
        out: dict[str, list[str]] = {}
        for match in self._matches(terms=True):
            if match.term is not None:
                names = out.setdefault(match.term, [])
                names += [field for field in match.fields if field not in names]
        place = {term: at for at, term in enumerate(self._terms)}
        return {term: out[term] for term in sorted(out, key=lambda t: place.get(t, len(place)))}

    @property
    def _marks(self) -> Matched:
        """The terms and term prefixes of the index that matched."""
        terms: set[str] = set()
        prefixes: set[str] = set()
        for match in self._matches():
            terms.update(match.tokens)
            prefixes.update(match.prefixes)
            for word in match.words:
                terms.update(self._analyzer.terms(word))
        return Matched(frozenset(terms), tuple(prefixes))

    def _matches(self, *, terms: bool = False) -> Iterator[WordMatch]:
        """The words that the lanes matched, node by node of their evidence.

        With `terms`, only of lanes that match terms: the evidence of the others is not made then.
        """
        for label, score in self.lanes.items():
            lane = self.recipe.lanes[label]
            if lane.matches_terms or not terms:
                yield from filter(None, map(lane.word_match, _nodes(score.why)))

    @property
    def spans(self) -> tuple[Span, ...]:
        """The character ranges of the matched words in the record's text."""
        return self.spans_in(self.record.text)

    def spans_in(self, text: str) -> tuple[Span, ...]:
        """The character ranges of the matched words in another text, such as the title."""
        return tuple(spans_of(text, self._marks, self._analyzer))

    def snippet(self, width: int = 160, marks: tuple[str, str] = ("<mark>", "</mark>")) -> str:
        """About `width` characters of the text around the first match, matches marked."""
        return snippet(self.record.text, list(self.spans), width, marks)

    @property
    def journey(self) -> tuple[tuple[str, int], ...]:
        """(stage, rank) for each lane, then for the rank after each pass and ordering."""
        # A move records the rank before it, which is the rank after the stage before.
        before = [cast("int", details["from"]) for details in self.moves.values()]
        after = zip(("fuse", *self.moves), (*before, self.rank), strict=True)
        return (*((label, lane.rank) for label, lane in self.lanes.items()), *after)

    def versus(self, other: Hit) -> Versus:
        """What separates it from another hit of the same answer, part by part."""
        from memoriter.why.versus import versus  # noqa: PLC0415  # loaded only if it is used

        if not isinstance(other, Hit):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may not check types
            raise BadQuery(
                f"other: expected a hit, not {type(other).__name__}",
                hint="pass another hit of the same answer, for example result[1]",
                field="other",
            )
        return versus(self, other)

    def _repr_html_(self) -> str:
        """The hit as notebooks show it."""
        from memoriter.why.card import hit_html  # noqa: PLC0415  # loaded only in notebooks

        return hit_html(self)

    def to_dict(self) -> dict[str, object]:
        """The hit as plain data."""
        why = self.relevance_explanation
        return {
            "rank": self.rank,
            "score": self.score,
            **judgement(self.relevance, self.strength),
            "record": self.record.to_dict(),
            "superseded_by": list(self.superseded_by),
            **({"copies": list(self.copies)} if self.copies else {}),
            **({} if self.source is None else {"source": self.source}),
            **({"scores": dict(self.scores)} if self.scores else {}),
            "matched": self.matched,
            "spans": [list(span) for span in self.spans],
            "lanes": {label: lane.to_dict() for label, lane in self.lanes.items()},
            "explanation": self.explanation.to_dict(),
            **({"relevance_explanation": why.to_dict()} if why else {}),
            **({"moves": {k: dict(v) for k, v in self.moves.items()}} if self.moves else {}),
        }


def _nodes(node: Explanation) -> Iterator[Explanation]:
    yield node
    for part in node.parts:
        yield from _nodes(part)


@dataclass(frozen=True)
class Result(Hinting, NotAsync, Sequence[Hit]):
    """Hits, best first; a sequence."""

    hits: tuple[Hit, ...]
    plan: Plan
    total: int
    """The number of candidates before the limit."""
    _write_receipt: Callable[[], Receipt] = field(compare=False)
    _budget: Budget = FREE
    """The budget of the call, the default of `context`."""
    relevance: float | None = None
    """The best relevance of a hit, 0 to 1: may be compared between questions, a score may not.
    0 without hits; None if the recipe has no relevance."""
    strength: Strength | None = None
    """What the relevance means: `strong`, `weak`, `none`, or `unknown`."""
    remarks: tuple[str, ...] = ()
    """What should be known about the strength: a name that no record has, why it is unknown."""
    timings: Mapping[str, float] = field(default_factory=dict[str, float], compare=False)
    """Milliseconds by step, for people; in no receipt and in no data."""
    _rescored: Callable[[Mapping[str, object]], Result] | None = field(default=None, compare=False)
    _write_case: Callable[[], Mapping[str, object]] = field(default=dict, compare=False)

    def __repr__(self) -> str:
        strength = "" if self.strength is None else f"{strength_text(self.strength)}, "
        return shown("Result", f"{counted(len(self.hits), 'hit')}, {strength}{self.status}")

    @cached_property
    def receipt(self) -> Receipt:
        """Every input of this ranking with a digest; built on first access."""
        return self._write_receipt()

    @property
    def case(self) -> Mapping[str, object]:
        """What the search was made of: the parts of the receipt that are needed to run it again."""
        return self._write_case()

    def what_if(self, overrides: Mapping[str, object]) -> Result:
        """The answer of the same search with some numbers of the recipe changed.

        It equals `recall` with these overrides on the same view and at the same time; lanes whose
        options stay the same do not run again. The limit stays that of this answer.
        """
        if self._rescored is None:
            raise BadQuery(
                "overrides: this answer lacks the data that is needed to compute it again",
                hint="recall again with these overrides",
            )
        return self._rescored(overrides)

    @property
    def status(self) -> str:
        """`complete`, or `degraded` if a lane of the recipe could not run."""
        return self.plan.status

    @property
    def skipped(self) -> dict[str, str]:
        """Lane that could not run → why."""
        return self.plan.skipped

    @property
    def used(self) -> tuple[str, ...]:
        """The lanes that ran."""
        return self.plan.running

    @property
    def backend(self) -> str | None:
        """The recipe's name for the combination of lanes that ran; None if it has none."""
        return self.plan.backend

    @property
    def signals(self) -> tuple[str, ...]:
        """The lanes that ran and the boosts that touched a candidate, as the recipe names them."""
        return signals_of(self.plan)

    @property
    def trace(self) -> dict[str, object]:
        """What the search did, as flat data: modes, attempts, counts, reranking, numbers."""
        return trace_of(self.plan)

    @overload
    def rows(self, *, detailed: Literal[False] = False) -> list[tuple[str, float]]: ...
    @overload
    def rows(self, *, detailed: Literal[True]) -> list[LaneRow]: ...
    def rows(self, *, detailed: bool = False) -> list[tuple[str, float]] | list[LaneRow]:
        """(id, score) of every hit; if detailed, one row for every lane that found it."""
        if detailed:
            return [row for hit in self.hits for row in lane_rows(hit)]
        return [(hit.id, hit.score) for hit in self.hits]

    @property
    def fell_back(self) -> bool:
        """Whether the fallback lane answered because no lane of the mode could run."""
        return self.plan.fell_back

    @property
    def approximate(self) -> bool:
        """Whether a lane searched approximately: large stores scan quantised vectors first."""
        return self.plan.approximate

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt of a lane that retries with a wider query if it finds nothing."""
        return self.plan.attempts

    @property
    def used_retry(self) -> bool:
        """Whether the first attempt found nothing and another was made."""
        return len(self.attempts) > 1

    @property
    def near(self) -> tuple[str, ...]:
        """Spelling suggestions: indexed words that are close to those of the query."""
        return tuple(word for attempt in self.attempts for word in attempt.near)

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        if isinstance(index, str):  # as answers of other libraries are read
            raise not_a_mapping(self, index)
        return self.hits[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @guided
    def context(
        self,
        *,
        budget_tokens: int | None = None,
        budget_chars: int | None = None,
        include: Include = "relevant",
    ) -> Block:
        """The hits as text for a prompt, whole entries within a budget, by default the call's.

        Hits of strength `none` are left out unless `include` is `all`; if none remains, the block
        says that nothing is relevant. Entries are numbered in order; `citations` maps each number
        to an id.
        """
        every = choice(include, "include", ("relevant", "all"), BadQuery) == "all"
        used = [hit for hit in self.hits if every or hit.strength != "none"]
        rest = [hit.id for hit in self.hits if not every and hit.strength == "none"]
        budget = Budget.of(budget_tokens, budget_chars) or self._budget
        if not used and self.strength == "none":
            return nothing_block(budget, rest)
        return block_of([(hit.record, bool(hit.superseded_by)) for hit in used], budget, rest)

    def to_html(self) -> str:
        """The result as a complete HTML page without scripts or external resources."""
        from memoriter.why.card import result_page  # noqa: PLC0415  # loaded only if it is used

        return result_page(self)

    def _repr_html_(self) -> str:
        """The result as notebooks show it."""
        from memoriter.why.card import result_html  # noqa: PLC0415  # loaded only in notebooks

        return result_html(self)

    def to_dict(self) -> dict[str, object]:
        """The result as plain data."""
        return {
            "status": self.status,
            **({} if self.backend is None else {"backend": self.backend}),
            "used": list(self.used),
            "skipped": self.skipped,
            "total": self.total,
            **judgement(self.relevance, self.strength, self.remarks),
            **({"approximate": True} if self.approximate else {}),
            **({"near": list(self.near)} if self.near else {}),
            "plan": self.plan.to_dict(),
            "hits": [hit.to_dict() for hit in self.hits],
            "receipt": self.receipt.digest,
        }


# -- notebook output of types in lower rooms -------------------------------------------------------
# Explanation and Plan cannot import this room; they are drawn by functions registered here.


def _draw_explanation(node: Explanation) -> str:
    from memoriter.why.card import explanation_html  # noqa: PLC0415  # loaded only in notebooks

    return explanation_html(node)


def _draw_plan(plan: Plan) -> str:
    from memoriter.why.card import plan_html  # noqa: PLC0415  # loaded only in notebooks

    return plan_html(plan)


draw_by(Explanation, _draw_explanation)
draw_by(Plan, _draw_plan)
