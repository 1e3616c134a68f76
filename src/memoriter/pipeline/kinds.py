"""Every kind of lane, boost and ordering that a recipe can name: ours, and those of other packages.

A package brings its own by an entry point in the group `memoriter.lanes`, `memoriter.boosts` or
`memoriter.orderings`, named as the kind, that leads to a class like those here. One that cannot be
loaded is left out, and said to be when a recipe asks for it.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any, Final

from memoriter.core import plugins
from memoriter.core.errors import message_of
from memoriter.lanes.spec import Spec

_log: Final = logging.getLogger(__name__)
_LANES: Final = (
    "memoriter.lanes.words:Words",
    "memoriter.lanes.kin:Kin",
    "memoriter.lanes.meaning:Meaning",
    "memoriter.lanes.graph:Walk",
    "memoriter.lanes.legs:Hops",
    "memoriter.lanes.legs:Cheapest",
    "memoriter.lanes.entity:Entity",
    "memoriter.lanes.moment:Near",
    "memoriter.lanes.origins:Origins",
    "memoriter.lanes.listed:Listed",
    "memoriter.lanes.listed:By",
)
_BOOSTS: Final = (
    "memoriter.pipeline.boosts.recency:Recency",
    "memoriter.pipeline.boosts.importance:Importance",
    "memoriter.pipeline.boosts.attributes:Confidence",
    "memoriter.pipeline.boosts.attributes:Priority",
    "memoriter.pipeline.boosts.attributes:Trust",
    "memoriter.pipeline.boosts.attributes:Reflections",
    "memoriter.pipeline.boosts.cohesion:Cohesion",
    "memoriter.pipeline.boosts.session:Session",
    "memoriter.pipeline.boosts.neighbours:Neighbours",
    "memoriter.pipeline.boosts.sources:Sources",
    "memoriter.pipeline.boosts.intent:Intent",
    "memoriter.pipeline.boosts.moment:Moment",
)
_ORDERINGS: Final = (
    "memoriter.pipeline.orderings.mmr:Mmr",
    "memoriter.pipeline.orderings.collapse:Collapse",
    "memoriter.pipeline.orderings.cap:Cap",
)
_OURS: Final = {"lanes": _LANES, "boosts": _BOOSTS, "orderings": _ORDERINGS}
broken: Final[dict[str, str]] = {}
"""Kinds that another package promises and that cannot be loaded, and why."""


@cache
def kinds(what: str) -> tuple[type[Spec], ...]:
    """The classes of lanes, boosts or orderings, ours first."""
    ours: list[type[Spec]] = []
    for place in _OURS[what]:
        module, _, name = place.partition(":")
        ours.append(getattr(import_module(module), name))
    known = {kind_of(each) for each in ours}
    for point in plugins.points(what).values():
        made = _loaded(point, what, known)
        if made is not None:
            ours.append(made)
            known.add(point.name)
    return tuple(ours)


def kind_of(made: type[Spec]) -> str:
    """The one value of a class's `kind`."""
    told: Any = made.model_fields["kind"].annotation
    return str(told.__args__[0])


def _loaded(point: EntryPoint, what: str, known: set[str]) -> type[Spec] | None:
    try:
        made = point.load()
        if not (isinstance(made, type) and issubclass(made, Spec)):
            raise TypeError(f"{point.value} is no memoriter.lanes.spec.Spec")  # noqa: TRY301  # told below
        if kind_of(made) != point.name:
            raise TypeError(f"{point.value} is of kind {kind_of(made)!r}")  # noqa: TRY301  # told below
        if point.name in known:
            raise TypeError(f"there is a kind {point.name!r} already")  # noqa: TRY301  # told below
    except Exception as error:  # whatever another package raises when it is loaded
        broken[point.name] = f"{type(error).__name__}: {message_of(error)}"
        _log.warning("%s %r cannot be loaded: %s", what, point.name, broken[point.name])
        return None
    return made
