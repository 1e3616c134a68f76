"""The ordering `crowd`: one source of external memories cannot fill an answer.

Of external records of one source, or with nearly the same words, a few keep their places; the
others go behind all other candidates. It acts only beside records of another trust: where all
candidates are external there is nobody to crowd out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from memoriter.core.record import Record
from memoriter.core.slate import Slate
from memoriter.index.reads import has_value, strings
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.orderings.port import Moved, Ordering, unmoved
from memoriter.text.copies import compared_text

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe


class _Member(NamedTuple):
    """What is compared of one row."""

    at: int
    source: tuple[str | None, ...]
    words: frozenset[str]


class CrowdOrdering(Ordering):
    """Of a group of external records, `most` keep their places and the others go to the end.

    A group has one source (who, channel and path) or texts that share most of their words.
    """

    about: ClassVar[str] = "limits external records of one source, or with nearly the same text"
    whole_details: ClassVar[tuple[str, ...]] = ("nth",)

    kind: Literal["crowd"]
    of: tuple[Literal["system", "learned", "external"], ...] = option(
        "trust levels whose records are limited in number (`most`); records of other levels keep"
        " their order",
        ("external",),
    )
    most: int = option(
        "how many records of one source, or with nearly the same text, keep their places; further"
        " ones go to the end",
        2,
        ge=1,
        le=1000,
    )
    alike: float = option(
        "two texts are nearly the same if at least this share of their distinct words is in both"
        " texts",
        0.6,
        ge=0.1,
        le=1.0,
    )
    head: int = option("how many of the best candidates are compared", 50, ge=1, le=1000)

    def phrases(self, details: Mapping[str, object]) -> Iterator[str]:
        """Which of its group it is."""
        if "nth" in details:
            yield f"number {details['nth']} of one source or nearly the same text"

    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """The rows with those above the limit of their group at the end."""
        del recipe
        groups = self._groups(ctx, slate)
        if not groups:
            return unmoved(slate, "nth", {"moved": 0}, {"groups": []})
        nth = np.full(slate.rows.size, np.nan)
        over: list[int] = []
        for group in groups:
            nth[group] = np.arange(1.0, len(group) + 1)
            over += group[self.most :]
        late = set(over)
        stays = [at for at in range(slate.rows.size) if at not in late]
        order = np.array([*stays, *sorted(over)], np.intp)
        return Moved(order, {"nth": nth}, {"moved": len(over)}, {"groups": groups})

    def _groups(self, ctx: Context, slate: Slate) -> list[list[int]]:
        """The places of each group of two or more, in their order."""
        if not has_value(ctx.view, "trust", self.of):  # most stores have none of them
            return []
        low = [trust in self.of for trust in strings(ctx.view, slate.rows, "trust")]
        places = [at for at in range(min(self.head, slate.rows.size)) if low[at]]
        if all(low) or len(places) < 2:  # noqa: PLR2004  # one alone is no group
            return []
        groups: list[list[_Member]] = []
        records = ctx.fetch(slate.rows[places].tolist())
        for at, record in zip(places, records, strict=True):
            if record is None:
                continue
            one = _member(at, record)
            own = next((group for group in groups if self._joins(group[0], one)), None)
            if own is None:
                groups.append([one])
            else:
                own.append(one)
        return [[each.at for each in group] for group in groups if len(group) > 1]

    def _joins(self, first: _Member, other: _Member) -> bool:
        if any(first.source) and first.source == other.source:
            return True
        both = len(first.words & other.words)
        return both >= self.alike * (len(first.words) + len(other.words) - both)


def _member(at: int, record: Record) -> _Member:
    source = record.source
    words = frozenset(word.lower() for word in compared_text(record.titled).words)
    return _Member(at, (source.who, source.channel, source.path), words)
