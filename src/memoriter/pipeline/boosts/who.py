"""Was a record said by the speaker whom the question names?

Where a question names a speaker of the store, that speaker's records rise and those of others
fall. In a chat between a user and an assistant, "you" asks for the assistant's records and "I" for
the user's. A record without a speaker stays where it is. Anybody may write an external record under
any name, so its speaker changes nothing for trusted records.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np

from memoriter.core.ranking import Rows, Scores
from memoriter.core.slate import Slate
from memoriter.index.reads import codes, has_value, strings
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.pipeline.asked_speakers import AskedSpeakers, asked_speakers, speakers_named
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.grid import snap
from memoriter.text.speakers import without_names


class WhoBoost(Boost):
    """Plus the weight for records of a speaker whom the question names, minus it for others."""

    about: ClassVar[str] = "records of the speaker whom the question names"
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"match": "1 for the speaker whom the question names, −1 for another"}
    )

    kind: Literal["who"]
    weight: float = option(
        "score that a record gains if the question names its speaker; a record of another speaker"
        " loses as much",
        0.1,
        ge=0,
        le=1000,
    )
    embedded: bool = option(
        "whether names of speakers stay in the question when it is embedded", default=True
    )

    of: tuple[Literal["system", "learned", "external"], ...] = option(
        "trust levels that count as less trusted; who speaks in their records changes nothing for"
        " records of other levels",
        (),
    )

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when the question names a speaker of the store, or one side of a chat."""
        asked = asked_speakers(ctx) or asked_speakers(ctx, self.of)
        if asked is None:
            return Skipped("the question names no speaker", idle=True)
        return Ready({**self.shows(), asked.attribute: sorted(asked.values)})

    def asked_without(self, ctx: Context, question: str) -> str:
        """The question without the names of speakers, unless they are embedded."""
        return question if self.embedded else without_names(question, speakers_named(ctx, self.of))

    def largest_gain(self, best: float) -> float:
        """The weight."""
        del best
        return self.weight

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """The weight with the sign of the match, which stands beside it."""
        match = _matches(ctx, slate.rows, asked_speakers(ctx, self.of))
        if has_value(ctx.view, "trust", self.of):  # most stores have none of them
            low = np.array([t in self.of for t in strings(ctx.view, slate.rows, "trust")], np.bool_)
            match[low] = _matches(ctx, slate.rows[low], asked_speakers(ctx))
        return Boosted(snap(self.weight * match), {"match": match})


def _matches(ctx: Context, rows: Rows, asked: AskedSpeakers | None) -> Scores:
    """1 for each row that is asked for, -1 for one of another speaker, NaN for one without."""
    if asked is None:
        return np.full(rows.size, np.nan)
    spoken, names = codes(ctx.view, rows, asked.attribute)
    # One more entry: code -1, no speaker, picks the last.
    worth = [*(1.0 if name in asked.values else -1.0 for name in names), np.nan]
    return np.array(worth)[spoken]
