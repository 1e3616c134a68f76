"""The rules of the known kinds: one file per kind in `lanes/`, `boosts/` and `orderings/`.

A kind of a receipt is looked up among these files. A name from a receipt is never imported, because
a receipt may come from anybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from . import boosts, lanes, orderings
from .rules import BoostRule, LaneRule, OrderingRule


@cache
def lane_rules() -> Mapping[str, LaneRule]:
    """The rules of lanes, by kind."""
    return _rules(lanes)


@cache
def boost_rules() -> Mapping[str, BoostRule]:
    """The rules of boosts, by kind."""
    return _rules(boosts)


@cache
def ordering_rules() -> Mapping[str, OrderingRule]:
    """The rules of orderings, by kind."""
    return _rules(orderings)


def _rules(package: ModuleType) -> dict[str, Any]:
    """`RULE` of every file in a package, by the name of the file."""
    names = sorted(each.name for each in iter_modules(package.__path__))
    return {name: import_module(f"{package.__name__}.{name}").RULE for name in names}
