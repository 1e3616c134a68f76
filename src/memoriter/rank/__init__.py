"""Ranking arithmetic: pure functions on arrays, without I/O.

`bm25` is the BM25 formula, `fuse` fusion, `decay` the boosts, `diverse` MMR and near duplicates,
`walk` and `walks` graph walks, `cluster` clustering, `codes` vector quantization, `grid` the exact
number grid, `top` the only sort. For lists of your own this package offers `rrf`, `weighted`,
`smooth` and `mmr`, which need no memory and run the same functions.

>>> from memoriter import rank
>>> fused = rank.rrf({"vec": [("a", 0.91), ("b", 0.74)], "fts": [("b", 7.2), ("c", 5.1)]})
>>> [(item, round(score, 7)) for item, score in fused]
[('b', 0.0325225), ('a', 0.0163934), ('c', 0.016129)]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memoriter.rank.lists import mmr, rrf, smooth, weighted

    RRF = ReciprocalRankFusion = rrf
    MMR = MaximalMarginalRelevance = mmr

__all__ = [
    "MMR",
    "RRF",
    "MaximalMarginalRelevance",
    "ReciprocalRankFusion",
    "mmr",
    "rrf",
    "smooth",
    "weighted",
]

_LAZY = {
    "MMR": "mmr",
    "MaximalMarginalRelevance": "mmr",
    "RRF": "rrf",
    "ReciprocalRankFusion": "rrf",
    "mmr": "mmr",
    "rrf": "rrf",
    "smooth": "smooth",
    "weighted": "weighted",
}
"""Loaded on first use: the engine imports this package and needs none of these names."""


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = getattr(importlib.import_module("memoriter.rank.lists"), _LAZY[name])
    globals()[name] = function
    return function
