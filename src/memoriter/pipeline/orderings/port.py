"""What an ordering is: it moves or drops rows, and a column says where each of them stood."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Rows, Scores
from memoriter.core.slate import Slate
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import RecipePart, option

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


@dataclass(frozen=True, slots=True)
class Dropping:
    """An ordering that dropped a row, and what it was given."""

    ctx: Context
    recipe: Recipe
    slate: Slate
    move: Moved
    at: int
    """Where the row stood in the slate."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Why an ordering dropped a row, and values of its options under which it would have stayed."""

    reason: str
    options: Mapping[str, object] = field(default_factory=dict[str, object])


class Ordering(RecipePart):
    """An ordering as a recipe declares it."""

    enabled: bool = option("whether it runs", default=True)

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

    @abstractmethod
    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """The new order of a slate."""

    def dropped(self, dropping: Dropping) -> Dropped:
        """Why it dropped a row; the smallest change alone, since each option is tried."""
        del dropping
        return Dropped("it was dropped there")

    def compared(self, move: Moved, rows: Rows, hits: Container[int]) -> list[int]:
        """The rows whose vectors a receipt needs to derive the hits, of those it was given."""
        del move, rows, hits
        return []


def moved(slate: Slate, name: str, move: Moved) -> Slate:
    """The slate as a move leaves it, with what it noted."""
    beside = {f"{name}.{key}": values for key, values in move.beside.items()}
    return slate.noting(beside).ordered(name, move.at)
