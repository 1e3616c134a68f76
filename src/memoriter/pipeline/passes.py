"""The declaration of passes: which rows get a score, from what, and what changes it. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, cast

from memoriter.core.validation import Before, Bounds
from memoriter.lanes.spec import Spec, option
from memoriter.pipeline.fusing import AnyFusion, Label

Tie = Annotated[str, Bounds(pattern=r"^-?[a-z][a-z0-9_.]{0,63}$")]


class PassHead(Spec):
    """The rows that a pass scores: the first ones, or the union of the first by each column."""

    count: int = option(
        "how many of the best candidates are scored again; if `by` names columns, this many"
        " for each column",
        ge=1,
        le=10_000,
    )
    by: tuple[str, ...] = option(
        "score columns, such as words.score or `fuse` (the score before boosts); the best"
        " candidates of each column are scored again, and a missing value counts as 0; empty: the"
        " best candidates in the order so far",
        (),
    )


def _head_table(value: object) -> object:
    """A number of candidates as the table that it is short for."""
    if isinstance(value, int) and not isinstance(value, bool):
        return {"count": value}
    if isinstance(value, PassHead | Mapping | None):
        return cast("object", value)
    raise ValueError("expected a number of candidates, or a table with `count` and `by`")


class Unanimity(Spec):
    """Skips the reranker if two lanes agree on the best rows."""

    lanes: tuple[Label, Label] = option(
        "two lanes whose best hits are compared; if the lanes agree, the reranker is skipped"
    )
    depth: int = option(
        "how many of each lane's best hits are compared; if a lane has fewer hits, the lanes do"
        " not agree",
        3,
        ge=1,
        le=100,
    )
    agree: int = option(
        "smallest number of compared hits that the two lanes must agree on, so that the reranker"
        " is skipped",
        2,
        ge=1,
        le=100,
    )
    by: Literal["positional", "overlap"] = option(
        "what counts as agreement of the two lanes on a hit",
        "positional",
        values={
            "positional": "the hit has the same rank in both lanes",
            "overlap": "the hit is among the compared hits of both lanes",
        },
    )


class Rerank(Spec):
    """A reranker reads the query and the text of every row of the head."""

    timeout_ms: int = option("how many milliseconds the reranker may take", 800, ge=1, le=600_000)
    on_failure: Literal["keep", "raise"] = option(
        "what happens if the reranker fails or is too slow",
        "keep",
        values={
            "keep": "the order stays as it was, and the answer gives the reason",
            "raise": "the search fails",
        },
    )
    score: Literal["replace", "keep"] = option(
        "which score a reranked hit has",
        "replace",
        values={
            "replace": "the score from the reranker",
            "keep": "the score from before (only the order changes)",
        },
    )
    unless: Unanimity | None = option(
        "lanes that make the reranker unnecessary; a table with the key `lanes`, which names two"
        " lanes: if both have the same best hit, the reranker is skipped; None: it is always asked",
        None,
    )


class Pass(Spec):
    """Scores the head of the rows; the rest stay below in their former order."""

    enabled: bool = option(
        "whether the pass runs; only the second pass can be switched off", default=True
    )
    head: Annotated[PassHead | None, Before(_head_table)] = option(
        "how many of the best candidates are scored again, or a table with `count` and `by`; none:"
        " all candidates",
        None,
    )
    fuse: AnyFusion | None = option(
        "how the scores of the lanes become one score; a pass has either `fuse` or `rerank`", None
    )
    rerank: Rerank | None = option("a reranker that reads the query and each text", None)
    complete: bool = option(
        "whether every lane also scores the candidates of the other lanes (first pass only)",
        default=False,
    )
    boosts: tuple[Label, ...] = option(
        "boosts of the pass, in the order in which they apply; a lane named here adds its raw"
        " score",
        (),
    )
    ties: tuple[Tie, ...] | None = option(
        "columns and attributes that break ties in this pass; none: those of the recipe's `ties`",
        None,
    )

    def check(self) -> None:
        """A pass has one score, and a reranker needs a head."""
        if (self.fuse is None) == (self.rerank is None):
            raise ValueError("a pass needs either `fuse` or `rerank`, and not both")
        if self.rerank is not None and self.head is None:
            raise ValueError(
                "a pass with `rerank` needs `head`, the number of candidates to rerank, for"
                " example head = 40"
            )
        if self.rerank is not None and self.ties is not None:
            raise ValueError(
                "a pass with `rerank` keeps the order of equal scores, so it cannot have `ties`:"
                " remove `ties`"
            )
        if self.rerank is not None and self.rerank.score == "keep" and self.boosts:
            raise ValueError(
                'a pass with rerank.score = "keep" does not change scores, so it cannot have'
                ' `boosts`: remove them, or set score = "replace"'
            )


def not_asked(verb: str) -> str:
    """Why a search leaves out the reranker of its memory, for the results of that verb."""
    return f"not_asked: {verb} asks no reranker; recall does"
