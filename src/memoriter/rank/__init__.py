"""Here are the numbers: which rows come first?

The engine's own kernels work on arrays. For lists of your own there are four functions; they stand
alone, need no memory, and run the same kernels.

>>> from memoriter import rank
>>> fused = rank.rrf({"vec": [("a", 0.91), ("b", 0.74)], "fts": [("b", 7.2), ("c", 5.1)]})
>>> [(item, round(score, 7)) for item, score in fused]
[('b', 0.0325225), ('a', 0.0163934), ('c', 0.016129)]
"""

from __future__ import annotations

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
"""Names that are loaded when first used: the engine imports this package and needs none of them."""


def __getattr__(name: str) -> object:
    import importlib  # noqa: PLC0415  # only when something is loaded

    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module("memoriter.rank.lists"), _LAZY[name])
    globals()[name] = found
    return found
