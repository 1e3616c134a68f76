"""The base of everything a recipe declares: closed, frozen, checked before it runs."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from memoriter.core.shown import plain, shown


class Spec(BaseModel):
    """Data with a kind; an unknown key is an error that names its path."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
    brings: ClassVar[bool] = False
    """Whether a lane only brings rows, and a boost may give them a score."""
    reads: ClassVar[tuple[str, ...]] = ()
    """What of a question a lane needs: `query`, its text; `vector`, or the text in its place."""

    def __repr__(self) -> str:
        told = ", ".join(f"{key} {value}" for key, value in self)
        return shown(type(self).__name__, plain(told, 100))

    def __str__(self) -> str:
        return repr(self)


class Seeded(Spec):
    """A lane that starts from rows: given with the call, or the best that other lanes found."""

    seeds: tuple[str, ...] = ()
    """The lanes that seed it."""
    seed_count: int = Field(default=20, ge=1, le=1000)
    """How many of the best rows of each of them; rows given with the call are not counted."""
    together: bool = False
    """Whether the best rows are those of these lanes fused, and not of each of them."""
    must_start: ClassVar[bool] = False
    """Whether it is an error that no lane seeds it and none are given."""
