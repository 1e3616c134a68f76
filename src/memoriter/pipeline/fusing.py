"""Fusions: how a recipe combines signals into one score (`weighted`, `rrf`, `smooth`).

A signal is a lane, or a boost that the recipe weights together with its lanes. The arithmetic is in
`rank/fuse.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, ClassVar, Final, Literal, Self

import numpy as np

from memoriter.core.later import Later
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import SHARE, Knots, Mask, Matrix, Scores
from memoriter.core.validation import Bounds, OneOf
from memoriter.lanes.spec import RecipePart, option
from memoriter.rank.fuse import (
    SCALES,
    Absent,
    Scale,
    by_knots,
    by_max,
    rrf_parts,
    shares,
    smooth_parts,
    weighted_parts,
)
from memoriter.rank.grid import snap

Label = Annotated[str, Bounds(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Weight = Annotated[float, Bounds(ge=0.0, le=1000.0)]


@dataclass(frozen=True, slots=True)
class Signals:
    """The input of a fusion: matrices (signals × rows), NaN if a signal has no value for a row."""

    labels: Sequence[str]
    scores: Matrix
    ranks: Later[Matrix]
    answered: Mask
    """Whether a signal has a value for any row."""


@dataclass(frozen=True, slots=True)
class Fused:
    """What each signal adds to each row, and what explains it."""

    contributions: Matrix
    weights: Scores | None = None
    """What each signal counts for; None if signals have no weights."""
    lifts: Matrix | None = None
    """What each signal is multiplied by; NaN if it is not, None if none is."""


class Fusion(RecipePart):
    """The base of every kind of fusion."""

    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "score": "what the lane or boost says by itself",
            "rank": "its place in the lane",
            "scaled": "the same on a scale from 0 to 1, so that lanes can be added",
            "weight": "what the recipe lets it count for",
            "owed": "1: what the lane reads of the record is not computed yet, and `scaled` is the"
            " mean of the lanes that stand for it",
            "lift": "what its score is multiplied by, the more the lower the other lane is",
        }
    )

    absent: Absent = option(
        "what happens to the weight of a lane that finds nothing",
        "redistribute",
        values={
            "keep": "it is lost, as if the lane scored 0",
            "redistribute": "it goes to the other lanes",
            "fixed": "it is lost, and weights are used as given, not divided by their sum",
        },
    )
    lists: Weight = option("weight of each ranking that a call passes in `lists`", 1.0)

    @property
    def weighed(self) -> Mapping[str, float]:
        """The weights that the recipe states, by signal."""
        return {}

    @property
    def names(self) -> frozenset[str]:
        """The signals that the recipe names here."""
        return frozenset(self.weighed)

    @property
    def by_coverage(self) -> bool:
        """Whether it scales some lane by the share of the question that a score covers."""
        return False

    def with_model(self, has_model: bool) -> Self:  # noqa: FBT001  # what it is about
        """The fusion for vectors of a model, or for those of the packaged table of words."""
        del has_model
        return self

    def covers(self, label: str) -> bool:
        """Whether it scales a lane by the share of the question that a score covers."""
        del label
        return False

    def scaled(self, label: str, scores: Scores, knots: Knots | None) -> Scores | None:
        """A lane's scores on the fusion's scale; None if the fusion uses ranks or raw scores."""
        del label, scores, knots
        return None

    def fuse(self, signals: Signals) -> Fused:
        """The contributions, on the grid."""
        raise NotImplementedError


class Weighted(Fusion):
    """The weighted sum of scaled scores."""

    about: ClassVar[str] = "weighted sum of scaled scores"

    kind: Literal["weighted"]
    scale: Scale | dict[Label, Scale] = option(
        "how a lane's scores are scaled before they are added; one value for all lanes, or one"
        " for each",
        values={
            "max": "divided by the lane's best score",
            "min_max": "the lane's lowest score becomes 0, its best 1",
            "none": "left as they are",
            "coverage": "replaced by the share of the question that the record covers (a lane"
            " that cannot tell this share is scaled as by `max`)",
        },
    )
    weights: dict[Label, Weight] = option(
        "weight of each lane in the sum; a boost named here is added like a lane"
    )
    model_weights: dict[Label, Weight] = option(
        "weights that replace those in `weights` if vectors come from an embedding model; they are"
        " not used with the packaged table of words",
        make=dict[str, float],
    )

    def check(self) -> None:
        """`model_weights` replaces weights, so it cannot name others."""
        if unknown := set(self.model_weights) - set(self.weights):
            raise ValueError(
                f"`model_weights` names {', '.join(sorted(unknown))}, but `weights` does not: add"
                " a weight to `weights`"
            )

    def with_model(self, has_model: bool) -> Self:  # noqa: FBT001  # as above
        """With the weights for that embedder."""
        if not has_model or not self.model_weights:
            return self
        return self.with_options(weights={**self.weights, **self.model_weights})

    @property
    def weighed(self) -> Mapping[str, float]:
        """The weights that the recipe states, by signal."""
        return self.weights

    @property
    def by_coverage(self) -> bool:
        """Whether it scales some lane by the share of the question that a score covers."""
        return "coverage" in ([self.scale] if isinstance(self.scale, str) else self.scale.values())

    def covers(self, label: str) -> bool:
        """Whether it scales a lane by the share of the question that a score covers."""
        return self._scale_of(label) == "coverage"

    def _scale_of(self, label: str) -> Scale:
        return self.scale if isinstance(self.scale, str) else self.scale.get(label, "none")

    def scaled(self, label: str, scores: Scores, knots: Knots | None) -> Scores:
        """A lane's scores on its scale; `coverage` of a lane without one is by its best."""
        how = self._scale_of(label)
        if how == "coverage":
            if knots is SHARE:
                return np.minimum(np.maximum(scores, 0.0), 1.0)
            return by_max(scores[None, :])[0] if knots is None else by_knots(scores, knots)
        return SCALES[how](scores[None, :])[0]

    def fuse(self, signals: Signals) -> Fused:
        """Weight · scaled score; `signals.scores` are scaled already."""
        weights = np.array([self.weights.get(label, 1.0) for label in signals.labels])
        parts = shares(weights, signals.answered, self.absent)
        return Fused(weighted_parts(signals.scores, parts), parts)


class Rrf(Fusion):
    """Reciprocal rank fusion, weighted."""

    about: ClassVar[str] = "reciprocal rank fusion: Σ weight / (k + rank)"

    kind: Literal["rrf"]
    k: float = option(
        "constant k in 1 / (k + rank); the larger k, the less the first ranks differ in score",
        60.0,
        ge=0.0,
        le=1e6,
    )
    base: int = option("number of the first rank in 1 / (k + rank): 1 or 0", 1, ge=0, le=1)
    weights: dict[Label, Weight] = option(
        "weight of each lane; a lane that is not named has the weight 1",
        make=dict[str, float],
    )
    scale: Literal["none", "unit"] = option(
        "how the sum is scaled",
        "none",
        values={
            "none": "not at all",
            "unit": "a record that is the best of every list scores 1",
        },
    )

    def check(self) -> None:
        """The best rank must not be divided by 0."""
        if self.k + self.base == 0:
            raise ValueError(
                "`k` and `base` cannot both be 0, because 1 / (k + rank) of the best rank would"
                " divide by 0"
            )

    @property
    def weighed(self) -> Mapping[str, float]:
        """The weights that the recipe states, by signal."""
        return self.weights

    def fuse(self, signals: Signals) -> Fused:
        """Weight / (k + rank)."""
        weights = np.array([self.weights.get(label, 1.0) for label in signals.labels])
        if self.scale == "unit":
            weights = shares(weights, signals.answered, self.absent)
        ranks = signals.ranks.value
        return Fused(rrf_parts(ranks, weights, self.k, self.base, self.scale), weights)


class Smooth(Fusion):
    """The sum of raw scores, where one signal is multiplied if another one is low."""

    about: ClassVar[str] = "sum of two lanes' raw scores; one counts more, the lower the other is"

    kind: Literal["smooth"]
    base: Label = option(
        "lane that decides how much the lane `lifted` counts; the lower a record scores in `base`,"
        " the more `lifted` counts"
    )
    lifted: Label = option(
        "lane whose score is raised; the lower a record scores in `base`, the more its score in"
        " `lifted` is raised"
    )
    lift: float = option(
        "largest raise, as a multiple of the score in `lifted`; a record that scores 0 in `base`"
        " gets it whole, one that scores high gets little: with b = the score in `base`, the score"
        " in `lifted` is multiplied by 1 + lift · e^(−b / fade)",
        35.0,
        ge=0.0,
        le=1e6,
    )
    fade: float = option(
        "score in `base` at which the raise has fallen to 1 / e (37 %) of its maximum; the larger"
        " `fade`, the slower the raise falls",
        3.0,
        gt=0.0,
        le=1e6,
    )

    @property
    def names(self) -> frozenset[str]:
        """The two lanes."""
        return frozenset((self.base, self.lifted))

    def fuse(self, signals: Signals) -> Fused:
        """The scores as they are, the lifted one times 1 + lift · e^(-base / fade)."""
        out, lift = snap(signals.scores), np.full(signals.scores.shape, np.nan)
        labels = list(signals.labels)
        if self.lifted in labels:
            at = labels.index(self.lifted)
            none = np.full(out.shape[1], np.nan)
            base = signals.scores[labels.index(self.base)] if self.base in labels else none
            out[at] = smooth_parts(base, signals.scores[at], self.lift, self.fade)
            # The factor itself, for the explanation: the same formula applied to a score of 1.
            known = np.where(np.isnan(out[at]), np.nan, 1.0)
            lift[at] = smooth_parts(base, known, self.lift, self.fade)
        return Fused(out, lifts=lift)


FUSIONS: Final[tuple[type[Fusion], ...]] = (Weighted, Rrf, Smooth)


def _fusion_of(kind: str) -> type[Fusion] | None:
    return next((each for each in FUSIONS if each.kind_name() == kind), None)


AnyFusion = Annotated[Weighted | Rrf | Smooth, OneOf(_fusion_of, lambda: FUSIONS)]
