"""The kinds that the oracle knows: one file each in `lanes/`, `boosts/` and `orderings/`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from tests.oracle.rules import BoostOracle, LaneOracle, OrderingOracle


@cache
def lanes() -> Mapping[str, LaneOracle]:
    """The lanes, by kind."""
    return _oracles("lanes")


@cache
def boosts() -> Mapping[str, BoostOracle]:
    """The boosts, by kind."""
    return _oracles("boosts")


@cache
def orderings() -> Mapping[str, OrderingOracle]:
    """The orderings, by kind."""
    return _oracles("orderings")


def _oracles(folder: str) -> dict[str, Any]:
    package = import_module(f"tests.oracle.{folder}")
    names = sorted(one.name for one in iter_modules(package.__path__))
    return {name: import_module(f"{package.__name__}.{name}").ORACLE for name in names}
