"""Does a record only repeat the question?

A text made of the words of a question matches it better than any answer and says nothing. Where
nearly all words of a record's text are words of the question, its score is multiplied by a factor.
A record that adds a name or a number to them answers, and keeps its score. Short questions are left
alone: any note about the wifi password has the words of "wifi password?".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Rows, Scores
from memoriter.core.slate import Op, Slate
from memoriter.index.reads import text_lengths
from memoriter.index.term_lists import TermLists, look_up
from memoriter.kernel.calls import term_counts
from memoriter.kernel.library import native_library
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.grid import snap, snap_one

_TEXT = "text"


class EchoBoost(Boost):
    """A factor for records whose text repeats the question and says nothing else."""

    about: ClassVar[str] = "records that only repeat the question lose"
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"share": "share of the words of its text that are words of the question"}
    )

    kind: Literal["echo"]
    factor: float = option(
        "the score of a record that only repeats the question is multiplied by this factor",
        0.5,
        ge=0.0,
        le=1.0,
    )
    share: float = option(
        "a record repeats the question if at least this share of the record's words is in the"
        " question",
        0.9,
        ge=0.5,
        le=1.0,
    )
    words: int = option(
        "smallest number of distinct words in a question for which the boost runs",
        4,
        ge=1,
        le=1000,
    )

    @property
    def op(self) -> Op:
        """The score is multiplied."""
        return "product"

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready if the question has enough words."""
        count = len(ctx.terms)
        if count < self.words:
            return Skipped(f"the question has fewer than {self.words} words", idle=True)
        return super().ready(ctx)

    def largest_gain(self, best: float) -> float:
        """Nothing: it only takes."""
        del best
        return 0.0

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """The factor where a text repeats the question; the share of such words stands beside."""
        shares = asked_share(ctx, slate.rows)
        hit = shares >= self.share
        if not hit.any():
            return Boosted.nothing(slate.rows.size, "share")
        return Boosted(
            np.where(hit, snap_one(self.factor), np.nan), {"share": np.where(hit, shares, np.nan)}
        )


def asked_share(ctx: Context, rows: Rows) -> Scores:
    """For each row the share of the words of its text that are words of the question."""
    if (rows[1:] < rows[:-1]).any():
        order = np.argsort(rows)
        shares = np.empty(rows.size)
        shares[order] = asked_share(ctx, rows[order])
        return shares
    matched = np.zeros(rows.size)
    field, terms = ctx.view.fields.index(_TEXT), ctx.terms
    look_up([segment.term_lists for segment in ctx.view.segments], terms)
    for segment in ctx.view.segments:
        places, here = segment.places(rows)
        if places.size:
            matched[here] = _counts(segment.term_lists, terms, field, places)
    return snap(np.minimum(matched / text_lengths(ctx.view, rows), 1.0))


def _counts(lists: TermLists, terms: Sequence[str], field: int, places: NDArray[np.intp]) -> Scores:
    """How often some words occur in a field of these rows, ascending."""
    fast = native_library()
    if fast is not None:
        return term_counts(fast, lists.every_address(terms), field, places)
    out = np.zeros(places.size)
    for term in terms:
        each = lists.postings(term)
        if each is None:
            continue
        few = each.at(places)
        own = few.fields == field
        out[np.searchsorted(places, few.docs[own])] += few.tfs[own]  # a row has a field once
    return out
