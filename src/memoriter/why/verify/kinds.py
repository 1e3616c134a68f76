"""The kinds that this verifier knows: one file each in `lanes/`, `boosts/` and `orderings/`.

A kind is looked up in the list of these files. A name in a receipt is never imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from .rules import BoostRule, LaneRule, OrderingRule


@cache
def lane_rules() -> Mapping[str, LaneRule]:
    """The rules of lanes, by kind."""
    from . import lanes  # noqa: PLC0415  # read when a receipt is verified, not when one is written

    return _rules(lanes)


@cache
def boost_rules() -> Mapping[str, BoostRule]:
    """The rules of boosts, by kind."""
    from . import boosts  # noqa: PLC0415  # as above

    return _rules(boosts)


@cache
def ordering_rules() -> Mapping[str, OrderingRule]:
    """The rules of orderings, by kind."""
    from . import orderings  # noqa: PLC0415  # as above

    return _rules(orderings)


def _rules(package: ModuleType) -> dict[str, Any]:
    """`RULE` of every file in a package, by the name of the file."""
    names = sorted(each.name for each in iter_modules(package.__path__))
    return {name: import_module(f"{package.__name__}.{name}").RULE for name in names}
