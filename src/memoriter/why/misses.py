"""Why each lane of a search did not find a row, and with what numbers it would have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Ranking
from memoriter.lanes.port import Context, Lane, Skipped
from memoriter.lanes.spec import Spec
from memoriter.pipeline.run import Ran, at_lane
from memoriter.rank.grid import STEP
from memoriter.why.change import Change

_EVERY: Final = 10_000_000
"""A pool that holds whatever a lane finds."""
_FURTHER: Final = 4
"""So many links more than the recipe follows are tried."""


@dataclass(frozen=True, slots=True)
class Misses:
    """What each lane says of a row that it did not find, and changes that may help."""

    reasons: Mapping[str, str]
    options: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class _Miss:
    """Why one lane missed a row; `fields` are the numbers under which it would not have."""

    reason: str
    fields: Mapping[str, object] | None = None


def misses(ran: Ran, ctx: Context, row: int) -> Misses:
    """What every lane says, and what to change, the fewest numbers first."""
    recipe = ran.plan.recipe
    skipped = {step.name: step.skipped for step in ran.plan.steps if step.skipped is not None}
    reasons: dict[str, str] = {}
    options: list[Change] = []
    for label, lane in recipe.lanes.items():
        if label in skipped:
            reasons[label] = f"did not run: {skipped[label]}"
        elif row not in ran.rankings[label].rows:
            miss = _missed(lane, at_lane(ctx, label, ran.seeds), row)
            reasons[label] = miss.reason
            if miss.fields:
                paths = {f"lanes.{label}.{key}": value for key, value in miss.fields.items()}
                options.append({"overrides": paths})
    options.sort(key=lambda option: len(cast("dict[str, object]", option["overrides"])))
    options += _switched(ran, ctx, skipped)
    return Misses(reasons, tuple(options))


def _switched(ran: Ran, ctx: Context, skipped: Mapping[str, str | None]) -> Iterator[Change]:
    """Lanes that are off, and those that are not in the mode asked for."""
    for label, lane in ran.plan.recipe.lanes.items():
        if label in skipped and not lane.enabled:
            yield {"overrides": {f"lanes.{label}.enabled": True}}
    if ctx.query.mode is not None:
        yield {"mode": None}


def _missed(lane: Lane, ctx: Context, row: int) -> _Miss:
    pool = cast("int | None", getattr(lane, "pool", None))
    if pool is not None:
        place = _place(_with(lane, pool=_EVERY), ctx, row)
        if place is not None:
            reason = f"it is at rank {place} there, outside the pool of {pool}"
            return _Miss(reason, {"pool": place})
    told = _KINDS.get(lane.kind)
    return _Miss("did not find it") if told is None else told(lane, ctx, row)


def _with(lane: Lane, **fields: object) -> Lane:
    """The lane with other numbers."""
    return cast("Lane", cast("Spec", lane).model_copy(update=fields))


def _place(lane: Lane, ctx: Context, row: int) -> int | None:
    """Where a lane ranks a row, counted from 1; None where it does not find it."""
    at = np.flatnonzero(_ranked(lane, ctx).rows == row)
    return int(at[0]) + 1 if at.size else None


def _ranked(lane: Lane, ctx: Context) -> Ranking:
    return Ranking.empty() if isinstance(lane.ready(ctx), Skipped) else lane.rank(ctx)


def _pooled(lane: Lane, place: int, fields: Mapping[str, object]) -> dict[str, object]:
    """These numbers, and a larger pool where the row needs one."""
    more = {"pool": place} if place > int(cast("Any", lane).pool) else {}
    return {**fields, **more}


def _meaning(lane: Lane, ctx: Context, row: int) -> _Miss:
    loose = _with(lane, pool=_EVERY, min_cosine=-1.0, **_RAW)
    found = _ranked(loose, ctx)
    at = np.flatnonzero(found.rows == row)
    if not at.size:
        return _Miss("it has no vector")
    cosine, floor = float(found.scores[at[0]]), cast("Any", lane).min_cosine
    reason = f"its cosine of {cosine:.4f} lies below min_cosine = {floor:g}"
    return _Miss(reason, _pooled(lane, int(at[0]) + 1, {"min_cosine": max(cosine, -1.0)}))


_RAW: Final = {"fresh": 1.0, "stale": 1.0, "exact_up_to": 2**31}
"""Cosines as they are, every one of them."""


def _kin(lane: Lane, ctx: Context, row: int) -> _Miss:
    loose = _with(lane, pool=_EVERY, min_cosine=0.0, neighbours=_NEIGHBOURS)
    place = _place(loose, ctx, row)
    if place is None:
        return _Miss("no word of it is near a word of the query")
    (why,) = loose.evidence(ctx, _ranked(loose, ctx), np.array([row]))
    best = max(why.parts, key=_nearness)
    own = cast("Any", lane)
    fields: dict[str, object] = {}
    if _nearness(best) < own.min_cosine:
        fields["min_cosine"] = _nearness(best)
    if (
        own.neighbours < _NEIGHBOURS
        and _place(_with(lane, pool=_EVERY, **fields), ctx, row) is None
    ):
        fields["neighbours"] = _NEIGHBOURS
    reason = f"its nearest word: {best.label}, cosine {_nearness(best):.4f}, which is too far"
    return _Miss(reason, _pooled(lane, place, fields))


_NEIGHBOURS: Final = 32
"""The table knows no more of a word."""


def _nearness(part: Explanation) -> float:
    return float(cast("float", part.facts["cosine"]))


def _moment(lane: Lane, ctx: Context, row: int) -> _Miss:
    found = _ranked(_with(lane, pool=_EVERY, min_score=STEP), ctx)
    at = np.flatnonzero(found.rows == row)
    if not at.size:
        return _Miss("it is too far from the time that the question names")
    score, floor = float(found.scores[at[0]]), cast("Any", lane).min_score
    reason = f"its nearness of {score:.4f} to that time lies below min_score = {floor:g}"
    return _Miss(reason, _pooled(lane, int(at[0]) + 1, {"min_score": score}))


def _linked(name: str) -> Callable[[Lane, Context, int], _Miss]:
    """For a lane that follows so many links: would it have, had it gone further?"""

    def miss(lane: Lane, ctx: Context, row: int) -> _Miss:
        depth = int(getattr(lane, name))
        seeds = f"{ctx.seeds.size} seed{'' if ctx.seeds.size == 1 else 's'}"
        for further in range(depth + 1, depth + _FURTHER + 1):
            place = _place(_with(lane, pool=_EVERY, **{name: further}), ctx, row)
            if place is not None:
                reason = f"it is {further} links from {seeds}, and {name} = {depth}"
                return _Miss(reason, _pooled(lane, place, {name: further}))
        return _Miss(f"no path from {seeds} leads to it")

    return miss


def _says(reason: str) -> Callable[[Lane, Context, int], _Miss]:
    def miss(lane: Lane, ctx: Context, row: int) -> _Miss:
        del lane, ctx, row
        return _Miss(reason)

    return miss


def _words(lane: Lane, ctx: Context, row: int) -> _Miss:
    del row
    ready = lane.ready(ctx)
    asked = None if isinstance(ready, Skipped) else ready.shows.get("terms")
    if not asked:
        return _Miss("it does not fit the query")
    return _Miss(f"it has none of the words {', '.join(cast('list[str]', asked))}")


_KINDS: Final[Mapping[str, Callable[[Lane, Context, int], _Miss]]] = {
    "bm25": _words,
    "kin": _kin,
    "vector": _meaning,
    "walk": _linked("max_depth"),
    "hops": _linked("max_hops"),
    "cheapest": _linked("max_hops"),
    "entity": _says("it shares no entity with the best hits"),
    "moment": _moment,
    "sources": _says("it is no source of a reflection that was found"),
    "list": _says("it is not on the list"),
    "by": _says("it does not have that attribute"),
}
"""What to say of a miss, by kind of lane."""
