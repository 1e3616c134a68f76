"""Relevance: how well a hit answers the question, from 0 to 1, comparable between questions.

A score orders the hits of one question. It cannot say whether the best of them is any good. The
relevance can: it is made of numbers of the record and the question alone: how much of the question
the lanes cover, how near the meaning is compared with unrelated texts, how much of what the
question asks for the store has ever seen, and how much the question asks at all. Boosts take no
part: they read other records. `run` adds it as a column; a recipe without `[relevance]` has none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Final, Literal, NamedTuple

import numpy as np

from memoriter.core.fold import fold
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Knots, Ranking, Rows, Scores, Spread
from memoriter.core.validation import Bounds
from memoriter.index.field_stats import distinct
from memoriter.index.match import PhrasePattern
from memoriter.lanes.port import Context, Lane
from memoriter.lanes.spec import Spec, option
from memoriter.pipeline.asked_speakers import speakers_named
from memoriter.rank.fuse import by_knots
from memoriter.rank.grid import STEP, snap, snap_one
from memoriter.text.background import background_idf
from memoriter.text.english import is_english
from memoriter.text.question import asks_nothing, informative_terms, question_names
from memoriter.text.speakers import name_words

RELEVANCE: Final = "relevance"
"""The column, and the move that drops hits below a minimum."""
Strength = Literal["strong", "weak", "none", "unknown"]
"""What a relevance means; `unknown` if it cannot be told."""
UnitShare = Annotated[float, Bounds(ge=0.0, le=1.0)]
Prior = Annotated[float, Bounds(gt=0.0, le=1e6)]
Knot = tuple[Annotated[float, Bounds(ge=0.0, le=1e6)], UnitShare]


PARTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "lanes": "what the lanes cover of the question",
        "seen": "share of the question in words that the store has",
        "mass": "how much the question asks",
        "damping": "factor for the mass; small if the question asks little",
        "names": "factor for names in the question that no record has",
        "length": "factor for the length of the record; long texts match anything a little",
        "apart": "what is covered of the words that a lane reads by itself, such as a time",
        "size": "factor for the number of records; of many, the best is better by chance",
        "stands_out": "factor beyond weak: how far the record stands out of all others",
        "evidence": "all of these together; the knots turn it into relevance",
    }
)
"""What relevance is made from, in plain words, in the order of the formula."""


class Covered(NamedTuple):
    """How much of a question each row covers."""

    share: Scores
    """What the lanes add to the first pass, as a share of the most that they can add."""
    apart: Scores | None
    """The coverage by the lanes that read words of the question by themselves, or 1 for a row whose
    text has these words; None if no such lane ran."""
    words: Scores
    """The length of each row's text."""
    scores: Scores | None = None
    """The score by the lane that says how far a record stands out; None if it did not run."""


class Judged(NamedTuple):
    """The relevance of each row, and what it is made from."""

    values: Scores
    parts: Mapping[str, Scores | float]
    """Those of `PARTS` that count: a number per row, or one for the question."""
    rule: Relevance
    """The rule, with the knots for the embedder."""


class Relevance(Spec):
    """How the relevance of a hit is computed."""

    seen: UnitShare = option(
        "weight (0 to 1) of the share of the question's informative words that any record has; the"
        " lanes' scores have the rest of the weight",
        0.05,
    )
    mass: float = option(
        "how much evidence a short question loses (larger: more); with m = the summed idf of its"
        " informative words in general English, evidence is multiplied by m / (m + `mass`)",
        16.0,
        ge=0.0,
        le=1000.0,
    )
    unseen_name: UnitShare = option(
        "evidence is multiplied by this factor if the question has a name that occurs in no record",
        0.4,
    )
    words: int = option(
        "length in words above which a record loses evidence; the evidence of a longer record is"
        " multiplied by the fourth root of `words` / length",
        16, ge=1, le=1_000_000,
    )  # fmt: skip
    apart: UnitShare = option(
        "what the lanes in the recipe's `apart` add to the evidence at most; the fewer other"
        " words the question has, the more they add",
        0.16,
    )
    few: float | None = option(
        "how slowly evidence falls as the store grows (larger: slower); with n = the number of"
        " records that the caller can read, evidence is multiplied by (few + ln `records`) / (few"
        " + ln n); None: evidence does not depend on n",
        None, gt=0.0, le=1000.0,
    )  # fmt: skip
    records: int = option(
        "number of records in the stores that `knots` were fitted on", 160, ge=1, le=10**9
    )
    stands_out: str | None = option(
        "lane whose scores show how far a hit stands out from all other records; None: it does not"
        " matter how far a hit stands out",
        None,
    )
    deviations: float = option(
        "how many standard deviations a hit should be above the mean in the lane `stands_out`;"
        " with z = the hit's standard score there, evidence beyond that of a weak hit is"
        " multiplied by z / deviations (0.25 to 2)",
        6.0, gt=0.0, le=1000.0,
    )  # fmt: skip
    prior: tuple[Prior, UnitShare, UnitShare] = option(
        "imaginary records (their number, mean score, standard deviation) that count in the mean"
        " and deviation of the lane `stands_out`; they matter only in small stores",
        (20.0, 0.04, 0.05),
    )
    knots: tuple[Knot, ...] = option(
        "points (evidence, relevance) of the curve from evidence to relevance; between two points"
        " the curve is a straight line",
        min_length=2,
        max_length=32,
    )
    model_knots: tuple[Knot, ...] = option(
        "points used instead of `knots` if vectors come from an embedding model; empty: `knots`"
        " are used with a model too",
        (),
        max_length=32,
    )
    weak: UnitShare = option(
        'minimum relevance of a hit of the strength "weak"; a hit below it has the strength "none"',
        0.15,
    )
    strong: UnitShare = option('minimum relevance of a hit of the strength "strong"', 0.6)

    def check(self) -> None:
        """Knots ascend, and `weak` is not above `strong`."""
        for name, knots in (("knots", self.knots), ("model_knots", self.model_knots)):
            xs, ys = [x for x, _ in knots], [y for _, y in knots]
            if xs != sorted(set(xs)) or ys != sorted(ys):
                raise ValueError(
                    f"relevance.{name}: each point needs more evidence than the one before, and at"
                    " least the same relevance"
                )
            if len(knots) == 1:
                raise ValueError(f"relevance.{name}: has one point, but a curve needs at least two")
        if self.weak > self.strong:
            raise ValueError(
                f"relevance.weak ({self.weak}) must not be above relevance.strong ({self.strong})"
            )

    def with_model(self, *, has_model: bool) -> Relevance:
        """The rule with the knots for the embedder."""
        if not has_model or not self.model_knots:
            return self
        return self.with_options(knots=self.model_knots)

    def strength(self, relevance: float) -> Strength:
        """What a relevance means."""
        if relevance >= self.strong:
            return "strong"
        return "weak" if relevance >= self.weak else "none"

    def of(self, question: QuestionFacts, covered: Covered) -> Judged:
        """The relevance of each row, and its parts."""
        damp = question.damped(self.mass)
        named = self.unseen_name if question.unseen_names else 1.0
        # A square root is correctly rounded everywhere; a power is not.
        length = snap(np.sqrt(np.sqrt(np.minimum(1.0, self.words / covered.words))))
        own = snap(covered.share * (1.0 - self.seen) + self.seen * question.seen)
        size = question.size(self)
        evidence = snap(own * damp * named * length)
        if covered.apart is not None:
            evidence += snap(covered.apart * self.apart * (1.0 - damp))
        evidence = snap(evidence * size)
        times = self._times(question.spread, covered)
        least = self.weak_evidence
        over = snap(np.maximum(evidence - least, 0.0) * times)
        evidence = np.minimum(evidence, least) + over
        parts: dict[str, Scores | float] = {
            "lanes": covered.share,
            "seen": question.seen,
            "mass": question.mass,
            "damping": damp,
            "names": named,
            "length": length,
            "apart": 0.0 if covered.apart is None else covered.apart,
            "size": size,
            "stands_out": times,
            "evidence": evidence,
        }
        return Judged(by_knots(evidence, self._floats), parts, self)

    def _times(self, spread: Spread | None, covered: Covered) -> Scores:
        """How often evidence beyond that of a weak hit counts, by how far each row stands out."""
        if spread is None or covered.scores is None:
            return np.ones(covered.share.size)
        count, mean, deviation = self.prior
        whole = spread.records + count
        middle = (spread.total + count * mean) / whole
        squares = spread.squares + count * (mean * mean + deviation * deviation)
        width = math.sqrt(max(squares / whole - middle * middle, STEP)) * self.deviations
        return snap(np.minimum(np.maximum((covered.scores - middle) / width, 0.25), 2.0))

    @cached_property
    def _floats(self) -> Knots:
        return tuple((float(x), float(y)) for x, y in self.knots)

    @cached_property
    def weak_evidence(self) -> float:
        """The evidence of a hit whose relevance is just `weak`."""
        for (x0, y0), (x1, y1) in pairwise(((0.0, 0.0), *self._floats)):
            if y1 >= self.weak:
                level = y1 in (self.weak, y0)
                return x1 if level else _between(self.weak, y0, y1, x0, x1)
        return 1.0

    def knots_around(self, evidence: float) -> Knots:
        """The two knots between which the relevance of some evidence lies; one beyond the ends."""
        knots = self._floats
        at = sum(x <= evidence for x, _ in knots)
        return knots[max(at - 1, 0) : at + 1]


def _between(y: float, y0: float, y1: float, x0: float, x1: float) -> float:
    return snap_one(x0 + (x1 - x0) * ((y - y0) / (y1 - y0)))


@dataclass(frozen=True)
class QuestionFacts:
    """What is known about a question before any record is scored: inputs of the receipt."""

    terms: tuple[tuple[str, float, int], ...]
    """(informative term, its idf in general English, records that contain it)."""
    names: tuple[tuple[str, int], ...]
    """(name in the question, records that contain it, or 1 for a speaker)."""
    records: int = 0
    """How many records the caller can read."""
    spread: Spread | None = None
    """How the lane that the rule names scores all of them; None if it did not run."""

    @cached_property
    def mass(self) -> float:
        """How much the question asks: the summed idf of its informative terms."""
        return math.fsum(idf for _, idf, _ in self.terms)

    @cached_property
    def seen(self) -> float:
        """The share of the mass that is in words that some record has."""
        known = math.fsum(idf for _, idf, df in self.terms if df)
        return snap_one(known / self.mass) if self.mass else 0.0

    @property
    def unseen_names(self) -> tuple[str, ...]:
        """The names that no record has."""
        return tuple(name for name, df in self.names if not df)

    def damped(self, half: float) -> float:
        """Mass / (mass + half): near 0 if the question asks next to nothing ("go on")."""
        mass = self.mass
        return snap_one(mass / (mass + half)) if mass else 0.0

    def size(self, rule: Relevance) -> float:
        """The factor for the size of the store: above 1 for a small one, below for a large one."""
        if rule.few is None:
            return 1.0
        here, usual = (snap_one(math.log(max(n, 1))) for n in (self.records, rule.records))
        return snap_one((rule.few + usual) / (rule.few + here))


def unknown_because(
    ctx: Context,
    question: QuestionFacts | None,
    lanes: Mapping[str, Lane],
    rankings: Mapping[str, Ranking],
    degraded: Mapping[str, str],
) -> str | None:
    """Why the relevance of an answer cannot be told; None if it can.

    `degraded` are the lanes that could not run, and why.
    """
    if not ctx.query.text.strip():
        return "the question is blank"
    if question is not None and not question.terms and not question.names:
        return None  # it asks for nothing, so nothing can be relevant to it
    if degraded:
        label, reason = next(iter(degraded.items()))
        return f"{label} could not run: {reason}"
    for label, ranking in rankings.items():
        if lanes[label].independent and ranking.coverage is None:
            return lanes[label].why_no_coverage(ctx)
    if not is_english(ctx.query.text):
        return "the question does not seem to be English, the language of the packaged word tables"
    return None


def question_facts(ctx: Context, rule: Relevance, rankings: Mapping[str, Ranking]) -> QuestionFacts:
    """The informative terms and the names of the question, with what the view knows of them.

    Records are counted in the caller's scope: a word that only others have tells nothing. A speaker
    whom the question names counts as known, even if no text has the name.
    """
    analyzer = ctx.wording.analyzer
    stats = ctx.field_stats
    pairs = zip(ctx.selection.readable, ctx.view.visible, strict=True)
    unscoped = all(readable is visible for readable, visible in pairs)

    def df(term: str) -> int:
        count, what = 0, PhrasePattern(((term, 0),))
        if unscoped:
            return stats.df(what)  # no scope narrows the view, whose counts are kept
        for n, mask in enumerate(ctx.selection.readable):
            hits = stats.occurrences(n, what)
            count += 0 if hits is None else int(mask[distinct(hits.docs)].sum())
        return count

    talk = asks_nothing(ctx.query.text)
    terms = () if talk else informative_terms(ctx.asked, analyzer)
    asked = () if talk else question_names(ctx.query.text)
    names = {name: analyzer.terms(name) for name in asked}
    speakers = speakers_named(ctx) if names else frozenset[str]()
    spoken = {word for speaker in speakers for word in name_words(speaker)}
    counts = {
        name: 1 if fold(name) in spoken else min(df(term) for term in own)
        for name, own in names.items()
        if own
    }
    facts = tuple((term, background_idf(term), df(term)) for term in terms)
    own = None if rule.stands_out is None else rankings.get(rule.stands_out)
    return QuestionFacts(
        facts,
        tuple(counts.items()),
        ctx.view.total if unscoped else sum(int(mask.sum()) for mask in ctx.selection.readable),
        None if own is None else own.spread,
    )


def rows_with_words(ctx: Context, words: tuple[str, ...], rows: Rows) -> Scores:
    """1 for each row whose record has all of these words, else 0."""
    terms = {term for word in words for term in ctx.wording.analyzer.terms(word)}
    if not terms:
        return np.zeros(rows.size)
    stats = ctx.field_stats
    out = np.ones(rows.size)
    for term in sorted(terms):
        has = np.zeros(rows.size)
        for n, segment in enumerate(ctx.view.segments):
            hits = stats.occurrences(n, PhrasePattern(((term, 0),)))
            if hits is not None:
                has[np.isin(rows, segment.rows[distinct(hits.docs)])] = 1.0
        out *= has
    return out
