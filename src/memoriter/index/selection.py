"""Which rows a search may return: scope, hidden kinds, supersession, time and filter.

`select` runs once per search, before any lane and any limit; lanes rank only rows under its masks.
A **superseded** record is hidden by `_drop_hidden` if the recipe says `superseded = "hide"`. If the
recipe goes by append time, `_as_of` hides it in any case. `_Replacement` asks the view for the
replacing edges in force at the time in question; rows at their targets are masked out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import is_
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask, Rows
from memoriter.core.scope import Scope
from memoriter.core.where import EVERYTHING, AllOf, Not, Test, Where
from memoriter.core.work_limit import WorkLimit
from memoriter.index.columns import NO_TIME, holds_at
from memoriter.index.filter import filter_limit, passing
from memoriter.index.read_once import Fetch
from memoriter.index.segment import Segment
from memoriter.index.view import ReplacedBy, View

_REFLECTION: Final = Test("kind", "eq", "reflection")
_KEPT: Final = "selection"
HIDING: Final = ("trust", "reflections", "archived", "expired", "superseded")
"""What a recipe may hide, in the order in which `first_exclusion` tests it."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """Everything that narrows a search, with all defaults resolved."""

    scope: Scope
    where: Where = EVERYTHING
    now: int = 0
    as_of: int | None = None
    trust: tuple[str, ...] | None = None
    archived: Literal["hide", "show"] = "show"
    expired: Literal["hide", "show"] = "show"
    superseded: Literal["hide", "show"] = "show"
    reflections: Literal["show", "hide", "only"] = "show"
    replaced_by: ReplacedBy = "as_trusted"
    recorded: int | None = None
    """The last sequence number at `as_of`, if the recipe goes by append time; else None."""

    @property
    def time(self) -> int:
        """The time in question: `as_of`, or now."""
        return self.now if self.as_of is None else self.as_of


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows that a search may return: one mask per segment, and the count after each step."""

    masks: tuple[Mask, ...]
    funnel: tuple[tuple[str, int], ...]
    readable: tuple[Mask, ...]
    """Rows in scope and valid at the time in question: what walks and links may pass through."""

    @property
    def count(self) -> int:
        """How many rows a search may return."""
        return self.funnel[-1][1]

    def only(self, view: View, rows: Rows) -> Selection:
        """The selection limited to some rows."""
        masks: list[Mask] = []
        for segment, mask in zip(view.segments, self.masks, strict=True):
            here = np.zeros(mask.size, np.bool_)
            here[segment.places(rows)[0]] = True
            masks.append(here & mask)
        count = sum(int(mask.sum()) for mask in masks)
        return replace(self, masks=tuple(masks), funnel=(*self.funnel, ("only", count)))

    def has(self, view: View, rows: Rows) -> Mask:
        """Which of these rows are selected."""
        out = np.zeros(rows.size, np.bool_)
        for segment, mask in zip(view.segments, self.masks, strict=True):
            places, here = segment.places(rows)
            if places.size == rows.size:  # a row is in one segment
                return mask[places]
            out[here] = mask[places]
        return out

    def rows(self, view: View) -> Rows:
        """The row numbers, ascending."""
        parts = [s.rows[mask] for s, mask in zip(view.segments, self.masks, strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *parts])


def select(
    view: View, criteria: Criteria, fetch: Fetch, work: WorkLimit | None = None
) -> Selection:
    """Apply scope, what the recipe hides (superseded records too), time and filter in order.

    Raises TooCostly if the filter takes more work than is left, or than a search may take.
    """
    if not _is_lasting(view, criteria):
        return _selected(view, criteria, fetch, work)
    # The next question mostly has the same scope and recipe: the last selection is kept.
    by = (criteria.scope, criteria.trust, criteria.archived, criteria.reflections)
    known: tuple[object, Selection] | None = view.memo.get(_KEPT)
    if known is None or known[0] != by:
        known = view.memo[_KEPT] = (by, _selected(view, criteria, fetch, work))
    return known[1]


def _is_lasting(view: View, criteria: Criteria) -> bool:
    """Whether a selection depends on no time and no filter."""
    if criteria.where != EVERYTHING or criteria.as_of is not None:
        return False
    if view.replacing_edges.sources.size:
        return False
    return criteria.expired == "show" or not any(s.has_expiry for s in view.segments)


def _selected(
    view: View, criteria: Criteria, fetch: Fetch, work: WorkLimit | None = None
) -> Selection:
    work = work or filter_limit()
    masks = scoped = list(view.visible)
    funnel = [("view", view.total)]
    replaced = _Replacement.of(view, criteria)
    for name, narrow in _STEPS:
        before = masks
        masks = [
            narrow(criteria, s, mask, replaced)
            for s, mask in zip(view.segments, masks, strict=True)
        ]
        funnel.append((name, _count(masks, before, funnel[-1][1])))
        scoped = masks if name == "scope" else scoped
    # The filter comes last: it may have to read records, so it should see as few rows as possible.
    before, filtered = masks, criteria.where != EVERYTHING
    masks = [
        passing(criteria.where, s, mask, fetch, work) if filtered and mask.any() else mask
        for s, mask in zip(view.segments, masks, strict=True)
    ]
    funnel.append(("where", _count(masks, before, funnel[-1][1])))
    readable = [
        _valid(criteria, s, mask, replaced) for s, mask in zip(view.segments, scoped, strict=True)
    ]
    return Selection(tuple(masks), tuple(funnel), tuple(readable))


def _count(masks: Sequence[Mask], before: Sequence[Mask], count: int) -> int:
    """How many rows are selected; as many as before if no mask was narrowed."""
    same = all(map(is_, masks, before))
    return count if same else sum(int(mask.sum()) for mask in masks)


def superseded_only(
    view: View, criteria: Criteria, fetch: Fetch, limit: int, work: WorkLimit | None = None
) -> Selection | None:
    """The rows that `select` drops only because they were superseded, at most the newest `limit`.

    None if there are none, or if the recipe shows them.
    """
    replaced = _Replacement.of(view, criteria)
    if criteria.superseded == "show" or not replaced.superseded.size:
        return None
    shown = replace(criteria, superseded="show")
    masks: list[Mask] = []
    for segment, visible in zip(view.segments, view.visible, strict=True):
        mask = visible & np.isin(segment.arrays["position"], replaced.superseded)
        for narrow in (_in_scope, _drop_hidden, _as_of):
            mask = narrow(shown, segment, mask, replaced) if mask.any() else mask
        masks.append(mask)
    newest = np.concatenate(
        [np.zeros(0, np.int64), *(s.rows[m] for s, m in zip(view.segments, masks, strict=True))]
    )
    # Cut before the filter, which may have to read records.
    since = np.sort(newest)[-limit:][:1]
    masks = [
        passing(criteria.where, s, mask & (s.rows >= since), fetch, work) if mask.any() else mask
        for s, mask in zip(view.segments, masks, strict=True)
    ]
    count = sum(int(mask.sum()) for mask in masks)
    return Selection(tuple(masks), (("superseded", count),), tuple(masks)) if count else None


def first_exclusion(
    view: View, criteria: Criteria, row: int, fetch: Fetch, work: WorkLimit | None = None
) -> str | None:
    """The name of the first step that hides a row; None if the row may be returned.

    One of "view", "scope", the names in `HIDING`, "as_of" and "where".
    """
    replaced = _Replacement.of(view, criteria)
    for segment in view.segments:
        mask = np.zeros(len(segment), np.bool_)
        mask[segment.places(np.array([row]))[0]] = True
        if not mask.any():
            continue
        if not _in_scope(criteria, segment, mask, replaced).any():
            return "scope"
        for name in HIDING:
            alone = replace(
                Criteria(criteria.scope, now=criteria.now), **{name: getattr(criteria, name)}
            )
            if not _drop_hidden(alone, segment, mask, replaced).any():
                return name
        if not _as_of(criteria, segment, mask, replaced).any():
            return "as_of"
        return None if passing(criteria.where, segment, mask, fetch, work).any() else "where"
    return "view"


@dataclass(frozen=True, slots=True)
class _Replacement:
    """Records superseded at the time in question, and records that supersede only later."""

    superseded: NDArray[np.int64]
    """Targets of replacing edges in force: another record took their place."""
    early: NDArray[np.int64]
    """Sources of replacing edges that begin later: they had not taken over yet."""

    @classmethod
    def of(cls, view: View, criteria: Criteria) -> _Replacement:
        edges = view.replacing_edges
        if not edges.sources.size:  # in most stores nothing was ever replaced
            return cls(edges.targets, edges.sources)
        superseded = view.replacing_edges_at(
            criteria.time, criteria.recorded, criteria.replaced_by
        ).targets
        begins_later = (edges.since != NO_TIME) & (edges.since > criteria.time)
        return cls(superseded, edges.sources[begins_later])


def _without(mask: Mask, segment: Segment, positions: NDArray[np.int64]) -> Mask:
    """The mask without rows at these positions."""
    return mask & ~np.isin(segment.arrays["position"], positions) if positions.size else mask


def _no_fetch(_: object) -> list[None]:
    raise AssertionError(
        "internal error: a filter on scope, trust or kind asked for a record; please report this"
    )


def _in_scope(criteria: Criteria, segment: Segment, mask: Mask, _: _Replacement) -> Mask:
    tests = tuple(Test(key, "eq", value) for key, value in criteria.scope.filters().items())
    return passing(AllOf(tests), segment, mask, _no_fetch) if tests else mask


def _drop_hidden(criteria: Criteria, segment: Segment, mask: Mask, replaced: _Replacement) -> Mask:
    """Drop what the recipe hides: trust, reflections, archived, expired, superseded."""
    out = mask
    if criteria.trust is not None:
        out = passing(Test("trust", "in", criteria.trust), segment, out, _no_fetch)
    if criteria.reflections != "show":
        kept = _REFLECTION if criteria.reflections == "only" else Not(_REFLECTION)
        out = passing(kept, segment, out, _no_fetch)
    if criteria.archived == "hide" and segment.has_archived:
        out = out & ~segment.arrays["archived"]
    if criteria.expired == "hide" and segment.has_expiry:
        # Expiry is about now, also when `as_of` looks back: an expired record stays hidden.
        expires = segment.arrays["expires"]
        out = out & ((expires == NO_TIME) | (expires > criteria.now))
    # Superseded records disappear here; by append time, in `_as_of`.
    return _without(out, segment, replaced.superseded) if criteria.superseded == "hide" else out


def _as_of(criteria: Criteria, segment: Segment, mask: Mask, replaced: _Replacement) -> Mask:
    """Keep what was valid at `as_of`; by append time also drop what was superseded by then."""
    out = _valid(criteria, segment, mask, replaced)
    return out if criteria.recorded is None else _without(out, segment, replaced.superseded)


def _valid(criteria: Criteria, segment: Segment, mask: Mask, replaced: _Replacement) -> Mask:
    """Keep what was valid, or by append time written, at `as_of`; everything without `as_of`."""
    if criteria.as_of is None:
        return mask
    if criteria.recorded is not None:
        return mask & (segment.born <= criteria.recorded)
    since, until = segment.arrays["valid_from"], segment.arrays["valid_until"]
    return _without(mask & holds_at(since, until, criteria.as_of), segment, replaced.early)


_STEPS: Final = (("scope", _in_scope), ("hidden", _drop_hidden), ("as_of", _as_of))
"""What narrows a search before its filter, in this order."""
