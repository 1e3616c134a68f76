"""The candidates of a search: what the lanes' pools propose, and what every lane says of them.

A pool limits what a lane proposes. Without more, a row that one lane proposes gets nothing from a
lane in whose pool it has no room, and the order depends on the size of the pools. `complete` asks
every lane about every candidate, and about the rows that boosts read beside them. Then a row's
score is the same at any pool that contains the row. `run` calls it between lanes and first pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from memoriter.core.errors import InvariantError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Ranking, Rows, Scores, among, union_rows
from memoriter.core.slate import Slate
from memoriter.lanes.port import Context
from memoriter.pipeline.fusing import Weighted
from memoriter.pipeline.recipe import Recipe
from memoriter.rank.fuse import align
from memoriter.rank.grid import snap_one


@dataclass(frozen=True, slots=True)
class Candidates:
    """The ranking of each lane, in the recipe's order."""

    rankings: Mapping[str, Ranking]
    support: Mapping[str, Ranking] = field(default_factory=dict[str, Ranking])
    """By lane, rows that are no candidates and have scores, because boosts read them."""
    counted: Mapping[str, Rows] = field(default_factory=dict[str, Rows])
    """By boost, the rows, ascending, whose value of it changes the answer; all if absent."""

    @property
    def rows(self) -> Rows:
        """Every candidate, ascending."""
        return union_rows(each.rows for each in self.rankings.values())

    def slate(self) -> Slate:
        """Candidates and support with score, rank and partial scores of each lane.

        NaN if the lane has no score for a row; support has no ranks.
        """
        none = Ranking.empty()
        beside = {label: self.support.get(label, none) for label in self.rankings}
        aligned = align(
            [np.concatenate([r.rows, beside[n].rows]) for n, r in self.rankings.items()],
            [np.concatenate([r.scores, beside[n].scores]) for n, r in self.rankings.items()],
        )
        columns: dict[str, Scores] = {}
        for at, (label, ranking) in enumerate(self.rankings.items()):
            ranks = aligned.ranks[at]
            columns[f"{label}.score"] = aligned.scores[at]
            columns[f"{label}.rank"] = np.where(ranks <= ranking.rows.size, ranks, np.nan)
            for name, values in ranking.parts.items():
                part = np.full(aligned.rows.size, np.nan)
                part[aligned.rows.searchsorted(ranking.rows)] = values
                columns[f"{label}.{name}"] = part
        return Slate(aligned.rows, columns)


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
    beside = wanted[~among(rows, wanted)]
    out, support = dict(proposed), dict[str, Ranking]()
    for label, ranking in proposed.items():
        lane = recipe.lanes[label]
        if not lane.independent:
            continue
        missing = np.ones(rows.size, np.bool_)
        missing[rows.searchsorted(ranking.rows)] = False
        further = np.concatenate([rows[missing], beside])
        if not further.size:
            continue
        added = lane.score_rows(ctx.at(label, seeds), ranking, further)
        if not beside.size:
            out[label] = _joined(ranking, added)
            continue
        candidate = among(rows, added.rows)
        out[label] = _joined(ranking, added, candidate)
        support[label] = Ranking(
            added.rows[~candidate], added.scores[~candidate], is_ordered=added.is_ordered
        )
    return Candidates(out, support, counted)


def _applied(recipe: Recipe, boosts: Sequence[str]) -> list[str]:
    """The boosts of the first pass that run, in the order in which they change a score."""
    return [label for label in (*recipe.fused, *recipe.passes[0].boosts) if label in boosts]


def _joined(ranking: Ranking, added: Ranking, at: np.ndarray | slice = slice(None)) -> Ranking:
    """A ranking continued with further rows; none of them can come before the pool's last."""
    if ranking.parts:
        raise InvariantError("a lane whose scores have parts cannot score every candidate")
    return replace(
        ranking,
        rows=np.concatenate([ranking.rows, added.rows[at]]),
        scores=np.concatenate([ranking.scores, added.scores[at]]),
        memo=ranking.memo if added.memo is None else added.memo,
    )


def whether_proved(
    recipe: Recipe,
    ctx: Context,
    proposed: Mapping[str, Ranking],
    scores: Scores,
    boosts: Sequence[str],
) -> dict[str, object]:
    """What the plan says: whether no row outside of the pools can be among the first hits.

    `scores` are those of the first pass, best first; `boosts` those that run. Without a bound
    nothing is said.
    """
    limit = max(ctx.query.limit, 1)
    if not recipe.passes[0].complete:
        return {}
    full = any(
        ranking.rows.size >= getattr(recipe.lanes[label], "pool", np.inf)
        for label, ranking in proposed.items()
    )
    if not full:
        return {"outside": "no other record has a score"}
    bound = outside(recipe, ctx, proposed, float(scores[0]), boosts) if scores.size else None
    if bound is None:
        return {}
    proved = scores.size >= limit and bound < float(scores[limit - 1])
    return {"outside": f"at most {bound:.4g}", "proved": proved}


def outside(
    recipe: Recipe,
    ctx: Context,
    proposed: Mapping[str, Ranking],
    best: float,
    boosts: Sequence[str],
) -> float | None:
    """An upper bound of the score of any row outside of all pools; None if none is known.

    `proposed` is what the pools hold, `best` is the highest score. A lane whose pool is not full
    has no score for other rows. This is the threshold of Fagin's algorithm (Fagin, Lotem and Naor,
    Optimal aggregation algorithms for middleware, 2003).
    """
    first = recipe.passes[0]
    fuse = recipe.fusion(has_model=ctx.has_model)
    if not isinstance(fuse, Weighted) or fuse.absent != "fixed" or recipe.fused:
        return None
    bound = 0.0
    for label, ranking in proposed.items():
        if not recipe.lanes[label].independent:
            return None
        if ranking.rows.size >= getattr(recipe.lanes[label], "pool", np.inf):
            last = fuse.scaled(label, ranking.scores, ranking.coverage)[-1:]
            bound += snap_one(fuse.weights[label] * float(last[0]))
    for label in (name for name in first.boosts if name in boosts or name in proposed):
        most = recipe.boosts[label].largest_gain(best) if label in recipe.boosts else None
        if most is None:
            return None
        bound += most
    return bound
