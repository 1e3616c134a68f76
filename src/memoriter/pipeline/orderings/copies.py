"""The ordering `copies`: of records with the same text, one stands for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple

import numpy as np
from pydantic import field_validator

from memoriter.core.attributes import ATTRIBUTES
from memoriter.core.canonical import canonical, digest
from memoriter.core.fields import TRUST
from memoriter.core.record import Record
from memoriter.core.slate import Slate
from memoriter.core.times import to_micros
from memoriter.index.ids import ids_of
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.orderings.port import Dropped, Dropping, Moved, Ordering
from memoriter.text.copies import ComparedText, are_copies, compared_text, end_words

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe

_MOST_HEADS: Final = 10
"""At most so many times `head` rows are compared."""
_End = tuple[tuple[str, ...], str, tuple[str, ...]]
"""The attributes that must be equal, `first` or `last`, and those words of the text."""


class _Compared(NamedTuple):
    """What is compared of one row."""

    at: int
    row: int
    trust: int
    """2 for system, 1 for learned, 0 for external."""
    created: int
    ends: tuple[_End, _End]
    text: ComparedText

    @property
    def preference(self) -> tuple[int, int, int]:
        """The greatest of a group stands for it: the most trusted, then the newest."""
        return (self.trust, self.created, self.row)

    @property
    def digest(self) -> str:
        """Equal if words and attributes are equal. It goes into receipts, the text does not."""
        same, _, _ = self.ends[0]
        return digest("copies", canonical([self.text.words, same])).hex()[:32]


class CopiesOrdering(Ordering):
    """Keeps the most trusted record of each group of copies, and of these the newest.

    It takes the best place of its group. Every dropped row is a copy of the row that stands for it,
    and no two of the first `head` rows that stay are copies of each other: while too few stay, more
    rows are compared, up to ten times `head`. `text.copies` has the rule.
    """

    about: ClassVar[str] = "of copies, the most trusted and then the newest stands for all"

    kind: Literal["copies"]
    alike: float = option(
        "share of the longer text's words that the shorter one must have (1: all of them)",
        0.9,
        ge=0.5,
        le=1.0,
    )
    same: tuple[str, ...] = option(
        "attributes that must be equal too", ("user", "source.who", "occurred")
    )
    head: int = option(
        "best rows that are compared; more of them, up to ten times as many, while fewer than this "
        "stay",
        50,
        ge=1,
        le=1000,
    )

    @field_validator("same")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in ATTRIBUTES:
                raise ValueError(f"same: {name!r} is no attribute of a record")
        return value

    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """The rows without copies; a standing row takes the best place of its group."""
        del recipe
        size = slate.rows.size
        count, groups = self._enough(ctx, slate)
        best = {group[0].at: min(each.at for each in group) for group in groups}
        gone = {each.at for group in groups for each in group[1:]}
        stays = sorted((at for at in range(count) if at not in gone), key=lambda a: best.get(a, a))
        sizes = np.full(size, np.nan)
        for group in groups:
            sizes[[each.at for each in group]] = len(group)
        return Moved(
            np.array([*stays, *range(count, size)], np.intp),
            {"group": sizes},
            {"copies": len(gone)},
            {
                "groups": [[_looked(each) for each in group] for group in groups],
                **({"compared": count} if count > self.head else {}),
            },
            stands_for={group[0].row: tuple(each.row for each in group[1:]) for group in groups},
        )

    def dropped(self, dropping: Dropping) -> Dropped:
        """The row that stands for it."""
        row = int(dropping.slate.rows[dropping.at])
        (by,) = (each for each, rows in dropping.move.stands_for.items() if row in rows)
        (name,) = ids_of(dropping.ctx.view, np.array([by]))
        return Dropped(f"it is a copy of {name}, which is more trusted or newer")

    def _enough(self, ctx: Context, slate: Slate) -> tuple[int, list[list[_Compared]]]:
        """How many rows are compared, and their groups: twice as many until `head` rows stay."""
        most = min(_MOST_HEADS * self.head, slate.rows.size)
        count = min(self.head, most)
        while True:
            groups = self._groups(ctx, slate, count)
            stay = count - sum(len(group) - 1 for group in groups)
            if stay >= self.head or count == most:
                return count, groups
            count = min(2 * count, most)

    def _groups(self, ctx: Context, slate: Slate, count: int) -> list[list[_Compared]]:
        """The groups of two or more, each with the row that stands for it first."""
        groups: list[list[_Compared]] = []
        at_ends: dict[_End, list[int]] = {}
        compared = self._comparable(ctx, slate, count)
        for each in sorted(compared, key=lambda one: one.preference, reverse=True):
            near = sorted({nth for end in each.ends for nth in at_ends.get(end, ())})
            own = next((nth for nth in near if self._copied(groups[nth][0], each)), None)
            if own is not None:
                groups[own].append(each)
                continue
            for end in each.ends:
                at_ends.setdefault(end, []).append(len(groups))
            groups.append([each])
        return [group for group in groups if len(group) > 1]

    def _comparable(self, ctx: Context, slate: Slate, count: int) -> list[_Compared]:
        """The rows that share an end with another one: no other row can have a copy."""
        rows: list[int] = slate.rows[:count].tolist()
        records = [(at, record) for at, record in enumerate(ctx.fetch(rows)) if record is not None]
        ends = {at: self._ends(record) for at, record in records}
        often = Counter(end for both in ends.values() for end in both)
        return [
            _Compared(
                at,
                rows[at],
                len(TRUST) - 1 - TRUST.index(record.trust),
                to_micros(record.created),
                ends[at],
                compared_text(record.titled),
            )
            for at, record in records
            if any(often[end] > 1 for end in ends[at])
        ]

    def _ends(self, record: Record) -> tuple[_End, _End]:
        same = tuple(str(attrgetter(name)(record)) for name in self.same)
        first, last = end_words(record.titled, self.alike)
        return (same, "first", first), (same, "last", last)

    def _copied(self, one: _Compared, other: _Compared) -> bool:
        return are_copies(one.text, other.text, self.alike)  # `ends` compares the attributes


def _looked(each: _Compared) -> Mapping[str, object]:
    """What a receipt keeps of a row in a group."""
    return {
        "at": each.at,
        "trust": each.trust,
        "created": each.created,
        "words": len(each.text.words),
        "digest": each.digest,
    }
