"""Builds the `Result` of a finished search, with explanations for the returned rows only.

`memory.search` calls `answer` after `pipeline.run`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import cached_property, partial
from typing import cast

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.core.later import Later
from memoriter.core.ranking import among
from memoriter.core.slate import Slate
from memoriter.index.ids import ids_of
from memoriter.lanes.port import Context
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.relevance import RELEVANCE, Strength, unknown_because
from memoriter.pipeline.run import Ran
from memoriter.why.explain import Reasons, explain_relevance
from memoriter.why.hit import Hit, HitReasons
from memoriter.why.lane_score import LaneScore
from memoriter.why.owed import Owing, owed_places, owed_sentence, owing_lanes
from memoriter.why.remarks import remarks_of
from memoriter.why.result import Result
from memoriter.why.what_if import what_if
from memoriter.why.write_receipt import write_case, write_receipt


def answer(ran: Ran, ctx: Context) -> Result:
    """The result of a search: hits with their records, scores, evidence and moves."""
    head = ran.shown
    judged = _Judgement(ran, ctx)
    reasons = _Reasons(ran, ctx)
    rows, scores, replaced = head.rows.tolist(), head.score.tolist(), ctx.replacing_ids(head.rows)
    hits: list[Hit] = []
    for at, record in enumerate(ctx.fetch(rows)):
        if record is None:  # forgotten after the view was opened; no view may show it any more
            continue
        relevance = judged.relevance(at)
        hits.append(
            Hit(
                record=record,
                rank=len(hits) + 1,
                score=scores[at],
                _reasons=Later(partial(reasons.of, at)),
                recipe=ran.plan.recipe,
                _analyzer=ctx.wording.analyzer,
                relevance=relevance,
                strength=judged.strength(relevance),
                superseded_by=replaced[at],
                _plan=ran.plan,
            )
        )
    best = judged.best
    return Result(
        tuple(hits), ran.plan, ran.slate.rows.size,
        lambda: write_receipt(ran, ctx, reasons.lanes, judged.to_data()), ctx.query.budget,
        relevance=best, strength=judged.strength(best), remarks=judged.remarks(ctx, hits),
        timings=ran.timings, _rescored=lambda overrides: what_if(ran, ctx, overrides, answer),
        _write_case=partial(write_case, ran, ctx),
    )  # fmt: skip


class _Reasons:
    """What the hits of an answer are made from; made when somebody looks."""

    def __init__(self, ran: Ran, ctx: Context) -> None:
        self._ran = ran
        self._ctx = ctx

    def of(self, at: int) -> HitReasons:
        """The reasons of the hit at a place of the slate."""
        ran, head, recipe = self._ran, self._ran.shown, self._ran.plan.recipe
        row = int(head.rows[at])
        own = {label: scores[row] for label, scores in self.lanes.items() if row in scores}
        return HitReasons(
            own,
            explanation=Later(lambda: self._explained.score(at)),
            moves=Later(lambda: self._explained.moves(at)),
            relevance=Later(partial(explain_relevance, ran, row)),
            copies=_copy_ids(ran, self._ctx, row),
            source=_source(recipe, own),
            scores=_scores(recipe, head, at),
            owed={
                label: owed_sentence(owing, own)
                for label, owing in self._owing.items()
                if owed_places(head, label)[at]
            },
        )

    @cached_property
    def _owing(self) -> dict[str, Owing]:
        return owing_lanes(self._ran, self._ctx)

    @cached_property
    def lanes(self) -> dict[str, dict[int, LaneScore]]:
        """Per lane, the rank, score and evidence of each returned row that it found."""
        return _lanes(self._ran, self._ctx)

    @cached_property
    def _explained(self) -> Reasons:
        return Reasons(self._ran.shown, self._ran.plan.recipe, partial(ids_of, self._ctx.view))


class _Judgement:
    """The relevance of the shown rows and what it means; nothing if the recipe has none."""

    def __init__(self, ran: Ran, ctx: Context) -> None:
        self._ran = ran
        self._rule = ran.plan.recipe.relevance
        values = ran.shown.columns.get(RELEVANCE)
        self._values = None if values is None else cast("list[float]", values.tolist())
        self._every = ran.scored.columns.get(RELEVANCE)
        self._unknown = (
            None
            if self._rule is None
            else unknown_because(
                ctx,
                ran.question,
                ran.plan.recipe.lanes,
                ran.proposed,
                ran.plan.missing,
            )
        )

    def relevance(self, at: int) -> float | None:
        """The relevance of the row at a place."""
        return None if self._values is None else self._values[at]

    @property
    def best(self) -> float | None:
        """The best relevance of a candidate; 0 if there are none.

        What limit, budget or `min_relevance` cut off counts too: the answer is not "nothing" then.
        """
        return None if self._every is None else float(self._every.max(initial=0.0))

    def strength(self, relevance: float | None) -> Strength | None:
        """What a relevance means."""
        if self._rule is None or relevance is None:
            return None
        return "unknown" if self._unknown is not None else self._rule.strength(relevance)

    def to_data(self) -> dict[str, object] | None:
        """Relevance and strength of the answer and of each shown row, for the receipt."""
        if self._rule is None or self._values is None:
            return None
        return {
            "relevance": self.best,
            "answer": self.strength(self.best),
            "hits": [self.strength(each) for each in self._values],
            "weak": self._rule.weak,
            "strong": self._rule.strong,
            "unknown": self._unknown,
        }

    def remarks(self, ctx: Context, hits: Sequence[Hit]) -> tuple[str, ...]:
        """What a reader of the strength should know."""
        if self._rule is None:
            return ()
        best = hits[0].record if hits else None
        cut = () if hits else self._cut(ctx)
        return (*cut, *remarks_of(self._ran, ctx, best, self._unknown))

    def _cut(self, ctx: Context) -> tuple[str, ...]:
        """Why there is no hit although a candidate is relevant."""
        if not self._ran.scored.rows.size or self.strength(self.best) not in ("strong", "weak"):
            return ()
        if not self._ran.slate.rows.size:
            return ("a relevant memory lies below the minimum of this call",)
        return ("a relevant memory does not fit into the budget",) if ctx.query.budget else ()


def _copy_ids(ran: Ran, ctx: Context, row: int) -> tuple[str, ...]:
    copies = _copies(ran, row)
    return tuple(ids_of(ctx.view, np.array(copies, np.int64))) if copies else ()


def _copies(ran: Ran, row: int) -> list[int]:
    """The rows that orderings dropped as copies of a row, or as copies of such a copy."""
    own = [copy for move in ran.moves.values() for copy in move.stands_for.get(row, ())]
    return [each for copy in own for each in (copy, *_copies(ran, copy))]


def _source(recipe: Recipe, lanes: Collection[str]) -> str | None:
    """The first source name of the recipe whose lanes all found the hit; None if there is none."""
    sources = recipe.sources.items()
    return next((name for name, wanted in sources if set(wanted) <= set(lanes)), None)


def _scores(recipe: Recipe, slate: Slate, at: int) -> dict[str, float]:
    """The numbers that the recipe exports for one row; 0 where a column has no value."""
    out: dict[str, float] = {}
    for name, column in recipe.scores.items():
        values = slate.score if column == "score" else slate.columns.get(column)
        value = 0.0 if values is None else float(values[at])
        out[name] = 0.0 if math.isnan(value) and column != "score" else value
    return out


def _lanes(ran: Ran, ctx: Context) -> dict[str, dict[int, LaneScore]]:
    """Per lane, the rank, score and evidence of each returned row that it found."""
    out: dict[str, dict[int, LaneScore]] = {}
    rows, ascending = ran.shown.rows.tolist(), np.sort(ran.shown.rows)
    for label, ranking in ran.rankings.items():
        at = among(ascending, ranking.rows).nonzero()[0]
        numbers = zip((at + 1).tolist(), ranking.scores[at].tolist(), strict=True)
        ranked = dict(zip(ranking.rows[at].tolist(), numbers, strict=True))
        hit_rows = [row for row in rows if row in ranked]
        whys = Later(partial(_evidence, ran, ctx, label, hit_rows))
        out[label] = {
            row: LaneScore(*ranked[row], Later(partial(_nth, whys, n)))
            for n, row in enumerate(hit_rows)
        }
    return out


def _evidence(ran: Ran, ctx: Context, label: str, rows: Sequence[int]) -> list[Explanation]:
    lane, sought = ran.plan.recipe.lanes[label], np.array(rows, np.int64)
    return lane.evidence(ctx.at(label, ran.seeds), ran.rankings[label], sought)


def _nth(whys: Later[list[Explanation]], n: int) -> Explanation:
    return whys.value[n]
