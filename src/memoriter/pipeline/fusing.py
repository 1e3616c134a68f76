"""How the signals of a search become one score: a fusion is declared, its kernel is in `rank/`.

A signal is a lane, or a boost that a recipe weighs beside its lanes. None of the kinds knows a
signal by name but those that the recipe names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from memoriter.core.ranking import Mask, Matrix, Scores
from memoriter.lanes.spec import Spec
from memoriter.rank.fuse import SCALES, rrf, shares, smooth, weighted
from memoriter.rank.grid import snap

Label = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Weight = Annotated[float, Field(ge=0.0, le=1000.0)]
Scale = Literal["max", "min_max", "none"]
Absent = Literal["redistribute", "keep"]


@dataclass(frozen=True, slots=True)
class Heard:
    """What there is to fuse: signals × rows, NaN where a signal has no opinion."""

    labels: Sequence[str]
    scores: Matrix
    ranks: Matrix
    answered: Mask
    """Whether a signal said anything at all."""


@dataclass(frozen=True, slots=True)
class Fused:
    """What each signal adds to each row, and what stands beside that in the explanation."""

    contributions: Matrix
    beside: Mapping[str, Matrix]


class Fusion(Spec):
    """What every kind of fusion has."""

    absent: Absent = "redistribute"
    """What becomes of the weight of a signal that answers nothing."""
    lists: Weight = 1.0
    """What a list weighs that comes with the call."""

    @property
    def weighed(self) -> Mapping[str, float]:
        """The weights that the recipe states, by signal."""
        return {}

    @property
    def names(self) -> frozenset[str]:
        """The signals that the recipe names here."""
        return frozenset(self.weighed)

    def scaled(self, label: str, scores: Scores) -> Scores | None:
        """A lane's scores as this fusion counts them; None where it counts ranks."""
        del label, scores
        return None

    def fuse(self, heard: Heard) -> Fused:
        """The contributions, on the grid."""
        raise NotImplementedError


class Weighted(Fusion):
    """Scores scaled signal by signal, weighted and added."""

    kind: Literal["weighted"]
    scale: Scale | dict[Label, Scale]
    """One for all lanes, or by lane; a boost comes on a scale of its own."""
    weights: dict[Label, Weight]

    @property
    def weighed(self) -> Mapping[str, float]:
        """The weights that the recipe states, by signal."""
        return self.weights

    def scaled(self, label: str, scores: Scores) -> Scores:
        """A lane's scores on its scale."""
        how = self.scale if isinstance(self.scale, str) else self.scale.get(label, "none")
        return SCALES[how](scores[None, :])[0]

    def fuse(self, heard: Heard) -> Fused:
        """Weight · scaled score; `heard` holds the scaled ones."""
        weights = np.array([self.weights.get(label, 1.0) for label in heard.labels])
        mine = shares(weights, heard.answered, self.absent)
        told = np.where(np.isnan(heard.scores), np.nan, mine[:, None])
        return Fused(weighted(heard.scores, mine), {"weight": told})


class Rrf(Fusion):
    """Reciprocal ranks, weighted and added."""

    kind: Literal["rrf"]
    k: float = Field(default=60.0, ge=0.0, le=1e6)
    base: int = Field(default=1, ge=0, le=1)
    """What the best rank counts as."""
    weights: dict[Label, Weight] = Field(default_factory=dict[str, float])
    """A signal that is not named here weighs 1."""
    scale: Literal["none", "unit"] = "none"
    """`unit`: the best of every list that counts scores 1."""

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.k + self.base == 0:
            raise ValueError("k and base are both 0: the best rank would be divided by nothing")
        return self

    @property
    def weighed(self) -> Mapping[str, float]:
        """The weights that the recipe states, by signal."""
        return self.weights

    def fuse(self, heard: Heard) -> Fused:
        """Weight / (k + rank)."""
        weights = np.array([self.weights.get(label, 1.0) for label in heard.labels])
        if self.scale == "unit":
            weights = shares(weights, heard.answered, self.absent)
        told = np.where(np.isnan(heard.ranks), np.nan, weights[:, None])
        return Fused(rrf(heard.ranks, weights, self.k, self.base, self.scale), {"weight": told})


class Smooth(Fusion):
    """Raw scores added; one signal counts the more, the less another one says."""

    kind: Literal["smooth"]
    base: Label
    lifted: Label
    lift: float = Field(default=35.0, ge=0.0, le=1e6)
    fade: float = Field(default=3.0, gt=0.0, le=1e6)

    @property
    def names(self) -> frozenset[str]:
        """The two lanes."""
        return frozenset((self.base, self.lifted))

    def fuse(self, heard: Heard) -> Fused:
        """The scores as they are, the lifted one times 1 + lift · e^(-base / fade)."""
        out, lift = snap(heard.scores), np.full(heard.scores.shape, np.nan)
        labels = list(heard.labels)
        if self.lifted in labels:
            at = labels.index(self.lifted)
            none = np.full(out.shape[1], np.nan)
            base = heard.scores[labels.index(self.base)] if self.base in labels else none
            out[at] = smooth(base, heard.scores[at], self.lift, self.fade)
            known = np.where(np.isnan(out[at]), np.nan, 1.0)
            lift[at] = smooth(base, known, self.lift, self.fade)
        return Fused(out, {"lift": lift})


AnyFusion = Annotated[Weighted | Rrf | Smooth, Field(discriminator="kind")]
