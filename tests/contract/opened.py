"""A memory whose segments are small."""

from __future__ import annotations

from pathlib import Path

import memoriter
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import CountedEntropy, HandClock, ToyEmbedder


def opened(place: str | Path) -> Memory:
    return memoriter.open(
        place, clock=HandClock(), entropy=CountedEntropy(), embedder=ToyEmbedder(),
        maintenance="manual", flush_rows=3,
    )  # fmt: skip
