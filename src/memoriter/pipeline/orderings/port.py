"""What an ordering is: it moves or drops rows, and a column says where each of them stood."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Scores
from memoriter.core.slate import Slate
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import Spec

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Moved:
    """Which places of the slate stay, in their new order."""

    at: NDArray[np.intp]
    beside: Mapping[str, Scores] = field(default_factory=dict[str, Scores])
    """Numbers that say why, one per row of the slate as it was."""
    noted: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the plan shows after it ran."""
    looked: Mapping[str, object] = field(default_factory=dict[str, object])
    """What it looked at beside the slate, as plain data by place: inputs of the receipt."""


class Ordering(Spec):
    """An ordering as a recipe declares it."""

    enabled: bool = True

    @property
    def lanes(self) -> tuple[str, ...]:
        """The lanes whose vectors it looks at by name."""
        return ()

    @property
    def decides(self) -> bool:
        """Whether it says how many rows there are, where the call does not."""
        return False

    def ready(self, ctx: Context, recipe: Recipe) -> Ready | Skipped:
        """Whether it can run."""
        del ctx, recipe
        return Ready(self.shows())

    def shows(self) -> dict[str, object]:
        """What the plan prints beside it."""
        told = self.model_dump(mode="json", exclude={"kind", "enabled"})
        return {key: value for key, value in told.items() if value is not None}

    @abstractmethod
    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """The new order of a slate."""


def moved(slate: Slate, name: str, move: Moved) -> Slate:
    """The slate as a move leaves it, with what it noted."""
    beside = {f"{name}.{key}": values for key, values in move.beside.items()}
    return slate.noting(beside).ordered(name, move.at)


def kept(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The places that stay where a mask says so, in the order they had."""
    return np.flatnonzero(mask)
