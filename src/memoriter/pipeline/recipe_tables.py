"""The tables `select`, `modes` and `final` of a recipe, as validated data."""

from __future__ import annotations

from typing import Final, Literal

from memoriter.core.validation import DataMistake
from memoriter.index.view import ReplacedBy
from memoriter.lanes.spec import Spec, option
from memoriter.pipeline.fusing import Label

_SHOWN: Final = {"hide": "hidden", "show": "shown"}


class Select(Spec):
    """Which records a search leaves out by default."""

    trust: tuple[Literal["system", "learned", "external"], ...] | None = option(
        "trust levels that are searched", None, values={None: "all levels"}
    )
    archived: Literal["hide", "show"] = option(
        "whether archived records are shown", "hide", values=_SHOWN
    )
    expired: Literal["hide", "show"] = option(
        "whether expired records are shown", "hide", values=_SHOWN
    )
    superseded: Literal["hide", "show", "past"] = option(
        "whether superseded records are shown",
        "hide",
        values={**_SHOWN, "past": "shown only if the question asks about the past"},
    )
    replaced_by: ReplacedBy = option(
        "which records may supersede a record",
        "as_trusted",
        values={"any": "every other record", "as_trusted": "only records trusted as much or more"},
    )
    as_of: Literal["validity", "append"] = option(
        "how a call with `as_of` decides whether a record existed at that time",
        "validity",
        values={"validity": "by its time of validity", "append": "by its time of writing"},
    )
    reflections: Literal["show", "hide", "only"] = option(
        "whether reflections (memories made from others) are shown",
        "show",
        values={**_SHOWN, "only": "shown, and all other records are hidden"},
    )


class Mode(Spec):
    """A named subset of a recipe's lanes, for `recall(…, mode=…)`."""

    lanes: tuple[Label, ...] = option("lanes that run in this mode", min_length=1)
    may_miss: tuple[Label, ...] = option(
        "optional lanes: if one of them cannot run, the answer still counts as complete", ()
    )
    otherwise: Label | None = option("lane that runs if no lane of the mode can run", None)
    rerank: bool = option("whether the recipe's reranker is asked in this mode", default=True)


class Final_(Spec):  # noqa: N801  # `Final` is typing's
    """The end of the pipeline: limit and minimum score."""

    least: Literal[0, 1] = option("smallest `limit` that a call may set", 1)
    limit: int = option("number of hits if a call sets no `limit`", 10, ge=0, le=10_000)
    min_score: float | None = option(
        "minimum first-pass score of a hit; None: no minimum", None, ge=-1e6, le=1e6
    )
    min_relevance: float | None = option("minimum relevance of a hit", None, ge=0.0, le=1.0)

    def check(self) -> None:
        """The limit is not below the smallest that a call may set."""
        if self.limit < self.least:
            raise DataMistake("must be at least 1, unless `least` is 0").under("limit")
