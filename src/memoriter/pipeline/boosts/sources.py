"""The boost `sources`: the sources of a good reflection get a share of its score."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.slate import Slate
from memoriter.index.reads import strings
from memoriter.lanes.port import Context
from memoriter.lanes.reflection_sources import Sources, sources_of
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted, Op
from memoriter.rank.grid import snap
from memoriter.rank.top import top


class SourcesBoost(Boost):
    """The larger of a record's own score and a reflection's · factor · edge weight.

    The lane `sources` adds sources as candidates that no other lane found.
    """

    about: ClassVar[str] = "reflections lend a share of their score to what they were made from"
    reads_score: ClassVar[bool] = True
    row_details: ClassVar[tuple[str, ...]] = ("row",)
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "row": "the reflection that was made from it",
        }
    )

    kind: Literal["sources"]
    window: int = option(
        "how many of the best candidates are searched for reflections (memories made from others)",
        25,
        ge=1,
        le=10_000,
    )
    reflections: int = option(
        "largest number of reflections that lend a share of their score, the best ones; the share"
        " goes to the records that a reflection was made from",
        5,
        ge=1,
        le=1000,
    )
    ceiling: int = option(
        "largest number of records that a lending reflection may be made from; a reflection made"
        " from more records lends nothing",
        50,
        ge=1,
        le=1_000_000,
    )
    sources: int = option(
        "how many records at most gain from one reflection; of the records that it was made from,"
        " those with the heaviest links gain",
        20,
        ge=1,
        le=1_000_000,
    )
    factor: float = option(
        "share of a reflection's score that passes to its source records; each source record gets"
        " at least `factor` · the reflection's score · the weight of the link between them",
        0.7,
        ge=0.0,
        le=1.0,
        always=True,
    )
    kinds: tuple[str, ...] | None = option(
        "kinds of records that may gain a share of a reflection's score; without this option, all"
        " kinds may",
        None,
    )

    @property
    def op(self) -> Op:
        """The larger score counts."""
        return "max"

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """The best score that a reflection passes on to each row; NaN unless it is larger."""
        known = np.flatnonzero(~np.isnan(slate.score))
        rows, scores = slate.rows[known], slate.score[known]
        best = top(scores, rows, self.window, ctx.keys)
        kinds = strings(ctx.view, rows[best], "kind")
        lends = best[[kind == "reflection" for kind in kinds]][: self.reflections]
        lift = Lift(self.ceiling, self.sources, self.factor)
        made = lifted(rows[lends], scores[lends], sources_of(ctx, rows[lends], self.kinds), lift)
        values, parents = np.full(slate.rows.size, np.nan), np.full(slate.rows.size, np.nan)
        place = {int(row): at for at, row in enumerate(slate.rows)}
        for row, score, parent in zip(made.rows, made.scores, made.parents, strict=True):
            at = place.get(int(row))
            if at is not None and not score <= slate.score[at]:  # NaN: it has no score yet
                values[at], parents[at] = score, parent
        return Boosted(values, {"row": parents}, {"lifted": int((~np.isnan(values)).sum())})


@dataclass(frozen=True, slots=True)
class Lift:
    """The limits and the factor of the boost."""

    ceiling: int = 50
    """A reflection with more sources is ignored."""
    sources: int = 20
    """How many sources of each reflection count, heaviest first."""
    factor: float = 0.7


@dataclass(frozen=True, slots=True)
class Lifted:
    """The best score that each source gets, and from which reflection."""

    rows: NDArray[np.int64]
    """Ascending."""
    scores: NDArray[np.float64]
    parents: NDArray[np.int64]
    weights: NDArray[np.float64]
    """Of the edge."""


def lifted(
    rows: NDArray[np.int64], scores: NDArray[np.float64], sources: Sources, lift: Lift
) -> Lifted:
    """By source the largest score of its reflections · factor · edge weight, if positive.

    `rows` are the reflections, best first. Of equal values the better reflection's counts.

    >>> sources = Sources(np.array([7]), np.array([3]), np.array([0.5]), np.array([True]))
    >>> lifted(np.array([9, 7]), np.array([1.0, 0.8]), sources, Lift()).scores.round(6).tolist()
    [0.28]
    """
    best: dict[int, tuple[float, int, float]] = {}
    for place in range(rows.size):
        edges = np.flatnonzero(sources.owners == rows[place])
        if edges.size > lift.ceiling:
            continue
        own = edges[sources.wanted[edges]][: lift.sources]
        values = snap(scores[place] * lift.factor * sources.weights[own])
        for at, value in zip(own.tolist(), values.tolist(), strict=True):
            target = int(sources.targets[at])
            if value > best.get(target, (0.0,))[0]:
                best[target] = value, int(rows[place]), float(sources.weights[at])
    targets = sorted(best)
    lifts = np.array([best[row] for row in targets], np.float64).reshape(len(targets), 3)
    parents = lifts[:, 1].astype(np.int64)
    return Lifted(np.array(targets, np.int64), lifts[:, 0], parents, lifts[:, 2])
