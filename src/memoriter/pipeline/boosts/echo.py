"""Does a record only repeat the question?

A text made of the words of a question matches it better than any answer and says nothing. Where
nearly all words of a record's text are words of the question, its score is multiplied by a factor.
A record that adds a name or a number to them answers, and keeps its score. Short questions are left
alone: any note about the wifi password has the words of "wifi password?".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import ClassVar, Final, Literal, cast

import numpy as np

from memoriter.core.ranking import Rows, Scores
from memoriter.core.slate import Op, Slate
from memoriter.index.reads import text_lengths
from memoriter.index.term_lists import look_up
from memoriter.kernel.calls import term_counts
from memoriter.kernel.found_rows import FoundRows, Wanted
from memoriter.kernel.jobs import AboutFound
from memoriter.kernel.library import Job, native_library
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.grid import snap, snap_one

_TEXT = "text"
_COUNTS: Final = "words of the question in what was found"
"""In the memo of a search."""


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

    def about_found(self, ctx: Context) -> tuple[AboutFound, ...]:
        """How many of their words are words of the question."""

        def counted(found_rows: FoundRows) -> list[Job]:
            ctx.memo[_COUNTS] = wanted = found_rows.wanted()
            return [_counts(ctx, wanted)]

        return (counted,)

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
    known, count = cast("Wanted | None", ctx.memo.get(_COUNTS)), partial(_matched, ctx)
    matched = count(rows) if known is None else known.of(rows, count)
    return snap(np.minimum(matched / text_lengths(ctx.view, rows), 1.0))


def _matched(ctx: Context, rows: Rows) -> Scores:
    """How often words of the question occur in the text of these rows, ascending."""
    fast, field = native_library(), ctx.view.fields.index(_TEXT)
    if fast is not None:
        wanted = Wanted(rows)
        fast.run([_counts(ctx, wanted)])
        return wanted.values
    out = np.zeros(rows.size)
    for segment in ctx.view.segments:
        places, here = segment.places(rows)
        own = np.zeros(places.size)
        for term in ctx.terms:
            if (each := segment.term_lists.postings(term)) is None:
                continue
            few = each.at(places)
            text = few.fields == field
            own[np.searchsorted(places, few.docs[text])] += few.tfs[text]  # a row has it once
        out[here] = own
    return out


def _counts(ctx: Context, wanted: Wanted) -> Job:
    """The same as a job of the native kernel."""
    segments, terms = ctx.view.segments, ctx.terms
    look_up([segment.term_lists for segment in segments], terms)
    lists = [(segment.term_lists.every_address(terms), segment.rows) for segment in segments]
    return term_counts(lists, ctx.view.fields.index(_TEXT), wanted)
