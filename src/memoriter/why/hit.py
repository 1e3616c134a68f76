"""One hit of an answer: its record, score and rank, and how they came about.

`why.answer` makes them; `Result` is the sequence of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, cast

from memoriter.core.errors import BadQuery
from memoriter.core.explanation import Explanation
from memoriter.core.later import Later
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.other_words import Hinting
from memoriter.core.record import Record
from memoriter.core.shown import quoted, shown
from memoriter.lanes.port import WordMatch
from memoriter.pipeline.plan import Plan
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.relevance import Strength
from memoriter.text.figures import figure
from memoriter.text.port import Analyzer
from memoriter.text.spans import Matched, Span, snippet, spans_of
from memoriter.why.lane_score import LaneScore
from memoriter.why.strengths import judgement

if TYPE_CHECKING:
    from memoriter.why.versus import Versus


@dataclass(frozen=True, slots=True)
class HitReasons:
    """What is known of a hit besides its record and its numbers, as `Hit` describes it."""

    lanes: Mapping[str, LaneScore]
    explanation: Later[Explanation]
    moves: Later[Mapping[str, Mapping[str, object]]]
    relevance: Later[Explanation | None]
    copies: tuple[str, ...] = ()
    source: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    owed: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Hit(Hinting):
    """One record of an answer, with its score, its rank and their explanation."""

    record: Record
    rank: int
    score: float
    _reasons: Later[HitReasons]
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
    _plan: Plan | None = field(default=None, compare=False)
    """The plan that ran; None if the hit is part of a bundle."""

    def __repr__(self) -> str:
        record = self.record
        text = record.essence if record.kind == "reflection" else record.text
        return shown(f"Hit {self.rank}", f"{figure(self.score)} {quoted(text)}")

    @property
    def id(self) -> str:
        """The record's id."""
        return self.record.id

    @property
    def lanes(self) -> Mapping[str, LaneScore]:
        """The rank and score of the record in each lane that found it."""
        return self._reasons.value.lanes

    @property
    def copies(self) -> tuple[str, ...]:
        """The ids of the copies that it stands for, the most trusted and newest first."""
        return self._reasons.value.copies

    @property
    def source(self) -> str | None:
        """The recipe's name for the lanes that found it; None if it has none."""
        return self._reasons.value.source

    @property
    def scores(self) -> Mapping[str, float]:
        """The numbers that the recipe exports, by the recipe's names."""
        return self._reasons.value.scores

    @property
    def owed(self) -> Mapping[str, str]:
        """Lane → what it lacks of the record because it is computed later; empty mostly."""
        return self._reasons.value.owed

    @property
    def explanation(self) -> Explanation:
        """The arithmetic of the score."""
        return self._reasons.value.explanation.value

    @property
    def relevance_explanation(self) -> Explanation | None:
        """What the relevance is made from, as facts; None if the recipe has no relevance."""
        return self._reasons.value.relevance.value

    @property
    def moves(self) -> Mapping[str, Mapping[str, object]]:
        """For each pass and ordering that moved rows, its rank before (`from`) and its details."""
        return self._reasons.value.moves.value

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
        if len(out) <= 1:
            return out
        terms = () if self._plan is None else self._plan.terms
        place = {term: at for at, term in enumerate(terms)}
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
            **({"owed": dict(self.owed)} if self.owed else {}),
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
