"""Does the question ask how something was before, and was a record superseded?

The record that took its place often has the words of the question ("Who was my boss before
Priit?"), and the superseded one does not. So it gets a share of the best score among those that
took its place, beside a weight of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np

from memoriter.core.ranking import Rows, Scores
from memoriter.core.slate import Slate
from memoriter.index.reads import numbers
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.grid import snap, snap_one
from memoriter.text.past import past_words


class PastBoost(Boost):
    """Superseded records gain when the question asks about the past."""

    about: ClassVar[str] = "superseded records, when the question asks about the past"
    reads_score: ClassVar[bool] = True
    row_details: ClassVar[tuple[str, ...]] = ("row",)
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "row": "the memory that superseded it",
            "row_score": "the score of that memory",
        }
    )

    kind: Literal["past"]
    weight: float = option(
        "score that a superseded record gains if the question asks about the past",
        0.1,
        ge=0.0,
        le=1000.0,
    )
    share: float = option(
        "a superseded record also gains this share of the score of the record that superseded it",
        0.5,
        ge=0.0,
        le=10.0,
    )

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready if the question asks about the past."""
        words = past_words(ctx.query.text, ctx.query.now)
        if words is None:
            return Skipped("the question does not ask about the past", idle=True)
        return Ready({**self.shows(), "phrase": words})

    def reads_scores_of(self, ctx: Context, rows: Rows) -> Rows:
        """What took the place of these rows."""
        if ctx.recorded is not None:
            return np.zeros(0, np.int64)
        edges = ctx.replacing_edges
        positions = numbers(ctx.view, rows, "position").astype(np.int64)
        sources = edges.sources[np.isin(edges.targets, positions)]
        if not sources.size:
            return np.zeros(0, np.int64)
        pairs = zip(ctx.view.segments, ctx.selection.masks, strict=True)
        here = [s.rows[mask & np.isin(s.arrays["position"], sources)] for s, mask in pairs]
        return np.concatenate(here)

    def largest_gain(self, best: float) -> float:
        """The weight, and the share of the best score."""
        return self.weight + self.share * best

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """The weight, and the share of the best score among the records that took its place."""
        best, row = _replacement(ctx, slate)
        lent = np.maximum(np.nan_to_num(snap(self.share * best)), 0.0)
        gain = np.where(_superseded(ctx, slate) > 0.0, snap_one(self.weight) + lent, 0.0)
        return Boosted(np.where(gain > 0.0, gain, np.nan), {"row": row, "row_score": best})

    def inputs(self, ctx: Context, slate: Slate) -> Mapping[str, Scores]:
        """Whether each record was superseded."""
        return {"superseded": _superseded(ctx, slate)}


def _superseded(ctx: Context, slate: Slate) -> Scores:
    """1 for a row that another one took the place of, else 0."""
    return np.array([float(bool(ids)) for ids in ctx.replacing_ids(slate.rows)])


def _replacement(ctx: Context, slate: Slate) -> tuple[Scores, Scores]:
    """(the best score of what took a row's place, whose it is); NaN if none is a candidate.

    Of equal scores the oldest row is named.
    """
    best, row = np.full(slate.rows.size, np.nan), np.full(slate.rows.size, np.nan)
    if ctx.recorded is not None:  # what was replaced by then is not in the selection
        return best, row
    positions = numbers(ctx.view, slate.rows, "position").astype(np.int64).tolist()
    at = {position: n for n, position in enumerate(positions)}
    edges = ctx.replacing_edges
    for source, target in zip(edges.sources.tolist(), edges.targets.tolist(), strict=True):
        if source not in at or target not in at or source == target:
            continue
        one, other = at[target], at[source]
        mark = (slate.score[other], -slate.rows[other])
        if not np.isnan(mark[0]) and not (best[one], -row[one]) >= mark:
            best[one], row[one] = slate.score[other], slate.rows[other]
    return best, row
