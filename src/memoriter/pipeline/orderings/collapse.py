"""The ordering `collapse`: of duplicates only the best, or the newest, stays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, Final, Literal, cast

import numpy as np

from memoriter.core.attributes import ATTRIBUTES
from memoriter.core.fold import fold
from memoriter.core.names import Json
from memoriter.core.record import Record
from memoriter.core.slate import Slate
from memoriter.index.ids import ids_of
from memoriter.index.reads import numbers
from memoriter.index.vectors import unit_vectors
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.orderings.port import Dropped, Dropping, Moved, Ordering
from memoriter.rank.diverse import near_duplicates

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe

HEAD: Final = 200
"""Only so many characters are compared: texts that begin alike count as copies."""


def fingerprint(text: str) -> str:
    """The beginning of a text, stripped and case-folded.

    >>> fingerprint("  The Plan ") == fingerprint("the plan")
    True
    """
    return fold(text.strip()[:HEAD]).strip()


class CollapseOrdering(Ordering):
    """Groups records by a key and keeps `most` of each group."""

    about: ClassVar[str] = "keeps one of several duplicates"
    whole_details: ClassVar[tuple[str, ...]] = ("group",)

    kind: Literal["collapse"]
    by: Literal["fingerprint", "near", "key"] = option(
        "what makes records duplicates",
        "fingerprint",
        values={
            "fingerprint": "the first 200 characters of their texts are equal, whatever the case",
            "near": "the cosine of their vectors is at least `cosine`",
            "key": "they have the same value for each of `keys`",
        },
    )
    keys: tuple[str, ...] = option(
        "attributes, or paths such as metadata.topic, that are compared; required if `by` is key,"
        " else not allowed; a record that lacks one of them has no duplicates",
        (),
    )
    cosine: float = option(
        "minimum cosine of two duplicates; used only if `by` is near", 0.95, gt=0.0, le=1.0
    )
    most: int = option("how many records of a group of duplicates stay", 1, ge=1, le=1000)
    keep: Literal["best", "newest"] = option(
        "which records of a group of duplicates stay",
        "best",
        values={
            "best": "those ranked best",
            "newest": "the newest ones, which take the group's best places",
        },
    )
    head: int = option(
        "how many of the best candidates are compared; all others stay", 1000, ge=1, le=10_000
    )

    def check(self) -> None:
        """`keys` are for `by = "key"` alone, and are paths."""
        if (self.by == "key") != bool(self.keys):
            raise ValueError('`by = "key"` and `keys` need each other: give both or neither')
        for path in self.keys:
            if path not in ATTRIBUTES and not path.startswith("metadata."):
                raise ValueError(
                    f"keys: {path!r} is neither an attribute nor a path such as metadata.topic"
                )

    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """The rows without duplicates; a kept row takes the best place of its group."""
        del recipe
        size = slate.rows.size
        count = min(self.head, size)
        groups = self._groups(ctx, slate, count)
        created = numbers(ctx.view, slate.rows[:count], "created")
        stays: list[tuple[int, int]] = []
        dropped = 0
        for places in groups:
            kept = places[: self.most]
            if self.keep == "newest":
                newest = sorted(places, key=lambda at: (-created[at], -slate.rows[at]))
                kept = newest[: self.most]
            # The kept rows take the group's best places, in the order in which they were kept.
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

    def dropped(self, dropping: Dropping) -> Dropped:
        """The row that was kept instead, and the smallest `most` that keeps this one too."""
        size = int(dropping.move.details["group"][dropping.at])
        names = [name for name in self._standing(dropping) if name]
        kept = names[0] if names else "another"
        reason = f"it is one of {size} duplicates by {self.by}; {kept} was kept"
        for most in range(self.most + 1, size + 1):
            wider = self.with_options(most=most)
            if dropping.at in wider.move(dropping.ctx, dropping.recipe, dropping.slate).at:
                return Dropped(reason, {"most": most})
        return Dropped(reason)

    def phrases(self, details: Mapping[str, object]) -> Iterator[str]:
        """The size of the group that the row stands for."""
        if "group" in details:
            yield f"stands for a group of {details['group']}"

    def _standing(self, dropping: Dropping) -> Iterator[str]:
        """The ids of kept rows that fall into one group with the dropped row."""
        groups, slate = dropping.move.details["group"], dropping.slate
        alone = self.with_options(most=1)
        for at in dropping.move.at.tolist():
            if groups[at] == groups[dropping.at]:
                pair = slate.take(np.array(sorted((at, dropping.at)), np.intp))
                if alone.move(dropping.ctx, dropping.recipe, pair).at.size == 1:
                    yield ids_of(dropping.ctx.view, slate.rows[[at]])[0]

    def _groups(self, ctx: Context, slate: Slate, count: int) -> list[list[int]]:
        """The groups, each as places with the best first."""
        if self.by == "near":
            units, known = unit_vectors(ctx.view, slate.rows[:count])
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
    """An attribute, or the value at a path in the metadata; None if there is none."""
    if not path.startswith("metadata."):
        value = cast("Json", attrgetter(path)(record))
        return cast("Json", list(value) or None) if isinstance(value, tuple) else value
    below: Json = record.metadata
    for part in path.split(".")[1:]:
        below = _below(below, part)
    return below


def _below(value: Json, part: str) -> Json:
    if isinstance(value, dict):
        return value.get(part)
    if isinstance(value, Sequence) and not isinstance(value, str) and part.isdigit():
        return value[int(part)] if int(part) < len(value) else None
    return None
