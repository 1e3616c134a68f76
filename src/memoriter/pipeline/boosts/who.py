"""Was a record said by the speaker whom the question names?

Where a question names a speaker of the store, that speaker's records rise and those of others
fall. In a chat between a user and an assistant, "you" asks for the assistant's records and "I" for
the user's. A record without a speaker stays where it is.
"""

from __future__ import annotations

from typing import ClassVar, Final, Literal, NamedTuple

import numpy as np

from memoriter.core.slate import Slate
from memoriter.index.columns import dictionary_of
from memoriter.index.reads import strings
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.lanes.spec import option
from memoriter.pipeline.boosts.port import Boost, Boosted
from memoriter.rank.grid import snap
from memoriter.text.speakers import named_speakers, side_asked

SIDES: Final = frozenset({"user", "assistant"})
_SPEAKER: Final = "source.who"


class AskedSpeakers(NamedTuple):
    """Whose records a question asks for: values of one attribute."""

    attribute: str
    values: frozenset[str]


class WhoBoost(Boost):
    """Plus the weight for records of a speaker whom the question names, minus it for others."""

    about: ClassVar[str] = "records of the speaker whom the question names"

    kind: Literal["who"]
    weight: float = option("what the right speaker gains and another one loses", 0.1, ge=0, le=1000)

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Ready when the question names a speaker of the store, or one side of a chat."""
        asked = asked_speakers(ctx)
        if asked is None:
            return Skipped("the question names no speaker", idle=True)
        return Ready({**self.shows(), asked.attribute: sorted(asked.values)})

    def largest_gain(self, best: float) -> float:
        """The weight."""
        del best
        return self.weight

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """The weight with the sign of the match, which stands beside it."""
        asked = asked_speakers(ctx)
        match = np.full(slate.rows.size, np.nan)
        if asked is not None:
            for at, speaker in enumerate(strings(ctx.view, slate.rows, asked.attribute)):
                if speaker is not None:
                    match[at] = 1.0 if speaker in asked.values else -1.0
        return Boosted(snap(self.weight * match), {"match": match})


def asked_speakers(ctx: Context) -> AskedSpeakers | None:
    """Whose records the question asks for; None where it does not say, or means everybody.

    Only speakers of records that may be found count, so that a name outside of the caller's scope
    changes nothing.
    """
    speakers = _values(ctx, _SPEAKER)
    named = named_speakers(ctx.query.text, speakers - SIDES)
    if named:
        return AskedSpeakers(_SPEAKER, named) if named < speakers else None
    side = side_asked(ctx.query.text)
    if side is None:
        return None
    for attribute, values in ((_SPEAKER, speakers), ("role", _values(ctx, "role"))):
        if values >= SIDES:
            return AskedSpeakers(attribute, frozenset({side}))
    return None


def _values(ctx: Context, attribute: str) -> frozenset[str]:
    """The values of an attribute among the records that may be found."""
    out: set[str] = set()
    for segment, mask in zip(ctx.view.segments, ctx.selection.masks, strict=True):
        # Counted instead of sorted: codes are small numbers from -1 (no value) on.
        counts = np.bincount(segment.arrays[f"{attribute}.codes"][mask] + 1)
        names = dictionary_of(segment.arrays, attribute)
        out.update(names[code] for code in np.flatnonzero(counts[1:]).tolist())
    return frozenset(out)
