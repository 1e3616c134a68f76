"""Why a hit stands where it stands, read from the slate: there is no formula in this file."""

from __future__ import annotations

import math

from recollect.core.explanation import Explanation
from recollect.core.slate import Slate

_BESIDE = ("rank", "score", "scaled", "weight")


def explain(slate: Slate, at: int) -> Explanation:
    """The score of one row as the tree of columns that made it; absent parts are left out."""
    known: dict[str, Explanation] = {}
    for step in slate.steps:
        parts = tuple(
            known.get(name) or _leaf(slate, name, at)
            for name in step.inputs
            if not math.isnan(slate.columns[name][at])
        )
        value = float(slate.columns[step.out][at])
        known[step.out] = Explanation(step.stage, value, step.op, parts)
    return known[slate.steps[-1].out]


def _leaf(slate: Slate, name: str, at: int) -> Explanation:
    """A column's value, with what its owner noted beside it."""
    owner = name.rpartition(".")[2]
    noted = {
        key: _plain(float(slate.columns[f"{owner}.{key}"][at]), key)
        for key in _BESIDE
        if f"{owner}.{key}" in slate.columns
    }
    return Explanation(owner, float(slate.columns[name][at]), facts=noted)


def _plain(value: float, key: str) -> float | int:
    return int(value) if key == "rank" else value
