"""The candidates of a search: what the lanes' pools propose, and what every lane says of them.

A pool limits what a lane proposes. Without more, a row that one lane proposes gets nothing from a
lane in whose pool it has no room, and the order depends on the size of the pools. `complete` asks
every lane about every candidate, and about the rows that boosts read beside them. Then a row's
score is the same at any pool that contains the row. `run` calls it between lanes and first pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import InvariantError
from memoriter.core.later import Later
from memoriter.core.ranking import (
    Matrix,
    Ranking,
    Rows,
    Scores,
    among,
    scores_at,
    union_places,
    union_rows,
)
from memoriter.core.slate import ColumnOrLater, Columns, Slate
from memoriter.index.view import View
from memoriter.lanes.port import Context
from memoriter.pipeline.recipe import Recipe
from memoriter.rank.top import Keys, by_row, top

_EVERY: Final[Mapping[str, Rows]] = MappingProxyType({})


class Candidates:
    """The candidates with the scores of the lanes, in the recipe's order.

    As made from what the lanes propose; `complete` adds the scores of further rows.
    """

    def __init__(self, proposed: Mapping[str, Ranking]) -> None:
        self.proposed = proposed
        """What each lane found."""
        self.rows, at = union_places([each.rows for each in proposed.values()])
        """Every candidate, ascending."""
        self.scored_rows = self.rows
        """The rows that have scores, ascending: candidates, and what boosts read beside them."""
        self.counted: Mapping[str, Rows] = _EVERY
        """By boost, the rows, ascending, whose value of it changes the answer; all if absent."""
        self._keys: Keys = by_row
        self._at: dict[str, NDArray[np.intp]] = {}
        end = 0
        for label, ranking in proposed.items():
            begin, end = end, end + ranking.rows.size
            self._at[label] = at[begin:end]

    def widen(self, rows: Rows, counted: Mapping[str, Rows], keys: Keys) -> None:
        """Score more rows than the candidates; `keys` order equal scores."""
        self.counted, self._keys = counted, keys
        if rows is not self.rows:
            at = rows.searchsorted(self.rows)
            self._at = {label: at[own] for label, own in self._at.items()}
            self.scored_rows = rows

    def drop_unscored(self, view: View) -> None:
        """Drop the rows beside the candidates that no lane has a score for."""
        if self.scored_rows is self.rows:
            return
        kept = ~np.isnan(self.scores).all(axis=0) | among(self.rows, self.scored_rows)
        if not kept.all():
            self.__dict__["scores"] = self.scores[:, kept]
            self._at = {label: (np.cumsum(kept) - 1)[at] for label, at in self._at.items()}
            self.scored_rows = view.part(self.scored_rows, kept)

    @cached_property
    def scores(self) -> Matrix:
        """The score of each row by each lane, (lanes × rows); NaN if a lane has none."""
        out = np.full((len(self.proposed), self.scored_rows.size), np.nan)
        for own, (label, ranking) in zip(out, self.proposed.items(), strict=True):
            own[self._at[label]] = ranking.scores
        return out

    def slate(self) -> Slate:
        """All rows with score, rank and partial scores of each lane.

        NaN if the lane has no score for a row; rows beside the candidates have no ranks.
        """
        columns: dict[str, ColumnOrLater] = {}
        for own, (label, ranking) in zip(self.scores, self.proposed.items(), strict=True):
            columns[f"{label}.score"] = own
            columns[f"{label}.rank"] = Later(partial(self._ranks, label))
            for name, values in ranking.parts.items():
                columns[f"{label}.{name}"] = part = np.full(own.size, np.nan)
                part[self._at[label]] = values
        return Slate(self.scored_rows, Columns(columns))

    def _ranks(self, label: str) -> Scores:
        """The rank of each row in a lane."""
        ranked = self.rankings[label].rows
        return scores_at(self.scored_rows, ranked, np.arange(1.0, ranked.size + 1))

    def answered(self, label: str) -> bool:
        """Whether a lane has a score for any candidate."""
        return bool(self.proposed[label].rows.size or self.rankings[label].rows.size)

    @cached_property
    def rankings(self) -> Mapping[str, Ranking]:
        """The ranking of each lane with all candidates that it has a score for."""
        is_candidate = among(self.rows, self.scored_rows)
        out: dict[str, Ranking] = {}
        for own, (label, ranking) in zip(self.scores, self.proposed.items(), strict=True):
            further = is_candidate & ~np.isnan(own)
            further[self._at[label]] = False
            out[label] = self._continued(ranking, self.scored_rows[further], own[further])
        return out

    def _continued(self, ranking: Ranking, rows: Rows, scores: Scores) -> Ranking:
        """A ranking continued with further rows; none of them can come before the pool's last."""
        if not rows.size:
            return ranking
        order = top(scores, rows, rows.size, self._keys)
        return replace(
            ranking,
            rows=np.concatenate([ranking.rows, rows[order]]),
            scores=np.concatenate([ranking.scores, scores[order]]),
        )


def complete(
    recipe: Recipe,
    ctx: Context,
    proposed: Mapping[str, Ranking],
    seeds: Mapping[str, Rows],
    boosts: Sequence[str],
) -> Candidates:
    """The candidates with the score of every lane that scores a row by itself.

    `proposed` is what each lane found, `boosts` are the labels of those that can run. A recipe
    without `complete` gets the proposed rankings unchanged.
    """
    candidates = Candidates(proposed)
    if not recipe.passes[0].complete:
        return candidates
    # The last boost first: what it reads must have passed through all boosts before it.
    wanted = candidates.rows
    counted: dict[str, Rows] = {}
    for label in reversed(_applied(recipe, boosts)):
        counted[label] = wanted
        read = recipe.boosts[label].reads_scores_of(ctx, wanted)
        wanted = union_rows((wanted, read)) if read.size else wanted
    candidates.widen(wanted, counted, ctx.keys)
    selected = ctx.selection.has(ctx.view, wanted)
    for own, (label, ranking) in zip(candidates.scores, proposed.items(), strict=True):
        lane = recipe.lanes[label]
        if not lane.independent:
            continue
        further = (np.isnan(own) & selected).nonzero()[0]
        if not further.size:
            continue
        if ranking.parts:
            raise InvariantError(
                "internal error: a lane whose scores have parts cannot score every candidate;"
                " please report it"
            )
        rows = ctx.view.part(wanted, further)
        own[further] = lane.score_rows(ctx.at(label, seeds), ranking, rows)
    candidates.drop_unscored(ctx.view)
    return candidates


def _applied(recipe: Recipe, boosts: Sequence[str]) -> list[str]:
    """The boosts of the first pass that run, in the order in which they change a score."""
    return [label for label in (*recipe.fused, *recipe.passes[0].boosts) if label in boosts]
