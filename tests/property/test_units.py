"""Unit vectors by the matrix are those of `unit`, bit for bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memoriter.rank.grid import unit
from memoriter.rank.units import units

whole = st.integers(-(2**40), 2**40).map(float)
small = st.integers(-(2**20), 2**20).map(lambda n: n * 2.0**-24)
real = st.floats(-1e300, 1e300)
rows = st.integers(1, 20).flatmap(
    lambda n: st.lists(
        st.one_of(*(st.lists(kind, min_size=n, max_size=n) for kind in (whole, small, real))),
        min_size=1,
        max_size=6,
    )
)


@given(rows)
def test_every_row_is_what_unit_makes_of_it(matrix: list[list[float]]) -> None:
    for row, made in zip(matrix, units(np.array(matrix)), strict=True):
        alone = unit(np.array(row))
        assert made.dtype == np.float32
        assert made.tolist() == ([0.0] * len(row) if alone is None else alone.tolist())


def test_wide_rows_are_what_unit_makes_of_them() -> None:
    random = np.random.default_rng(1)
    for width in (256, 384, 2048, 2049):
        matrix = np.rint(random.standard_normal((50, width)) * 2**26) * 2.0**-24
        alone = [unit(row) for row in matrix]
        assert units(matrix).tolist() == [row.tolist() for row in alone if row is not None]
