"""Whose records a question asks for: it names a speaker of the store, or one side of a chat."""

from __future__ import annotations

from typing import Final, NamedTuple, cast

import numpy as np

from memoriter.index.columns import dictionary_of
from memoriter.lanes.port import Context
from memoriter.text.speakers import named_speakers, side_asked

SIDES: Final = frozenset({"user", "assistant"})
_SPEAKER: Final = "source.who"
_MEMO: Final = "asked_speakers"
_KNOWN: Final = "speakers"


class AskedSpeakers(NamedTuple):
    """Whose records a question asks for: values of one attribute."""

    attribute: str
    values: frozenset[str]


def asked_speakers(ctx: Context) -> AskedSpeakers | None:
    """Whose records the question asks for; None where it does not say, or means everybody.

    Only speakers of records that may be found count, so that a name outside of the caller's scope
    changes nothing. Plan, boost and relevance all ask this, so it is kept in the memo.
    """
    if _MEMO not in ctx.memo:
        ctx.memo[_MEMO] = _asked(ctx)
    return cast("AskedSpeakers | None", ctx.memo[_MEMO])


def speakers_named(ctx: Context) -> frozenset[str]:
    """The speakers of records that may be found whom the question names, even if it is all."""
    return named_speakers(ctx.query.text, _speakers(ctx) - SIDES)


def _speakers(ctx: Context) -> frozenset[str]:
    """The speakers of records that may be found; asked for several times in a search."""
    if _KNOWN not in ctx.memo:
        ctx.memo[_KNOWN] = _values(ctx, _SPEAKER)
    return cast("frozenset[str]", ctx.memo[_KNOWN])


def _asked(ctx: Context) -> AskedSpeakers | None:
    speakers = _speakers(ctx)
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
        names = dictionary_of(segment.arrays, attribute)
        if not len(names):  # most stores have no speakers
            continue
        # Counted instead of sorted: codes are small numbers from -1 (no value) on.
        counts = np.bincount(segment.arrays[f"{attribute}.codes"][mask] + 1)
        out.update(names[code] for code in np.flatnonzero(counts[1:]).tolist())
    return frozenset(out)
