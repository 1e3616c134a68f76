"""The ordering `copies`: of records with the same text, one stands for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, NamedTuple, cast

import numpy as np

from memoriter.core.attributes import ATTRIBUTES
from memoriter.core.canonical import canonical, digest
from memoriter.core.fields import TRUST
from memoriter.core.ranking import Rows
from memoriter.core.record import Record
from memoriter.core.slate import Slate
from memoriter.core.times import to_micros
from memoriter.core.validation import After
from memoriter.index.ids import ids_of
from memoriter.index.reads import text_ends
from memoriter.lanes.port import Context
from memoriter.lanes.spec import option
from memoriter.pipeline.orderings.port import Dropped, Dropping, Moved, Ordering, unmoved
from memoriter.text.copies import INDEXED_ALIKE, compared_text, copy_groups

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe

_TRUSTED: Final = {name: len(TRUST) - 1 - n for n, name in enumerate(TRUST)}
_MOST_HEADS: Final = 10
"""At most so many times `head` rows are compared."""


class _Compared(NamedTuple):
    """What is compared of one row."""

    at: int
    row: int
    trust: int
    """2 for system, 1 for learned, 0 for external."""
    created: int
    same: tuple[str, ...]
    """The attributes that must be equal too."""
    text: str
    marks: tuple[int, int] | None
    """`end_marks` of the text, if the index has those that hold for `alike`."""

    @property
    def preference(self) -> tuple[int, int, int]:
        """The greatest of a group stands for it: the most trusted, then the newest."""
        return (self.trust, self.created, self.row)


def _attributes(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in ATTRIBUTES:
            raise ValueError(f"same: {name!r} is not one of {', '.join(ATTRIBUTES)}")
    return names


class CopiesOrdering(Ordering):
    """Keeps the most trusted record of each group of copies, and of these the newest.

    It takes the best place of its group, or with `less_trusted = false` of those that are trusted
    as much: else whoever may write copies could lift a record. Every dropped row is a copy of the
    row that stands for it, and no two of the first `head` rows that stay are copies of each other:
    while too few stay, more rows are compared, up to ten times `head`. `text.copies` has the rule.
    """

    joins: ClassVar[bool] = True
    about: ClassVar[str] = "of copies, the most trusted and then the newest stands for all"

    kind: Literal["copies"]
    alike: float = option(
        "a shorter text is a copy of a longer one only if it has at least this share of the longer"
        " text's words, in the same order",
        0.9,
        ge=0.5,
        le=1.0,
    )
    same: Annotated[tuple[str, ...], After(_attributes)] = option(
        "attributes that must also be equal for two records to be copies",
        ("user", "source.who", "occurred"),
    )
    head: int = option(
        "how many candidates without copies are wanted; up to ten times as many candidates are"
        " compared to find them",
        50,
        ge=1,
        le=1000,
    )
    less_trusted: bool = option(
        "whether the copy that is kept may take the place of a less trusted copy that ranked"
        " higher",
        default=True,
    )

    def move(self, ctx: Context, recipe: Recipe, slate: Slate) -> Moved:
        """The rows without copies; a standing row takes the best place of its group."""
        del recipe
        count, groups = self._enough(ctx, slate)
        if not groups:
            return unmoved(slate, "group", {"copies": 0}, {"groups": []})
        size = slate.rows.size
        best = {group[0].at: min(each.at for each in self._lending(group)) for group in groups}
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

    def _lending(self, group: Sequence[_Compared]) -> list[_Compared]:
        """Those whose place the first of a group may take."""
        return [each for each in group if self.less_trusted or each.trust >= group[0].trust]

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
        suspects = self._suspects(ctx, slate.rows[:count])
        if not suspects:
            return []
        places = list(suspects)
        rows: list[int] = slate.rows[places].tolist()
        compared = [
            _Compared(
                at,
                row,
                trust=_TRUSTED[record.trust],
                created=to_micros(record.created),
                same=self._same(record),
                text=record.titled,
                marks=suspects[at],
            )
            for at, row, record in zip(places, rows, ctx.fetch(rows), strict=True)
            if record is not None
        ]
        compared.sort(key=lambda each: each.preference, reverse=True)
        marks = [each.marks for each in compared if each.marks is not None]
        texts = [(each.same, each.text) for each in compared]
        groups = copy_groups(texts, self.alike, marks or None)
        return [[compared[nth] for nth in group] for group in groups]

    def _same(self, record: Record) -> tuple[str, ...]:
        return tuple([str(read(record)) for read in _readers(self.same)])

    def _suspects(self, ctx: Context, rows: Rows) -> dict[int, tuple[int, int] | None]:
        """The places of the rows that may have a copy among these: they share an end with another.

        The index keeps the ends of texts as numbers (`end_marks`), so few records have to be read.
        """
        if self.alike < INDEXED_ALIKE:
            return dict.fromkeys(range(rows.size))
        firsts, lasts = cast("list[list[int]]", text_ends(ctx.view, rows).tolist())
        if len(set(firsts)) == len(set(lasts)) == rows.size:  # most questions find no copies
            return {}
        often_first, often_last = Counter(firsts), Counter(lasts)
        ends = enumerate(zip(firsts, lasts, strict=True))
        return {at: (a, b) for at, (a, b) in ends if often_first[a] > 1 or often_last[b] > 1}


@lru_cache(maxsize=64)
def _readers(names: tuple[str, ...]) -> tuple[Callable[[Record], object], ...]:
    return tuple(attrgetter(name) for name in names)


def _looked(each: _Compared) -> Mapping[str, object]:
    """What a receipt keeps of a row in a group.

    The digest is equal if words and attributes are equal; a receipt has it in place of the text.
    """
    words = compared_text(each.text).words
    return {
        "at": each.at,
        "trust": each.trust,
        "created": each.created,
        "words": len(words),
        "digest": digest("copies", canonical([words, each.same])).hex()[:32],
    }
