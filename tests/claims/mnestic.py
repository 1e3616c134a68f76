"""mnestic's call on corpus A, as its claims ask it."""

from __future__ import annotations

from typing import Any

from tests.claims.corpus import VECTOR, ids
from tests.sound import sound

from memoriter.memory.facade import Memory
from memoriter.why.result import Result

TEXT = "pricing OR berlin"
GRAPH = {"kind": "hops"}
"""A graph leg with its defaults."""
FUSED = [
    ("m02", 0.0320184), ("m17", 0.0315136), ("m01", 0.0305361), ("m09", 0.0299107),
    ("m18", 0.0163934), ("m13", 0.0161290), ("m08", 0.0158730), ("m10", 0.0158730),
    ("m07", 0.0149254), ("m19", 0.0147059),
]  # fmt: skip
"""TEXT and the vector, ten of each list."""


def hybrid(memory: Memory, text: str = TEXT, limit: int | None = None, **ask: Any) -> Result:
    """Both legs, and whatever else is asked."""
    return sound(memory.recall(text, limit, recipe="mnestic", vector=VECTOR, **ask))


def words(memory: Memory, text: str, limit: int | None = 10_000, **overrides: Any) -> Result:
    """The keyword leg alone, all of its hits."""
    options = {"vector_index": False, "fts_k": 10_000, **overrides}
    return sound(memory.recall(text, limit, recipe="mnestic", overrides=options))


def legs(memory: Memory, seeds: Any, **lanes: Any) -> Result:
    """Graph legs alone."""
    overrides = {"vector_index": False, "fts_index": False}
    overrides |= {f"lanes.{label}": lane for label, lane in lanes.items()}
    return sound(memory.recall("", 10_000, recipe="mnestic", overrides=overrides, seeds=seeds))


def diverse(memory: Memory, k: int = 10, trade: float = 0.5, **ask: Any) -> list[str]:
    """The ids that MMR takes."""
    overrides = {"mmr": True, "mmr.k": k, "mmr.lambda": trade, **ask.pop("overrides", {})}
    return ids(hybrid(memory, overrides=overrides, **ask))
