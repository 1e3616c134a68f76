"""Is a record part of a conversation in which other turns match the question?

Answers in a conversation are often short and say little by themselves ("Mondays, 7:30"): the turn
before holds the words of the question. So every turn gets a share of the score of the better turn
one, two and three places away, and a share of the best score among the turns nearby. Long records
gain less, because their own words already say what they are about.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Rows, Scores
from memoriter.core.slate import Slate
from memoriter.index.reads import session_neighbours
from memoriter.index.view import View
from memoriter.lanes.port import Context
from memoriter.lanes.spec import RecipePart, option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.grid import snap
from memoriter.text.figures import NodeText

TurnShare = Annotated[float, Field(ge=0.0, le=10.0)]
_TEXT: Final = 0
"""Every analyzer reads the text first, so its length is the first of a record's lengths."""
_Sides = tuple[Rows, Rows]
"""For each row the row before it and the row after it, at one distance; -1 where there is none."""


class AroundBoost(Boost):
    """Shares of the scores of the turns around a record."""

    about: ClassVar[str] = "shares of the scores of the turns around a record in its session"
    reads_score: ClassVar[bool] = True
    row_notes: ClassVar[tuple[str, ...]] = (*(f"row{n}" for n in range(1, 11)), "row_best")

    kind: Literal["around"]
    shares: tuple[TurnShare, ...] = option(
        "share of the better turn's score, by distance in turns", (0.3, 0.2, 0.1), max_length=10
    )
    nearby: TurnShare = option("share of the best score among the turns nearby", 0.1)
    turns: int = option("distance in turns up to which a turn is nearby", 5, ge=1, le=10)
    words: int = option(
        "length in words from which on a record gains less: times words / length", 80, ge=1
    )

    @property
    def _reach(self) -> int:
        return max(len(self.shares), self.turns if self.nearby else 0)

    def reads_scores_of(self, ctx: Context, rows: Rows) -> Rows:
        """The turns around these rows."""
        near = [side for sides in _turns(ctx.view, rows, self._reach) for side in sides]
        every = np.concatenate([np.zeros(0, np.int64), *near])
        return every[every >= 0]

    def largest_gain(self, best: float) -> float:
        """Every share of the best score; long records gain less."""
        return math.fsum((*self.shares, self.nearby)) * best

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """What each row gains; nothing where no turn around it has a score."""
        lent = np.zeros(slate.rows.size)
        notes: dict[str, Scores] = {}
        near = _Better.none(slate)
        for n, sides in enumerate(_turns(ctx.view, slate.rows, self._reach), start=1):
            better = _Better.none(slate).among(sides)
            if n <= len(self.shares):
                lent += np.nan_to_num(snap(self.shares[n - 1] * better.best))
                notes |= {f"row{n}": better.who, f"score{n}": better.best}
            if self.nearby and n <= self.turns:
                near = near.among(sides)
        if self.nearby:
            lent += np.nan_to_num(snap(self.nearby * near.best))
            notes |= {"row_best": near.who, "score_best": near.best}
        damped = snap(np.minimum(1.0, self.words / _lengths(ctx.view, slate.rows)) * lent)
        return Boosted(np.where(damped > 0.0, damped, np.nan), notes)

    def node_text(self, node: Explanation) -> NodeText:
        """The turns that lend it a share: `1 away`, `2 away` …, and the best `nearby`."""
        facts: dict[str, object] = {}
        for key in (key for key in self.row_notes if key in node.facts):
            away = key.removeprefix("row")
            facts["nearby" if away == "_best" else f"{away} away"] = node.facts[key]
        return RecipePart.node_text(self, replace(node, facts=facts))

    def inputs(self, ctx: Context, slate: Slate) -> Mapping[str, Scores]:
        """How long the text of each record is, in words."""
        return {"words": _lengths(ctx.view, slate.rows)}


def _turns(view: View, rows: Rows, reach: int) -> Iterator[_Sides]:
    """The rows one, two … turns away; ends where no row has a turn that far away."""
    before = after = rows
    for _ in range(reach):
        before, after = _step(view, before, 0), _step(view, after, 1)
        if not (before >= 0).any() and not (after >= 0).any():
            return
        yield before, after


def _step(view: View, rows: Rows, side: int) -> Rows:
    """The row one turn before (side 0) or after (side 1) each of these; -1 where there is none."""
    out = np.full(rows.size, -1)
    known = np.flatnonzero(rows >= 0)
    if known.size:
        out[known] = session_neighbours(view, rows[known])[side]
    return out


class _Better:
    """For each row of a slate the best score seen so far around it, and whose it is."""

    def __init__(self, slate: Slate, order: NDArray[np.intp], best: Scores, who: Scores) -> None:
        self._slate, self._order, self.best, self.who = slate, order, best, who

    @classmethod
    def none(cls, slate: Slate) -> _Better:
        nothing = np.full(slate.rows.size, np.nan)
        return cls(slate, np.argsort(slate.rows), nothing, nothing)

    def among(self, sides: _Sides) -> _Better:
        """With two more rows each; of equal scores the one that came first stays."""
        best, who, order = self.best, self.who, self._order
        rows, scores = self._slate.rows, self._slate.score
        for other in sides:
            at = np.minimum(np.searchsorted(rows, other, sorter=order), order.size - 1)
            here = order[at]
            there = np.where(rows[here] == other, scores[here], np.nan)
            better = ~np.isnan(there) & ~(best >= there)
            best, who = np.where(better, there, best), np.where(better, other, who)
        return _Better(self._slate, order, best, who)


def _lengths(view: View, rows: Rows) -> NDArray[np.float64]:
    """The number of words of each row's text, at least 1."""
    out = np.ones(rows.size)
    for segment in view.segments:
        places, inside = segment.places(rows)
        out[inside] = np.maximum(segment.lengths[_TEXT, places], 1)
    return out
