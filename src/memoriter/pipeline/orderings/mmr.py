"""The best that does not repeat what stands above it (maximal marginal relevance)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from memoriter.core.ranking import Scores
from memoriter.core.slate import TIER, Slate
from memoriter.index.vectors import units_of
from memoriter.lanes.port import Context
from memoriter.pipeline.fusing import Label
from memoriter.pipeline.orderings.port import Moved, Ordering
from memoriter.rank.diverse import mmr

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe


class Mmr(Ordering):
    """Takes, one by one, who has the most of trade · relevance − (1 − trade) · likeness.

    Rows without a vector are like nobody: they follow after those taken. Rows below the head of a
    second pass have scores of another scale, and take no part.
    """

    kind: Literal["mmr"]
    trade: float = Field(default=0.5, ge=0.0, le=1.0)
    """1: relevance alone; 0: likeness alone."""
    relevance: Literal["score", "unit"] = "score"
    """The score as it is, or on the scale from the least to the greatest of the head."""
    of: Label | None = None
    """The vector lane whose vectors are compared; None: those that the memory is searched by."""
    head: int = Field(default=200, ge=1, le=10_000)
    """How many of the best rows take part."""
    take: int = Field(default=0, ge=0, le=10_000)
    """How many are taken; 0: all of the head."""
    drop: bool = False
    """Whether what is not taken is dropped; else it follows in the order it had."""

    @property
    def lanes(self) -> tuple[str, ...]:
        """The lane whose vectors are compared."""
        return () if self.of is None else (self.of,)

    @property
    def decides(self) -> bool:
        """What drops the rest says how many there are."""
        return self.drop

    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """Those taken, then those without a vector, then the rest."""
        del recipe
        size = slate.rows.size
        count = min(self.head, int((slate.columns.get(TIER, np.ones(size)) == 1.0).sum()))
        units, known = units_of(ctx.reading, slate.rows[:count])
        part = np.flatnonzero(known)
        picks = mmr(self._relevance(slate.score[:count])[part], units[part], self.trade, self.take)
        taken = part[picks.order]
        penalty, cause = np.full(size, np.nan), np.full(size, np.nan)
        penalty[taken] = picks.penalties
        near = picks.causes >= 0
        cause[taken[near]] = slate.rows[part[picks.causes[near]]]
        bare = np.flatnonzero(~known)
        left = np.setdiff1d(np.arange(size), np.concatenate([taken, bare]))
        at = np.concatenate([taken, bare] if self.drop else [taken, bare, left]).astype(np.intp)
        noted: dict[str, object] = {"taken": int(taken.size)}
        noted |= {"without a vector": int(bare.size)} if bare.size else {}
        looked = {"bare": bare.tolist()}
        return Moved(at, {"penalty": penalty, "cause": cause}, noted, looked)

    def _relevance(self, score: Scores) -> Scores:
        if self.relevance == "score" or not score.size:
            return score
        low, high = float(score.min()), float(score.max())
        return (score - low) / (high - low) if high > low else np.full(score.size, 0.5)
