"""Is a record part of a conversation in which other turns match the question?

Answers in a conversation are often short and say little by themselves ("Mondays, 7:30"): the turn
before holds the words of the question. So every turn gets a share of the score of the better turn
one, two and three places away. Long records gain less, because their own words already say what
they are about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.explanation import Explanation
from memoriter.core.fields import TRUST
from memoriter.core.picture import HIDDEN, small_table
from memoriter.core.ranking import Rows, Scores, among
from memoriter.core.slate import Slate
from memoriter.core.validation import Bounds
from memoriter.index.reads import (
    Turns,
    codes,
    has_sessions,
    has_value,
    text_lengths,
    turns_around,
)
from memoriter.lanes.port import Context
from memoriter.lanes.spec import RecipePart, option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.grid import snap
from memoriter.text.figures import NodeText

TurnShare = Annotated[float, Bounds(ge=0.0, le=10.0)]


class AroundBoost(Boost):
    """Shares of the scores of the turns around a record."""

    about: ClassVar[str] = "shares of the scores of the turns around a record in its session"
    reads_score: ClassVar[bool] = True
    row_details: ClassVar[tuple[str, ...]] = tuple(f"row{n}" for n in range(1, 11))
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            **{f"row{n}": f"the better turn {n} away in the session" for n in range(1, 11)},
            **{f"score{n}": f"the score of the better turn {n} away" for n in range(1, 11)},
        }
    )

    kind: Literal["around"]
    shares: tuple[TurnShare, ...] = option(
        "shares that a record gains of the scores of turns 1, 2, … places away in its session; of"
        " the two turns at the same distance, only the better one counts",
        (0.3, 0.2, 0.1),
        max_length=10,
    )
    words: int = option(
        "length in words above which a record gains less; the gain of a longer record is"
        " multiplied by `words` / length",
        80,
        ge=1,
    )
    less_trusted: bool = option(
        "whether a record also gains from turns that are less trusted than itself", default=True
    )

    def reads_scores_of(self, ctx: Context, rows: Rows) -> Rows:
        """The turns around these rows."""
        if not has_sessions(ctx.view):
            return np.zeros(0, np.int64)
        near = self._turns(ctx, rows)
        every = np.concatenate([near.before, near.after], axis=None)
        return every[every >= 0]

    def _turns(self, ctx: Context, rows: Rows) -> Turns:
        """The turns around these rows; asked for twice in a search, so they are kept."""
        key = f"turns {len(self.shares)}"
        known = cast("tuple[Rows, Turns] | None", ctx.memo.get(key))
        if known is None or not (known[0] is rows or np.array_equal(known[0], rows)):
            ctx.memo[key] = known = (rows, turns_around(ctx.view, rows, len(self.shares)))
        return known[1]

    def largest_gain(self, best: float) -> float:
        """Every share of the best score; long records gain less."""
        return math.fsum(self.shares) * best

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """What each row gains; nothing where no turn around it has a score."""
        counted = ctx.running.counted
        if counted is None or counted is slate.rows:
            return self._gains(ctx, slate, slate.rows)
        at = among(counted, slate.rows).nonzero()[0]
        made = self._gains(ctx, slate, slate.rows[at])

        def spread(values: Scores) -> Scores:
            out = np.full(slate.rows.size, np.nan)
            out[at] = values
            return out

        details = {key: spread(column) for key, column in made.details.items()}
        return Boosted(spread(made.values), details, applies=made.applies)

    def _gains(self, ctx: Context, slate: Slate, rows: Rows) -> Boosted:
        """What some rows gain from the scores of a slate."""
        near = self._turns(ctx, rows) if has_sessions(ctx.view) else None
        farthest = 0 if near is None else _farthest(near)
        if near is None or not farthest:
            return Boosted.nothing(rows.size)
        turns = np.stack([near.before, near.after])
        scores = _of(slate, slate.score, turns)
        trust = None if self.less_trusted else _trust(ctx, slate.rows)
        if trust is not None:
            less = _of(slate, trust, turns) < _of(slate, trust, rows)
            scores = np.where(less, np.nan, scores)
        lent = np.zeros(rows.size)
        details: dict[str, Scores] = {}
        for n in range(1, 1 + min(len(self.shares), farthest)):
            who, best = _better(turns[:, n - 1], scores[:, n - 1])
            lent += np.nan_to_num(snap(self.shares[n - 1] * best))
            details |= {f"row{n}": who, f"score{n}": best}
        damped = snap(np.minimum(1.0, self.words / text_lengths(ctx.view, rows)) * lent)
        return Boosted(np.where(damped > 0.0, damped, np.nan), details)

    def node_text(self, node: Explanation) -> NodeText:
        """The turns that lend it a share: `1 away` and so on."""
        facts: dict[str, object] = {}
        for key in (key for key in self.row_details if key in node.facts):
            facts[f"{key.removeprefix('row')} away"] = node.facts[key]
        return RecipePart.node_text(self, replace(node, facts=facts))

    def picture(self, node: Explanation) -> Mapping[str, object]:
        """The turns that lend it a share, nearest first, with their scores."""
        turns: list[tuple[str, str, str]] = []
        for key in (key for key in self.row_details if key in node.facts):
            away = key.removeprefix("row")
            score = node.facts.get(f"score{away}")
            shown = "" if score is None else f"{score:.4f}"
            turns.append((f"{away} away", str(node.facts[key] or HIDDEN), shown))
        return small_table(
            "The turns around it in its session, which lend it a share of their scores.",
            ("turn", "memory", "its score"),
            turns,
            ids=1,
        )

    def inputs(self, ctx: Context, slate: Slate) -> Mapping[str, Scores]:
        """How long the text of each record is, in words."""
        return {"words": text_lengths(ctx.view, slate.rows)}


def _farthest(near: Turns) -> int:
    """The largest distance at which any row has a turn."""
    there = (near.before >= 0).any(axis=1) | (near.after >= 0).any(axis=1)
    return int(np.flatnonzero(there).max(initial=-1)) + 1


def _of(slate: Slate, values: Scores, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """The value of each of these rows; NaN where it has none or is not in the slate."""
    order = np.argsort(slate.rows)
    # `searchsorted` may point past the end or at another row; both are filtered below.
    at = np.minimum(np.searchsorted(slate.rows[order], rows), order.size - 1)
    here = order[at]
    return np.where(slate.rows[here] == rows, values[here], np.nan)


def _trust(ctx: Context, rows: Rows) -> Scores | None:
    """How far each row is trusted, as a number; None where all are trusted alike."""
    if sum(has_value(ctx.view, "trust", (name,)) for name in TRUST) < 2:  # noqa: PLR2004
        return None
    met, names = codes(ctx.view, rows, "trust")
    return np.array([-TRUST.index(name) for name in names], np.float64)[met]


def _better(rows: NDArray[np.int64], scores: NDArray[np.float64]) -> tuple[Scores, Scores]:
    """(row, score) of the best in each column, the first of equal ones; NaN where there is none."""
    at = np.argmax(np.where(np.isnan(scores), -np.inf, scores), axis=0)[None]
    best = np.take_along_axis(scores, at, 0)[0]
    return np.where(np.isnan(best), np.nan, np.take_along_axis(rows, at, 0)[0]), best
