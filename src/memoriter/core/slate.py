"""The slate: the candidates of a search in order, with all columns that their scores come from.

A slate only gains columns and loses rows. `steps` record how each score column is computed from
others, so that explanations are read from the finished slate and need no formula of their own.

The names of columns, LABEL being a lane or a boost of the recipe and PASS `fuse`, `again` or
`rerank`:

    LABEL.score, LABEL.rank   what a lane gave a row, and its rank there
    LABEL.scaled              the score as a share between 0 and 1, where the fusion scales
    LABEL.owed                1 where the lane lacks what is computed later: others stand for it
    PASS.LABEL, PASS          what a lane adds in a pass, and the sum
    boost.LABEL               the value of a boost; LABEL.NAME is a detail that explains it
    PASS.boost.LABEL          the same, only for rows that have a score in that pass
    PASS.boosted.N            the score after the N-th group of boosts; PASS.boosted after the last
    again.LABEL.rank          the rank that a second fusion goes by
    STAGE.from                the place of a row before an ordering or a second pass
    of.NAME, tie.NAME         what a boost reads of a record; what orders equal scores
    tier, relevance           the pass that scored a row; how well it answers
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import InvariantError
from memoriter.core.later import Later
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Matrix, Rows, Scores

Op = Literal["sum", "product", "max", "min"]
_EXACT: Final = 2.0**18
"""Grid numbers are multiples of 2^-32; up to this size a float holds their sums exactly."""
FIRST: Final = "fuse"
"""The first pass, and the column with its fused score."""
TIER: Final = "tier"
"""The column with the pass that scored a row: 1 if a second pass did, 2 for the other rows."""


def pass_of(column: str) -> str:
    """The pass that made a column.

    >>> pass_of("fuse.boosted.2"), pass_of("rerank")
    ('fuse', 'rerank')
    """
    return column.partition(".")[0]


def signal_of(column: str) -> str:
    """The lane or boost that a column belongs to.

    >>> signal_of("fuse.words"), signal_of("words.score"), signal_of("again.boost.session")
    ('words', 'words', 'session')
    """
    return column.removesuffix(".score").rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Step:
    """One computation: column `out` is `op` over the input columns, ignoring NaN."""

    stage: str
    op: Op
    inputs: tuple[str, ...]
    out: str


def _sum(parts: Matrix) -> Scores:
    """The exact sum in any order; sums too large for that are rounded once, by fsum."""
    if np.maximum.reduce(np.abs(parts), axis=None, initial=0.0) <= _EXACT:
        return np.add.reduce(parts, axis=0)
    return np.array([math.fsum(column) for column in parts.T.tolist()])


def _product(parts: Matrix) -> Scores:
    # A product leaves the grid; rounding it back keeps later sums exact.
    return np.rint(np.multiply.reduce(parts, axis=0) * 2.0**32) * 2.0**-32


def _known(make: Callable[[Matrix], Scores], neutral: float) -> Callable[[Matrix], Scores]:
    """Over the parts that are not NaN, which count as `neutral`; NaN if all of them are."""

    def made(parts: Matrix) -> Scores:
        absent = np.isnan(parts)
        out = make(np.where(absent, neutral, parts))
        out[np.logical_and.reduce(absent, axis=0)] = np.nan
        return out

    return made


OPS: Final[Mapping[Op, Callable[[Matrix], Scores]]] = {
    "sum": _known(_sum, 0.0),
    "product": _known(_product, 1.0),
    "max": _known(lambda parts: np.maximum.reduce(parts, axis=0), -math.inf),
    "min": _known(lambda parts: np.minimum.reduce(parts, axis=0), math.inf),
}
"""The arithmetic of each operation; the order of the parts does not matter."""


ColumnOrLater = Scores | Later[Scores]
"""A column, or how it is made when somebody reads it."""


class Columns(Mapping[str, Scores]):
    """The columns of a slate; those of a larger one are cut to its rows when somebody reads them.

    A search reads few of its columns again once they are made, and orders its rows several times.
    """

    __slots__ = ("_at", "_before", "_own")

    def __init__(
        self,
        own: dict[str, ColumnOrLater],
        before: Columns | None = None,
        at: NDArray[np.intp] | None = None,
    ) -> None:
        self._own = own
        self._before = before
        self._at = at

    def __getitem__(self, name: str) -> Scores:
        own = self._own.get(name)
        if own is None:
            if self._before is None:
                raise KeyError(name)
            own = self._own[name] = self._before[name][self._at]
        elif isinstance(own, Later):
            own = self._own[name] = own.value
        return own

    def __contains__(self, name: object) -> bool:
        return name in self._own or (self._before is not None and name in self._before)

    def __iter__(self) -> Iterator[str]:
        before = () if self._before is None else self._before
        yield from before
        yield from (name for name in list(self._own) if name not in before)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def clash(self, new: Mapping[str, object]) -> set[str]:
        """The names among these that are taken."""
        own = self._own.keys() & new.keys()
        return own if self._before is None else own | self._before.clash(new)

    def and_also(self, new: Mapping[str, ColumnOrLater]) -> Columns:
        """These columns and others."""
        return Columns({**self._own, **new}, self._before, self._at)

    def cut(self, at: NDArray[np.intp]) -> Columns:
        """These columns, of the rows at some places."""
        return Columns({}, self, at)


@dataclass(frozen=True, slots=True)
class Slate:
    """The candidates in their current order, best first."""

    rows: Rows
    columns: Mapping[str, Scores]
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Columns):
            self._check(self.columns)
            object.__setattr__(self, "columns", Columns(dict(self.columns)))

    def _check(self, columns: Mapping[str, ColumnOrLater]) -> None:
        shape = self.rows.shape
        for column in columns.values():
            if not isinstance(column, Later) and column.shape != shape:
                raise InvariantError(
                    "internal error: a search step did not give one value per candidate"
                )

    def _with(
        self,
        columns: Columns,
        *,
        steps: tuple[Step, ...] | None = None,
        rows: Rows | None = None,
    ) -> Slate:
        """Another slate, of columns that were checked."""
        made = object.__new__(Slate)
        object.__setattr__(made, "rows", self.rows if rows is None else rows)
        object.__setattr__(made, "columns", columns)
        object.__setattr__(made, "steps", self.steps if steps is None else steps)
        return made

    @property
    def score(self) -> Scores:
        """Per row, the output of the last step that has a value; NaN if none has."""
        return self._outcome(self.steps)

    @property
    def first_score(self) -> Scores:
        """The score after the first pass."""
        return self._outcome(tuple(step for step in self.steps if pass_of(step.out) == FIRST))

    def _outcome(self, steps: tuple[Step, ...]) -> Scores:
        if not steps:
            return np.full(self.rows.size, np.nan)
        out = self.columns[steps[-1].out]
        for step in reversed(steps[:-1]):
            absent = np.isnan(out)
            if not absent.any():
                break
            out = np.where(absent, self.columns[step.out], out)
        return out

    def with_details(self, new: Mapping[str, ColumnOrLater]) -> Slate:
        """Add columns that are not part of the score; raises InvariantError if one exists."""
        kept = self._kept
        if clash := kept.clash(new):
            raise InvariantError(
                f"internal error: two steps of the search compute the same values {sorted(clash)}"
            )
        self._check(new)
        return self._with(kept.and_also(new))

    @property
    def _kept(self) -> Columns:
        return cast("Columns", self.columns)

    def scored(
        self,
        step: Step,
        new: Mapping[str, ColumnOrLater],
        parts: Matrix | None = None,
        known: Sequence[str] | None = None,
    ) -> Slate:
        """Add columns, and the score column that a step computes; the order stays.

        `parts` are its inputs, if they are at hand; `known` those of them that have a value for
        some row, if the caller can tell.
        """
        columns = self.with_details(new)._kept if new else self._kept
        if step.out in columns:
            raise InvariantError(
                f"internal error: two steps of the search compute the same score {step.out}"
            )
        known = step.inputs if known is None else known
        if parts is None and len(known) == 1 < len(step.inputs):
            alone = columns[known[0]]
            made = alone + 0.0 if step.op == "sum" else alone  # a sum with 0 is never −0
        else:
            made = OPS[step.op](
                np.array([columns[key] for key in known]) if parts is None else parts
            )
        return self._with(columns.and_also({step.out: made}), steps=(*self.steps, step))

    def ordered(self, stage: str, at: NDArray[np.intp]) -> Slate:
        """Reorder or drop rows; the column `<stage>.from` keeps the previous rank, from 1."""
        return self._with(self._kept.and_also(stood(stage, self))).take(at)

    def take(self, at: NDArray[np.intp], rows: Rows | None = None) -> Slate:
        """The rows at these positions, in this order, in all columns; `rows` if they are known."""
        return self._with(self._kept.cut(at), rows=self.rows[at] if rows is None else rows)

    def head(self, count: int) -> Slate:
        """The first rows."""
        return self.take(np.arange(min(count, self.rows.size)))


def stood(stage: str, slate: Slate) -> dict[str, Scores]:
    """The column `<stage>.from`, which keeps the rank of each row before a stage, from 1."""
    return {f"{stage}.from": np.arange(1.0, slate.rows.size + 1)}
