"""The candidates of a search, in order, with every column that put them there.

A slate only gains columns and loses rows. `steps` say how each score column follows from others, so
the finished slate is its own explanation: nothing else holds a formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import InvariantError
from memoriter.core.ranking import Matrix, Rows, Scores

Op = Literal["sum", "product", "max", "min"]
_EXACT: Final = 2.0**18
"""Up to here the sum of a few grid numbers is a grid number that a float holds."""
TIER: Final = "tier"
"""The column that says which pass gave a row its score: 1 for a second one, 2 for the rest."""


def pass_of(column: str) -> str:
    """The pass that made a column: fuse for `fuse.boosted.2`.

    >>> pass_of("fuse.boosted.2"), pass_of("rerank")
    ('fuse', 'rerank')
    """
    return column.partition(".")[0]


def signal_of(column: str) -> str:
    """The lane or boost whose say a column is.

    >>> signal_of("fuse.words"), signal_of("words.score"), signal_of("again.boost.session")
    ('words', 'words', 'session')
    """
    return column.removesuffix(".score").rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Step:
    """One derivation: `out` is `op` over the input columns, absent inputs left out."""

    stage: str
    op: Op
    inputs: tuple[str, ...]
    out: str


def _sum(parts: Matrix) -> Scores:
    """Sums of grid numbers are exact in any order; larger ones are rounded once, at the end."""
    known = np.where(np.isnan(parts), 0.0, parts)
    if np.abs(known).max(initial=0.0) <= _EXACT:
        return known.sum(axis=0)
    return np.array([math.fsum(column) for column in known.T.tolist()])


def _product(parts: Matrix) -> Scores:
    out = np.nanprod(parts, axis=0)
    return np.rint(out * 2.0**32) * 2.0**-32


def _known(make: Callable[[Matrix], Scores]) -> Callable[[Matrix], Scores]:
    """Where no part is known, neither is the whole."""

    def made(parts: Matrix) -> Scores:
        none = np.isnan(parts).all(axis=0)
        return np.where(none, np.nan, make(np.where(none, 0.0, parts)))

    return made


OPS: Final[Mapping[Op, Callable[[Matrix], Scores]]] = {
    "sum": _known(_sum),
    "product": _known(_product),
    "max": _known(lambda parts: np.nanmax(parts, axis=0)),
    "min": _known(lambda parts: np.nanmin(parts, axis=0)),
}
"""How the parts of a step make its score, whatever the order of the parts."""


@dataclass(frozen=True, slots=True)
class Slate:
    """The candidates in their current order, best first."""

    rows: Rows
    columns: Mapping[str, Scores]
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        if any(column.shape != self.rows.shape for column in self.columns.values()):
            raise InvariantError("every column of a slate has one value per row")

    @property
    def score(self) -> Scores:
        """What the last step that knows a row made of it; NaN while no step does."""
        out = np.full(self.rows.size, np.nan)
        for step in self.steps:
            made = self.columns[step.out]
            out = np.where(np.isnan(made), out, made)
        return out

    def noting(self, new: Mapping[str, Scores]) -> Slate:
        """Add columns that say something beside the score."""
        if clash := set(new) & set(self.columns):
            raise InvariantError(f"columns {sorted(clash)} are there already")
        return replace(self, columns={**self.columns, **new})

    def scored(self, step: Step, new: Mapping[str, Scores]) -> Slate:
        """Add columns and the score that follows from them; the order stays."""
        columns = {**self.noting(new).columns}
        if step.out in columns:
            raise InvariantError(f"column {step.out} is there already")
        columns[step.out] = OPS[step.op](np.stack([columns[key] for key in step.inputs]))
        return replace(self, columns=columns, steps=(*self.steps, step))

    def ordered(self, stage: str, at: NDArray[np.intp]) -> Slate:
        """Move or drop rows; a column remembers where each one stood, counted from 1."""
        stood = np.arange(1.0, self.rows.size + 1)
        noted = replace(self, columns={**self.columns, f"{stage}.from": stood})
        return noted.take(at)

    def take(self, at: NDArray[np.intp]) -> Slate:
        """These positions, in this order, in every column at once."""
        columns = {key: column[at] for key, column in self.columns.items()}
        return replace(self, rows=self.rows[at], columns=columns)

    def head(self, count: int) -> Slate:
        """The first rows."""
        return self.take(np.arange(min(count, self.rows.size)))
