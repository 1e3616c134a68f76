"""What a boost is: a number for each candidate that changes its score, and why.

A boost brings no candidate and takes none away. A recipe either weighs it beside its lanes, as one
more signal of a weighted fusion, or applies it to the score of a pass.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from memoriter.core.ranking import Scores
from memoriter.core.slate import Slate
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import Spec

Op = Literal["sum", "product", "max"]


@dataclass(frozen=True, slots=True)
class Boosted:
    """A value per row of the slate, on the grid; NaN where the boost says nothing of a row."""

    values: Scores
    beside: Mapping[str, Scores] = field(default_factory=dict[str, Scores])
    """Numbers that say where a value comes from: a distance, an age."""
    noted: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the plan shows after it ran."""


class Boost(Spec):
    """A boost as a recipe declares it."""

    reads_score: ClassVar[bool] = False
    """Whether its values follow from the score so far, not only from columns and records."""

    enabled: bool = True

    @property
    def excludes(self) -> str | None:
        """A boost that cannot run beside it."""
        return None

    @property
    def op(self) -> Op:
        """How its value changes a score."""
        return "sum"

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Whether it can run."""
        del ctx
        return Ready(self.shows())

    def shows(self) -> dict[str, object]:
        """What the plan prints beside it."""
        told = self.model_dump(mode="json", exclude={"kind", "enabled"})
        return {key: value for key, value in told.items() if value is not None}

    @abstractmethod
    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """Its values for the rows of a slate."""
