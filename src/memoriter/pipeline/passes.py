"""Passes, declared: which rows get a score, from what, and what changes it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from memoriter.lanes.spec import Spec
from memoriter.pipeline.fusing import AnyFusion, Label

Tie = Annotated[str, Field(pattern=r"^-?[a-z][a-z0-9_.]{0,63}$")]


class Head(Spec):
    """The rows that a pass takes: the first, or the first by each of some columns together."""

    count: int = Field(ge=1, le=10_000)
    by: tuple[str, ...] = Field(default=(), strict=False)  # a list, after a validator of Pass
    """Columns, largest first, absent as 0, equals as the recipe says; empty: the order so far.

    `fuse` is what the first pass fused, before its boosts.
    """


class Unanimity(Spec):
    """When two lanes agree on the best rows, nobody need judge them again."""

    lanes: tuple[Label, Label]
    depth: int = Field(default=3, ge=1, le=100)
    """How many of the best rows of each are compared."""
    agree: int = Field(default=2, ge=1, le=100)
    """How many must coincide."""
    by: Literal["positional", "overlap"] = "positional"
    """Whether a row must stand at the same place in both, or only among the best of both."""


class Rerank(Spec):
    """A reranker reads the query and the text of every row of the head."""

    timeout_ms: int = Field(default=800, ge=1, le=600_000)
    on_failure: Literal["keep", "raise"] = "keep"
    """Without an answer in time: the order so far with the reason recorded, or an error."""
    score: Literal["replace", "keep"] = "replace"
    """Whether the reranker's score becomes the row's, or only puts the rows in order."""
    unless: Unanimity | None = None


class Pass(Spec):
    """Gives a head of rows its score; the rest stay below, in a tier of their own."""

    enabled: bool = True
    head: Head | None = None
    """None: every candidate."""
    fuse: AnyFusion | None = None
    rerank: Rerank | None = None
    boosts: tuple[Label, ...] = ()
    """Boosts, or lanes whose raw score is added; in this order."""
    ties: tuple[Tie, ...] | None = None
    """How equals are put in order here: columns and record attributes; None: as the recipe says."""

    @field_validator("head", mode="before")
    @classmethod
    def _first(cls, given: object) -> object:
        return {"count": given} if isinstance(given, int) and not isinstance(given, bool) else given

    @model_validator(mode="after")
    def _one_score(self) -> Self:
        if (self.fuse is None) == (self.rerank is None):
            raise ValueError("a pass gives its score by fuse or by rerank, and by one of them")
        if self.rerank is not None and self.head is None:
            raise ValueError("a pass with a reranker says how many rows it takes: head = 40")
        if self.rerank is not None and self.ties is not None:
            raise ValueError("a reranker leaves equals as they stood: its pass takes no ties")
        if self.rerank is not None and self.rerank.score == "keep" and self.boosts:
            raise ValueError('rerank.score = "keep" leaves the scores: its pass takes no boosts')
        return self
