"""Is a record part of a conversation in which other turns match the question?

Answers in a conversation are often short and say little by themselves ("Mondays, 7:30"): the turn
before holds the words of the question. So every turn gets a share of the score of the better turn
one, two and three places away, and a share of the best score of its session. Long records gain
less, because their own words already say what they are about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from memoriter.core.ranking import Rows, Scores
from memoriter.core.slate import Slate
from memoriter.index.view import View
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.pipeline.boosts.session import session_neighbours
from memoriter.rank.grid import snap

Share = Annotated[float, Field(ge=0.0, le=10.0)]
_TEXT: Final = 0
"""Every analyzer reads the text first, so its length is the first of a record's lengths."""


class AroundBoost(Boost):
    """Shares of the scores of the turns around a record, and of the best of its session."""

    about: ClassVar[str] = "shares of the scores of the turns around a record in its session"
    reads_score: ClassVar[bool] = True

    kind: Literal["around"]
    shares: tuple[Share, ...] = option(
        "share of the better turn's score, by distance in turns", (0.3, 0.2, 0.1), max_length=10
    )
    session: Share = option("share of the session's best score", 0.1)
    words: int = option(
        "length in words from which on a record gains less: times words / length", 80, ge=1
    )

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """What each row gains; nothing where no turn around it is a candidate."""
        lent = np.zeros(slate.rows.size)
        notes: dict[str, Scores] = {}
        turns = (slate.rows, slate.rows)
        for n, share in enumerate(self.shares, start=1):
            turns = (_step(ctx.view, turns[0], 0), _step(ctx.view, turns[1], 1))
            best, who = _better(slate, turns)
            lent += np.nan_to_num(snap(share * best))
            notes[f"row{n}"] = who
        best, who = _session_best(ctx.view, slate)
        lent += np.nan_to_num(snap(self.session * best))
        notes["row_best"] = who
        damped = snap(np.minimum(1.0, self.words / _lengths(ctx.view, slate.rows)) * lent)
        return Boosted(np.where(damped > 0.0, damped, np.nan), notes)

    def inputs(self, ctx: Context, slate: Slate) -> Mapping[str, Scores]:
        """How long the text of each record is, in words."""
        return {"words": _lengths(ctx.view, slate.rows)}


def _step(view: View, rows: Rows, side: int) -> Rows:
    """The row one turn before (side 0) or after (side 1) each of these; -1 where there is none."""
    out = np.full(rows.size, -1)
    known = np.flatnonzero(rows >= 0)
    if known.size:
        out[known] = session_neighbours(view, rows[known])[side]
    return out


def _better(slate: Slate, turns: tuple[Rows, Rows]) -> tuple[Scores, Scores]:
    """(the better score of two turns, whose it is) for each row; NaN where neither has one."""
    order = np.argsort(slate.rows)
    best, who = np.full(slate.rows.size, np.nan), np.full(slate.rows.size, np.nan)
    for rows in turns:
        at = np.minimum(np.searchsorted(slate.rows, rows, sorter=order), order.size - 1)
        here = order[at]
        there = np.where(slate.rows[here] == rows, slate.score[here], np.nan)
        better = ~np.isnan(there) & ~(best >= there)
        best, who = np.where(better, there, best), np.where(better, rows, who)
    return best, who


def _session_best(view: View, slate: Slate) -> tuple[Scores, Scores]:
    """(the best score of each row's session, whose it is); NaN outside of sessions.

    Of equal scores the oldest row is named.
    """
    keys = np.zeros(slate.rows.size, np.uint64)
    for segment in view.segments:
        places, inside = segment.places(slate.rows)
        keys[inside] = segment.sessions[places]
    best, who = np.full(keys.size, np.nan), np.full(keys.size, np.nan)
    scored = np.flatnonzero((keys > 0) & ~np.isnan(slate.score))
    if not scored.size:
        return best, who
    order = scored[np.lexsort((slate.rows[scored], -slate.score[scored], keys[scored]))]
    names, first = np.unique(keys[order], return_index=True)
    at = np.minimum(np.searchsorted(names, keys), names.size - 1)
    inside = (keys > 0) & (names[at] == keys)
    leader = order[first[at]]
    best = np.where(inside, slate.score[leader], best)
    return best, np.where(inside, slate.rows[leader].astype(np.float64), who)


def _lengths(view: View, rows: Rows) -> NDArray[np.float64]:
    """The number of words of each row's text, at least 1."""
    out = np.ones(rows.size)
    for segment in view.segments:
        places, inside = segment.places(rows)
        out[inside] = np.maximum(segment.lengths[_TEXT, places], 1)
    return out
