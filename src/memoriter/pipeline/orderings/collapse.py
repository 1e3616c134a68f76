"""Of records that say the same, one is enough."""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, Self, cast

import numpy as np
from pydantic import Field, model_validator

from memoriter.core.attributes import ATTRIBUTES
from memoriter.core.names import Json
from memoriter.core.record import Record
from memoriter.core.slate import Slate
from memoriter.index.reads import numbers
from memoriter.index.vectors import units_of
from memoriter.lanes.port import Context
from memoriter.pipeline.orderings.port import Moved, Ordering
from memoriter.rank.near import near_duplicates
from memoriter.text.fingerprint import fingerprint

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe


class Collapse(Ordering):
    """Keeps the best places of each group of records that share a key."""

    kind: Literal["collapse"]
    by: Literal["fingerprint", "near", "key"] = "fingerprint"
    """`fingerprint`: how the text begins. `near`: the vector. `key`: attributes or metadata."""
    keys: tuple[str, ...] = ()
    """What makes the key: attributes, or paths such as metadata.topic; a record that lacks one of
    them is a group of its own."""
    cosine: float = Field(default=0.95, gt=0.0, le=1.0)
    """From here on two vectors are one."""
    most: int = Field(default=1, ge=1, le=1000)
    """How many of a group stay."""
    keep: Literal["best", "newest"] = "best"
    """Which of a group stay: those placed best, or the newest ones at the best places."""
    head: int = Field(default=1000, ge=1, le=10_000)
    """How many of the best rows are looked at; the rest stay as they are."""

    @model_validator(mode="after")
    def _has_a_key(self) -> Self:
        if (self.by == "key") != bool(self.keys):
            raise ValueError('by = "key" goes with keys, and only with them')
        for path in self.keys:
            if path not in ATTRIBUTES and not path.startswith("metadata."):
                raise ValueError(f"keys: {path!r} is no attribute and no path such as metadata.x")
        return self

    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """The rows without those that another one stands for."""
        del recipe
        size = slate.rows.size
        count = min(self.head, size)
        groups = self._groups(ctx, slate, count)
        created = numbers(ctx.reading, slate.rows[:count], "created")
        stays: list[tuple[int, int]] = []
        dropped = 0
        for places in groups:
            kept = places[: self.most]
            if self.keep == "newest":
                newest = sorted(places, key=lambda at: (-created[at], -slate.rows[at]))
                kept = newest[: self.most]
            stays += zip(places, kept, strict=False)
            dropped += len(places) - len(kept)
        head = [who for _, who in sorted(stays)]
        at = np.array([*head, *range(count, size)], np.intp)
        standing = np.full(size, np.nan)
        for places in groups:
            if len(places) > 1:
                standing[places] = len(places)
        shared = [places for places in groups if len(places) > 1]
        looked: dict[str, object] = {"groups": shared}
        if self.keep == "newest":
            looked["created"] = [[int(created[at]) for at in places] for places in shared]
        return Moved(at, {"group": standing}, {"dropped": dropped}, looked)

    def _groups(self, ctx: Context, slate: Slate, count: int) -> list[list[int]]:
        """The places of each group, best first."""
        if self.by == "near":
            units, known = units_of(ctx.reading, slate.rows[:count])
            copies = near_duplicates(units, self.cosine)
            keys: list[object] = [
                at if not known[at] or copies[at] < 0 else int(copies[at]) for at in range(count)
            ]
        else:
            records = ctx.fetch(slate.rows[:count].tolist())
            keys = [self._key(record, at) for at, record in enumerate(records)]
        out: dict[object, list[int]] = {}
        for at, key in enumerate(keys):
            out.setdefault(key, []).append(at)
        return list(out.values())

    def _key(self, record: Record | None, at: int) -> object:
        if record is None:
            return at
        if self.by == "fingerprint":
            return fingerprint(record.text)
        values = [_value(record, path) for path in self.keys]
        return at if None in values else json.dumps(values, sort_keys=True)


def _value(record: Record, path: str) -> Json:
    """An attribute, or what stands at a path in the metadata; None where there is nothing."""
    if not path.startswith("metadata."):
        found = cast("Json", attrgetter(path)(record))
        return cast("Json", list(found) or None) if isinstance(found, tuple) else found
    below: Json = record.metadata
    for part in path.split(".")[1:]:
        below = _below(below, part)
    return below


def _below(found: Json, part: str) -> Json:
    if isinstance(found, dict):
        return found.get(part)
    if isinstance(found, Sequence) and not isinstance(found, str) and part.isdigit():
        return found[int(part)] if int(part) < len(found) else None
    return None
