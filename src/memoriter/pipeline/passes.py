"""The declaration of passes: which rows get a score, from what, and what changes it. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self, cast

from pydantic import Field, field_validator, model_validator

from memoriter.lanes.spec import Spec, option
from memoriter.pipeline.fusing import AnyFusion, Label

Tie = Annotated[str, Field(pattern=r"^-?[a-z][a-z0-9_.]{0,63}$")]


class PassHead(Spec):
    """The rows that a pass scores: the first ones, or the union of the first by each column."""

    count: int = option(
        "how many of the best rows by each column are scored again", ge=1, le=10_000
    )
    by: tuple[str, ...] = option(  # a list, after a validator of Pass
        "columns by which the best rows are found; a missing value counts as 0. Empty: the order"
        " so far; `fuse`: the score before boosts",
        (),
        strict=False,
    )


class Unanimity(Spec):
    """Skips the reranker if two lanes agree on the best rows."""

    lanes: tuple[Label, Label] = option("the two lanes that are compared")
    depth: int = option("how many of the best rows of each lane are compared", 3, ge=1, le=100)
    agree: int = option("how many of these rows both lanes must have", 2, ge=1, le=100)
    by: Literal["positional", "overlap"] = option(
        "when both lanes have a row",
        "positional",
        values={
            "positional": "if it has the same rank in both",
            "overlap": "if it is among the best rows of both",
        },
    )


class Rerank(Spec):
    """A reranker reads the query and the text of every row of the head."""

    timeout_ms: int = option("time limit of the reranker in ms", 800, ge=1, le=600_000)
    on_failure: Literal["keep", "raise"] = option(
        "what happens if the reranker fails or is too slow",
        "keep",
        values={"keep": "the order stays, and the reason is recorded", "raise": "that is an error"},
    )
    score: Literal["replace", "keep"] = option(
        "score of a reranked row",
        "replace",
        values={"replace": "the reranker's", "keep": "left as it was, only the order changes"},
    )
    unless: Unanimity | None = option(
        "the reranker is skipped if two lanes agree on the best rows", None
    )


class Pass(Spec):
    """Scores the head of the rows; the rest stay below in their former order."""

    enabled: bool = option(
        "whether the pass runs; only a second pass can be switched off", default=True
    )
    head: PassHead | None = option("rows that are scored again (none: every candidate)", None)
    fuse: AnyFusion | None = option(
        "how the scores of lanes become one; a pass has either this or `rerank`", None
    )
    rerank: Rerank | None = option("a reranker that reads the query and each text", None)
    complete: bool = option(
        "whether every lane scores every candidate, also those outside its pool (first pass only)",
        default=False,
    )
    boosts: tuple[Label, ...] = option(
        "boosts, or lanes whose raw score is added, in this order", ()
    )
    ties: tuple[Tie, ...] | None = option(
        "columns and attributes that break ties (none: `ties` of the recipe)", None
    )

    @field_validator("head", mode="before")
    @classmethod
    def _first(cls, value: object) -> object:
        if isinstance(value, int) and not isinstance(value, bool):
            return {"count": value}
        if isinstance(value, PassHead | Mapping | None):
            return cast("object", value)
        raise ValueError("expected a number of rows, or a table with count and by")

    @model_validator(mode="after")
    def _one_score(self) -> Self:
        if (self.fuse is None) == (self.rerank is None):
            raise ValueError("a pass needs either fuse or rerank, and not both")
        if self.rerank is not None and self.head is None:
            raise ValueError(
                "a pass with rerank needs the number of rows to rerank, for example head = 40"
            )
        if self.rerank is not None and self.ties is not None:
            raise ValueError("a pass with rerank cannot have ties: equal scores keep their order")
        if self.rerank is not None and self.rerank.score == "keep" and self.boosts:
            raise ValueError(
                'a pass with rerank.score = "keep" does not change scores, so it cannot have'
                ' boosts: remove them, or set score = "replace"'
            )
        return self


def not_asked(verb: str) -> str:
    """Why a search leaves out the reranker of its memory, for the results of that verb."""
    return f"not_asked: {verb} asks no reranker; recall does"
