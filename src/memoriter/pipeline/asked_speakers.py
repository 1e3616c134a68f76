"""Whose records a question asks for: it names a speaker of the store, or one side of a chat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, cast

import numpy as np

from memoriter.core.ranking import Mask
from memoriter.index.columns import dictionary_of
from memoriter.index.reads import has_value, has_values
from memoriter.lanes.port import Context
from memoriter.text.speakers import named_speakers, side_asked

SIDES: Final = frozenset({"user", "assistant"})
_SPEAKER: Final = "source.who"
_ROLE: Final = "role"
_MEMO: Final = "asked_speakers"
_KNOWN: Final = "speakers"


class AskedSpeakers(NamedTuple):
    """Whose records a question asks for: values of one attribute."""

    attribute: str
    values: frozenset[str]


def asked_speakers(ctx: Context, without: tuple[str, ...] = ()) -> AskedSpeakers | None:
    """Whose records the question asks for; None where it does not say, or means everybody.

    Only speakers of records that may be found count, so that a name outside of the caller's scope
    changes nothing. Records with a trust of `without` do not count either, unless there are no
    others. Plan, boost and relevance all ask this, so it is kept in the memo.
    """
    without = _present(ctx, without)
    key = f"{_MEMO} {without}"
    if key not in ctx.memo:
        ctx.memo[key] = _asked(ctx, without)
    return cast("AskedSpeakers | None", ctx.memo[key])


def speakers_named(ctx: Context, without: tuple[str, ...] = ()) -> frozenset[str]:
    """The speakers of records that may be found whom the question names, even if it is all.

    Records with a trust of `without` do not count, unless there are no others.
    """
    return named_speakers(ctx.query.text, _speakers(ctx, _present(ctx, without)) - SIDES)


def _present(ctx: Context, without: tuple[str, ...]) -> tuple[str, ...]:
    """The trusts that do not count; none if no record has one of them, as in most stores."""
    return without if without and has_value(ctx.view, "trust", without) else ()


def _speakers(ctx: Context, without: tuple[str, ...]) -> frozenset[str]:
    """The speakers of records that may be found; asked for several times in a search."""
    key = f"{_KNOWN} {without}"
    if key not in ctx.memo:
        ctx.memo[key] = _values(ctx, _SPEAKER, without)
    return cast("frozenset[str]", ctx.memo[key])


def _asked(ctx: Context, without: tuple[str, ...]) -> AskedSpeakers | None:
    speakers = _speakers(ctx, without)
    named = named_speakers(ctx.query.text, speakers - SIDES)
    if named:
        return AskedSpeakers(_SPEAKER, named) if named < speakers else None
    by_name = speakers >= SIDES
    # The dictionaries of the index tell at once that most stores hold no chats.
    if not by_name and not all(has_value(ctx.view, _ROLE, (each,)) for each in SIDES):
        return None
    side = side_asked(ctx.query.text)
    if side is None:
        return None
    if by_name:
        return AskedSpeakers(_SPEAKER, frozenset({side}))
    chats = _values(ctx, _ROLE, without) >= SIDES
    return AskedSpeakers(_ROLE, frozenset({side})) if chats else None


def _values(ctx: Context, attribute: str, without: tuple[str, ...]) -> frozenset[str]:
    """The values of an attribute among the records that count."""
    out: set[str] = set()
    if not has_values(ctx.view, attribute):  # most stores have no speakers
        return frozenset(out)
    for segment, mask in zip(ctx.view.segments, _counted(ctx, without), strict=True):
        names = dictionary_of(segment.arrays, attribute)
        # Counted instead of sorted: codes are small numbers from -1 (no value) on.
        counts = np.bincount(segment.arrays[f"{attribute}.codes"][mask] + 1)
        out.update(names[code] for code in np.flatnonzero(counts[1:]).tolist())
    return frozenset(out)


def _counted(ctx: Context, without: tuple[str, ...]) -> Sequence[Mask]:
    """The records that count, by segment: those without these trusts, or all if all have them."""
    every = ctx.selection.masks
    if not without:
        return every
    others: list[Mask] = []
    for segment, mask in zip(ctx.view.segments, every, strict=True):
        names = dictionary_of(segment.arrays, "trust")
        low = np.array([name in without for name in names], np.bool_)
        others.append(mask & ~low[segment.arrays["trust.codes"]])
    return others if any(mask.any() for mask in others) else every
