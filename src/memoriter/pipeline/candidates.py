"""The candidates of a search: what the lanes' pools propose, and what every lane says of them.

A pool limits what a lane proposes. Without more, a row that one lane proposes gets nothing from a
lane in whose pool it has no room, and the order depends on the size of the pools. `complete` asks
every lane about every candidate, and about the rows that boosts read beside them. Then a row's
score is the same at any pool that contains the row. `run` calls it between lanes and first pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property

import numpy as np

from memoriter.core.errors import InvariantError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Ranking, Rows, Scores, among, union_rows
from memoriter.core.slate import Slate
from memoriter.lanes.port import Context
from memoriter.pipeline.recipe import Recipe


@dataclass(frozen=True)
class Candidates:
    """The ranking of each lane, in the recipe's order."""

    rankings: Mapping[str, Ranking]
    support: Mapping[str, Ranking] = field(default_factory=dict[str, Ranking])
    """By lane, rows that are no candidates and have scores, because boosts read them."""
    counted: Mapping[str, Rows] = field(default_factory=dict[str, Rows])
    """By boost, the rows, ascending, whose value of it changes the answer; all if absent."""

    @cached_property
    def rows(self) -> Rows:
        """Every candidate, ascending."""
        return union_rows(each.rows for each in self.rankings.values())

    def with_scores(
        self, rankings: Mapping[str, Ranking], support: Mapping[str, Ranking],
        counted: Mapping[str, Rows],
    ) -> Candidates:  # fmt: skip
        """The same candidates with the score of every lane."""
        made = Candidates(rankings, support, counted)
        made.__dict__["rows"] = self.rows
        return made

    def slate(self) -> Slate:
        """Candidates and support with score, rank and partial scores of each lane.

        NaN if the lane has no score for a row; support has no ranks.
        """
        rows = self.rows
        if self.support:
            rows = union_rows((rows, *(each.rows for each in self.support.values())))
        columns: dict[str, Scores] = {}
        for label, ranking in self.rankings.items():
            at = rows.searchsorted(ranking.rows)
            columns[f"{label}.score"] = scores = np.full(rows.size, np.nan)
            columns[f"{label}.rank"] = ranks = np.full(rows.size, np.nan)
            scores[at] = ranking.scores
            ranks[at] = np.arange(1, at.size + 1)
            if beside := self.support.get(label):
                scores[rows.searchsorted(beside.rows)] = beside.scores
            for name, values in ranking.parts.items():
                columns[f"{label}.{name}"] = part = np.full(rows.size, np.nan)
                part[at] = values
        return Slate(rows, columns)


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
    rows = candidates.rows
    # The last boost first: what it reads must have passed through all boosts before it.
    wanted = rows
    counted: dict[str, Rows] = {}
    for label in reversed(_applied(recipe, boosts)):
        counted[label] = wanted
        read = recipe.boosts[label].reads_scores_of(ctx, wanted)
        wanted = union_rows((wanted, read)) if read.size else wanted
    selected = ctx.selection.has(ctx.view, wanted)
    out, support = dict(proposed), dict[str, Ranking]()
    for label, ranking in proposed.items():
        lane = recipe.lanes[label]
        if not lane.independent:
            continue
        missing = selected.copy()
        missing[wanted.searchsorted(ranking.rows)] = False
        further = ctx.view.part(wanted, missing)
        if not further.size:
            continue
        added = lane.score_rows(ctx.at(label, seeds), ranking, further)
        if wanted is rows:
            out[label] = _joined(ranking, added)
            continue
        candidate = among(rows, added.rows)
        out[label] = _joined(ranking, added, candidate)
        support[label] = Ranking(
            added.rows[~candidate], added.scores[~candidate], is_ordered=added.is_ordered
        )
    return candidates.with_scores(out, support, counted)


def _applied(recipe: Recipe, boosts: Sequence[str]) -> list[str]:
    """The boosts of the first pass that run, in the order in which they change a score."""
    return [label for label in (*recipe.fused, *recipe.passes[0].boosts) if label in boosts]


def _joined(ranking: Ranking, added: Ranking, at: np.ndarray | slice = slice(None)) -> Ranking:
    """A ranking continued with further rows; none of them can come before the pool's last."""
    if ranking.parts:
        raise InvariantError(
            "internal error: a lane whose scores have parts cannot score every candidate; please"
            " report it"
        )
    return Ranking(
        np.concatenate([ranking.rows, added.rows[at]]),
        np.concatenate([ranking.scores, added.scores[at]]),
        ranking.attempts,
        shows=ranking.shows,
        coverage=ranking.coverage,
        spread=ranking.spread,
        memo=ranking.memo if added.memo is None else added.memo,
        is_ordered=ranking.is_ordered,
    )
