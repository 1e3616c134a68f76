"""Which records may a search see at all? Decided once, before any lane and any limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from recollect.core.ranking import Rows
from recollect.core.scope import Scope
from recollect.core.where import EVERYTHING, AllOf, Not, Test, Where
from recollect.index.columns import NO_TIME, holds_at
from recollect.index.filter import Fetch, passing
from recollect.index.reading import Reading
from recollect.index.segment import Segment

_REFLECTION: Final = Test("kind", "eq", "reflection")


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

    def rows(self, reading: Reading) -> Rows:
        """The rows themselves, ascending."""
        parts = [s.rows[mask] for s, mask in zip(reading.segments, self.masks, strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *parts])


def select(reading: Reading, criteria: Criteria, fetch: Fetch) -> Selection:
    """Apply scope, filter, expiry, archive, trust, validity and supersession to a view."""
    masks = scoped = list(reading.visible)
    funnel = [("view", reading.total)]
    for name, narrow in (("scope", _scope), ("hidden", _hidden), ("as_of", _as_of)):
        masks = [
            narrow(criteria, s, mask, reading)
            for s, mask in zip(reading.segments, masks, strict=True)
        ]
        funnel.append((name, sum(int(mask.sum()) for mask in masks)))
        scoped = masks if name == "scope" else scoped
    masks = [
        passing(criteria.where, s, mask, fetch) if mask.any() else mask
        for s, mask in zip(reading.segments, masks, strict=True)
    ]
    funnel.append(("where", sum(int(mask.sum()) for mask in masks)))
    readable = [
        _as_of(criteria, s, mask, reading) for s, mask in zip(reading.segments, scoped, strict=True)
    ]
    return Selection(tuple(masks), tuple(funnel), tuple(readable))


def _never(_: object) -> list[None]:
    raise AssertionError("scope and trust are columns")


def _scope(
    criteria: Criteria, segment: Segment, mask: NDArray[np.bool_], _: Reading
) -> NDArray[np.bool_]:
    tests = tuple(Test(key, "eq", value) for key, value in criteria.scope.filters().items())
    return passing(AllOf(tests), segment, mask, _never)


def _hidden(
    criteria: Criteria, segment: Segment, mask: NDArray[np.bool_], reading: Reading
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
    if criteria.superseded == "hide" and (replaced := _replaced(criteria, reading)).size:
        out = out & ~np.isin(segment.arrays["position"], replaced)
    return out


def _replaced(criteria: Criteria, reading: Reading) -> NDArray[np.int64]:
    """Positions that something took the place of, as of the time asked about."""
    edges = reading.replacements
    time = criteria.now if criteria.as_of is None else criteria.as_of
    return edges.targets[holds_at(edges.since, edges.until, time)]


def _as_of(
    criteria: Criteria, segment: Segment, mask: NDArray[np.bool_], reading: Reading
) -> NDArray[np.bool_]:
    """Keep what was valid then; what replaced something only later was not there yet."""
    if criteria.as_of is None:
        return mask
    arrays = segment.arrays
    since = arrays["valid_from"]
    until = arrays["valid_until"]
    edges = reading.replacements
    early = edges.sources[(edges.since != NO_TIME) & (edges.since > criteria.as_of)]
    return mask & holds_at(since, until, criteria.as_of) & ~np.isin(arrays["position"], early)
