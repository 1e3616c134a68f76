"""Which records may a search see at all? Decided once, before any lane and any limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Rows
from memoriter.core.scope import Scope
from memoriter.core.where import EVERYTHING, AllOf, Not, Test, Where
from memoriter.index.columns import NO_TIME, holds_at
from memoriter.index.filter import Fetch, passing
from memoriter.index.segment import Segment
from memoriter.index.view import View

_REFLECTION: Final = Test("kind", "eq", "reflection")
HIDING: Final = ("trust", "reflections", "archived", "expired", "superseded")
"""What a recipe may hide, in the order in which a row is looked at."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """Everything that narrows a search, resolved: no defaults are left to guess."""

    scope: Scope
    where: Where = EVERYTHING
    now: int = 0
    as_of: int | None = None
    trust: tuple[str, ...] | None = None
    archived: Literal["hide", "show"] = "show"
    expired: Literal["hide", "show"] = "show"
    superseded: Literal["hide", "show"] = "show"
    reflections: Literal["show", "hide", "only"] = "show"
    recorded: int | None = None
    """The last entry of the log at `as_of`, where append time decides and not validity."""

    @property
    def time(self) -> int:
        """The time asked about."""
        return self.now if self.as_of is None else self.as_of


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows that may be found: one mask per segment, and how many each step left."""

    masks: tuple[NDArray[np.bool_], ...]
    funnel: tuple[tuple[str, int], ...]
    readable: tuple[NDArray[np.bool_], ...]
    """The rows that the caller may read at the time asked about, whatever the filter says."""

    @property
    def count(self) -> int:
        """How many rows may be found."""
        return self.funnel[-1][1]

    def rows(self, view: View) -> Rows:
        """The rows themselves, ascending."""
        parts = [s.rows[mask] for s, mask in zip(view.segments, self.masks, strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *parts])


def select(view: View, criteria: Criteria, fetch: Fetch) -> Selection:
    """Apply scope, filter, expiry, archive, trust, time and supersession to a view."""
    masks = scoped = list(view.visible)
    funnel = [("view", view.total)]
    then = _Then.of(view, criteria)
    for name, narrow in (("scope", _scope), ("hidden", _hidden), ("as_of", _as_of)):
        masks = [
            narrow(criteria, s, mask, then) for s, mask in zip(view.segments, masks, strict=True)
        ]
        funnel.append((name, sum(int(mask.sum()) for mask in masks)))
        scoped = masks if name == "scope" else scoped
    masks = [
        passing(criteria.where, s, mask, fetch) if mask.any() else mask
        for s, mask in zip(view.segments, masks, strict=True)
    ]
    funnel.append(("where", sum(int(mask.sum()) for mask in masks)))
    readable = [
        _there(criteria, s, mask, then) for s, mask in zip(view.segments, scoped, strict=True)
    ]
    return Selection(tuple(masks), tuple(funnel), tuple(readable))


def first_exclusion(view: View, criteria: Criteria, row: int, fetch: Fetch) -> str | None:
    """The first thing that leaves a row of the view out; None where it may be found."""
    then = _Then.of(view, criteria)
    for segment in view.segments:
        mask = np.zeros(len(segment), np.bool_)
        mask[segment.places(np.array([row]))[0]] = True
        if not mask.any():
            continue
        if not _scope(criteria, segment, mask, then).any():
            return "scope"
        for name in HIDING:
            alone = replace(
                Criteria(criteria.scope, now=criteria.now), **{name: getattr(criteria, name)}
            )
            if not _hidden(alone, segment, mask, then).any():
                return name
        if not _as_of(criteria, segment, mask, then).any():
            return "as_of"
        return None if passing(criteria.where, segment, mask, fetch).any() else "where"
    return "view"


@dataclass(frozen=True, slots=True)
class _Then:
    """What replacing edges say of positions at the time asked about."""

    replaced: NDArray[np.int64]
    """Something took their place."""
    early: NDArray[np.int64]
    """They took the place of something only later, and were not there yet."""

    @classmethod
    def of(cls, view: View, criteria: Criteria) -> _Then:
        replaced = view.superseding_edges(criteria.time, criteria.recorded).targets
        edges = view.replacing_edges
        late = (edges.since != NO_TIME) & (edges.since > criteria.time)
        return cls(replaced, edges.sources[late])


def _without(
    mask: NDArray[np.bool_], segment: Segment, positions: NDArray[np.int64]
) -> NDArray[np.bool_]:
    return mask & ~np.isin(segment.arrays["position"], positions) if positions.size else mask


def _never(_: object) -> list[None]:
    raise AssertionError("scope, trust and kind are columns")


def _scope(
    criteria: Criteria, segment: Segment, mask: NDArray[np.bool_], _: _Then
) -> NDArray[np.bool_]:
    tests = tuple(Test(key, "eq", value) for key, value in criteria.scope.filters().items())
    return passing(AllOf(tests), segment, mask, _never)


def _hidden(
    criteria: Criteria, segment: Segment, mask: NDArray[np.bool_], then: _Then
) -> NDArray[np.bool_]:
    out = mask
    if criteria.trust is not None:
        out = passing(Test("trust", "in", criteria.trust), segment, out, _never)
    if criteria.reflections != "show":
        kept = _REFLECTION if criteria.reflections == "only" else Not(_REFLECTION)
        out = passing(kept, segment, out, _never)
    if criteria.archived == "hide" and segment.has_archived:
        out = out & ~segment.arrays["archived"]
    if criteria.expired == "hide" and segment.has_expiry:
        expires = segment.arrays["expires"]
        out = out & ((expires == NO_TIME) | (expires > criteria.now))
    return _without(out, segment, then.replaced) if criteria.superseded == "hide" else out


def _as_of(
    criteria: Criteria, segment: Segment, mask: NDArray[np.bool_], then: _Then
) -> NDArray[np.bool_]:
    """Keep what was there then; by append time also only what nothing had replaced."""
    out = _there(criteria, segment, mask, then)
    return out if criteria.recorded is None else _without(out, segment, then.replaced)


def _there(
    criteria: Criteria, segment: Segment, mask: NDArray[np.bool_], then: _Then
) -> NDArray[np.bool_]:
    """Keep what was valid then, or had been appended; all of it when no time is asked about."""
    if criteria.as_of is None:
        return mask
    if criteria.recorded is not None:
        return mask & (segment.born <= criteria.recorded)
    since, until = segment.arrays["valid_from"], segment.arrays["valid_until"]
    return _without(mask & holds_at(since, until, criteria.as_of), segment, then.early)
