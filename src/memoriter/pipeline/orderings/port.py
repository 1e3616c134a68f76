"""The interface of an ordering: it moves or drops rows of a scored slate.

`run` calls `move`; `apply_move` records the former place of each row in a column.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Rows, Scores
from memoriter.core.slate import Slate, stood
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import RecipePart, option
from memoriter.text.figures import pairs
from memoriter.text.safe import one_line

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Moved:
    """The result of an ordering: the places that stay, in their new order."""

    at: NDArray[np.intp]
    details: Mapping[str, Scores] = field(default_factory=dict[str, Scores])
    """Columns that explain the move, one value per row of the slate before it."""
    shows: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the plan shows for it after it ran."""
    looked: Mapping[str, object] = field(default_factory=dict[str, object])
    """What it read besides the slate, as plain data by place: inputs of the receipt."""
    stands_for: Mapping[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    """Row that stays → the rows that it dropped as copies of that row."""
    is_none: bool = False
    """Whether it is known that all rows keep their places."""


def unmoved(
    slate: Slate, detail: str, shows: Mapping[str, object], looked: Mapping[str, object]
) -> Moved:
    """The move that leaves every row where it is; no row has a value of its detail."""
    size = slate.rows.size
    return Moved(np.arange(size), {detail: np.full(size, np.nan)}, shows, looked, is_none=True)


@dataclass(frozen=True, slots=True)
class Dropping:
    """The input of `Ordering.dropped`: a move, what it was applied to, and the dropped row."""

    ctx: Context
    recipe: Recipe
    slate: Slate
    move: Moved
    at: int
    """The place of the row in the slate."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """Why an ordering dropped a row, and values of its options under which it would have stayed."""

    reason: str
    options: Mapping[str, object] = field(default_factory=dict[str, object])


class Ordering(RecipePart, ABC):
    """An ordering as a recipe declares it."""

    joins: ClassVar[bool] = False
    """Whether it leaves one record for several of the same text, which a host may want each."""

    enabled: bool = option("whether the ordering runs", default=True)

    @property
    def lanes(self) -> tuple[str, ...]:
        """The labels of the lanes whose vectors it compares."""
        return ()

    @property
    def decides(self) -> bool:
        """Whether it decides the number of hits if the call names no limit."""
        return False

    def ready(self, ctx: Context, recipe: Recipe) -> Ready | Skipped:
        """Whether it can run."""
        del ctx, recipe
        return self._ready

    @cached_property
    def _ready(self) -> Ready:
        return Ready(self.shows())

    @abstractmethod
    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """The new order of a slate."""

    def dropped(self, dropping: Dropping) -> Dropped:
        """Why it dropped a row, with the smallest change of an option that would keep it."""
        del dropping
        return Dropped("it was dropped there")

    def compared(self, move: Moved, rows: Rows, hits: Container[int]) -> list[int]:
        """The rows, of `rows`, whose vectors a receipt needs to derive the hits."""
        del move, rows, hits
        return []

    def phrases(self, details: Mapping[str, object]) -> Iterator[str]:
        """What its `details` say about a hit, as phrases for people."""
        if details:
            yield one_line(pairs(details))


def apply_move(slate: Slate, name: str, move: Moved) -> Slate:
    """The slate after a move, with the move's detail columns."""
    details = {f"{name}.{key}": values for key, values in move.details.items()}
    if move.is_none:
        return slate.with_details({**details, **stood(name, slate)})
    return slate.with_details(details).ordered(name, move.at)
