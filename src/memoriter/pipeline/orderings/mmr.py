"""The ordering `mmr`: maximal marginal relevance, so that hits do not repeat each other."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from memoriter.core.ranking import Rows, Scores
from memoriter.core.slate import TIER, Slate
from memoriter.index.vectors import unit_vectors
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.fusing import Label
from memoriter.pipeline.orderings.port import Dropped, Dropping, Moved, Ordering
from memoriter.rank.diverse import mmr_picks
from memoriter.text.figures import short
from memoriter.text.safe import one_line

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe


class MmrOrdering(Ordering):
    """Takes one by one the row with the largest trade · relevance − (1 − trade) · similarity.

    Equal values go by the `ties` of the recipe, as far as they are attributes of records.
    Rows without a vector cannot be compared: they follow after those taken. Rows below the head of
    a second pass have scores of another scale, and do not take part.
    """

    about: ClassVar[str] = (
        "maximal marginal relevance: relevant rows that are unlike those above them"
    )
    row_details: ClassVar[tuple[str, ...]] = ("cause",)

    kind: Literal["mmr"]
    trade: float = option(
        "weight of relevance (0 to 1); similarity to candidates already picked is subtracted with"
        " the weight 1 − `trade`",
        0.5,
        ge=0.0,
        le=1.0,
    )
    relevance: Literal["score", "unit"] = option(
        "what counts as the relevance of a candidate",
        "score",
        values={"score": "its score", "unit": "its score, scaled to 0…1 within `head`"},
    )
    of: Label | None = option(
        "label of the vector lane whose vectors are compared; none: vectors of the main embedder",
        None,
    )
    head: int = option("how many of the best candidates MMR picks from", 200, ge=1, le=10_000)
    take: int = option("how many candidates are picked; 0: as many as `head`", 0, ge=0, le=10_000)
    drop: bool = option(
        "whether candidates that are not picked are dropped; false: they follow the picked ones",
        default=False,
    )

    @property
    def lanes(self) -> tuple[str, ...]:
        """The lane whose vectors are compared."""
        return () if self.of is None else (self.of,)

    @property
    def decides(self) -> bool:
        """True if it drops the rest: then it decides the number of hits."""
        return self.drop

    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """Those taken, then those without a vector, then the rest."""
        del recipe
        size = slate.rows.size
        count = min(self.head, int((slate.columns.get(TIER, np.ones(size)) == 1.0).sum()))
        units, known = unit_vectors(ctx.view, slate.rows[:count])
        part = np.flatnonzero(known)
        part = part[ctx.best(np.zeros(part.size), slate.rows[part], part.size)]
        picks = mmr_picks(
            self._relevance(slate.score[:count])[part], units[part], self.trade, self.take
        )
        taken = part[picks.order]
        penalty, cause = np.full(size, np.nan), np.full(size, np.nan)
        penalty[taken] = picks.penalties
        near = picks.causes >= 0
        cause[taken[near]] = slate.rows[part[picks.causes[near]]]
        bare = np.flatnonzero(~known)
        left = np.setdiff1d(np.arange(size), np.concatenate([taken, bare]))
        at = np.concatenate([taken, bare] if self.drop else [taken, bare, left]).astype(np.intp)
        shows: dict[str, object] = {"taken": int(taken.size)}
        shows |= {"without a vector": int(bare.size)} if bare.size else {}
        looked = {"bare": bare.tolist()}
        return Moved(at, {"penalty": penalty, "cause": cause}, shows, looked)

    def dropped(self, dropping: Dropping) -> Dropped:
        """Other rows were taken, and the rest was dropped."""
        count = dropping.move.at.size
        return Dropped(f"{count} rows were picked, and this was not one of them", {"drop": False})

    def compared(self, move: Moved, rows: Rows, hits: Container[int]) -> list[int]:
        """The rows taken up to the last hit: each was compared with those before it."""
        penalty = move.details["penalty"]
        taken = [int(rows[at]) for at in move.at.tolist() if not np.isnan(penalty[at])]
        last = max((n for n, row in enumerate(taken) if row in hits), default=-1)
        return taken[: last + 1]

    def _relevance(self, score: Scores) -> Scores:
        if self.relevance == "score" or not score.size:
            return score
        low, high = float(score.min()), float(score.max())
        return (score - low) / (high - low) if high > low else np.full(score.size, 0.5)

    def phrases(self, details: Mapping[str, object]) -> Iterator[str]:
        """The penalty, and the row above that it is similar to."""
        if details.get("penalty"):
            cause = (
                f" for similarity to {one_line(str(details['cause']))}"
                if "cause" in details
                else ""
            )
            yield f"penalty {short(details['penalty'])}{cause}"
