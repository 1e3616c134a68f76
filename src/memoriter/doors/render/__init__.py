"""Draws what a command prints for people, with rich.

A module here is imported when it is first used, as in `render.hits.hit_list(result)`: `--json` and
`--help` then load neither rich nor the engine, and commands need no imports inside functions.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memoriter.doors.render import hits, ink, proof, recipes, records, reports, tree

__all__ = ["hits", "ink", "proof", "recipes", "records", "reports", "tree"]

if not TYPE_CHECKING:  # so that type checkers notice a name that does not exist

    def __getattr__(name: str) -> object:
        if name in __all__:
            return importlib.import_module(f"{__name__}.{name}")
        raise AttributeError(name)
