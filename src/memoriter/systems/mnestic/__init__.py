"""mnestic: recipe, importer of its dumps, query dialect, and its typed call."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from memoriter.systems.mnestic.typed import GraphLeg, HybridList, HybridSearch, MmrParams

__all__ = ["RECIPE", "GraphLeg", "HybridList", "HybridSearch", "MmrParams"]

RECIPE: Final = Path(__file__).with_name("recipe.toml")


def __getattr__(name: str) -> object:
    """The typed call, loaded on first use: who names the recipe needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.typed"), name)
