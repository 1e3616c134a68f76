"""How fresh is a record, counted in the caller's own cycles?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from recollect.rank.grid import snap


def by_cycle(cycles: NDArray[np.float64], current: int, half_life: float) -> NDArray[np.float64]:
    """2^(−age / half life), the future counted as now; NaN where there is no cycle.

    >>> by_cycle(np.array([50.0, 10.0, 70.0, np.nan]), 60, 50).round(6).tolist()
    [0.870551, 0.5, 1.0, nan]
    """
    ages = np.maximum(current - cycles, 0.0) / half_life
    return snap(np.array([math.exp(-math.log(2.0) * age) for age in ages.tolist()]))
