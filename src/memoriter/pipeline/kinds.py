"""The table of every lane, boost and ordering that a recipe can name: ours and those of plugins.

To add a kind, add one line here (see CONTRIBUTING.md). Another package adds its own by an entry
point in the group `memoriter.lanes`, `memoriter.boosts` or `memoriter.orderings` whose name is the
kind and whose value is a class like those here. A plugin that cannot be loaded is left out; a
recipe that names it gets an error with the reason. A kind is imported when a recipe names it
(`part_of`), so that a start does not load them all.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from memoriter.core import plugins
from memoriter.core.errors import message_of
from memoriter.core.validation import OneOf
from memoriter.lanes.port import Lane
from memoriter.lanes.spec import RecipePart
from memoriter.pipeline.boosts.port import Boost
from memoriter.pipeline.orderings.port import Ordering

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_log: Final = logging.getLogger(__name__)
_LANES: Final = (
    "memoriter.lanes.bm25:Bm25Lane",
    "memoriter.lanes.kin:KinLane",
    "memoriter.lanes.vector:VectorLane",
    "memoriter.lanes.walk:WalkLane",
    "memoriter.lanes.hops:HopsLane",
    "memoriter.lanes.cheapest:CheapestLane",
    "memoriter.lanes.entity:EntityLane",
    "memoriter.lanes.moment:MomentLane",
    "memoriter.lanes.sources:SourcesLane",
    "memoriter.lanes.list:ListLane",
    "memoriter.lanes.by:ByLane",
)
_BOOSTS: Final = (
    "memoriter.pipeline.boosts.recency:RecencyBoost",
    "memoriter.pipeline.boosts.importance:ImportanceBoost",
    "memoriter.pipeline.boosts.confidence:ConfidenceBoost",
    "memoriter.pipeline.boosts.priority:PriorityBoost",
    "memoriter.pipeline.boosts.trust:TrustBoost",
    "memoriter.pipeline.boosts.reflection:ReflectionBoost",
    "memoriter.pipeline.boosts.cohesion:CohesionBoost",
    "memoriter.pipeline.boosts.session:SessionBoost",
    "memoriter.pipeline.boosts.around:AroundBoost",
    "memoriter.pipeline.boosts.who:WhoBoost",
    "memoriter.pipeline.boosts.neighbours:NeighboursBoost",
    "memoriter.pipeline.boosts.sources:SourcesBoost",
    "memoriter.pipeline.boosts.intent:IntentBoost",
    "memoriter.pipeline.boosts.moment:MomentBoost",
    "memoriter.pipeline.boosts.past:PastBoost",
    "memoriter.pipeline.boosts.dated:DatedBoost",
    "memoriter.pipeline.boosts.echo:EchoBoost",
)
_ORDERINGS: Final = (
    "memoriter.pipeline.orderings.mmr:MmrOrdering",
    "memoriter.pipeline.orderings.collapse:CollapseOrdering",
    "memoriter.pipeline.orderings.copies:CopiesOrdering",
    "memoriter.pipeline.orderings.cap:CapOrdering",
    "memoriter.pipeline.orderings.crowd:CrowdOrdering",
    "memoriter.pipeline.orderings.by_trust:ByTrustOrdering",
)
_OURS: Final = {"lanes": _LANES, "boosts": _BOOSTS, "orderings": _ORDERINGS}
_BASES: Final[Mapping[str, type[RecipePart]]] = {
    "lanes": Lane,
    "boosts": Boost,
    "orderings": Ordering,
}
broken: Final[dict[str, str]] = {}
"""By kind, why a plugin could not be loaded."""


@cache
def kinds(group: str) -> tuple[type[RecipePart], ...]:
    """The classes of a group (`lanes`, `boosts`, `orderings`), ours first."""
    ours = [_imported(place) for place in _OURS[group]]
    known = {each.kind_name() for each in ours}
    for point in plugins.points(group).values():
        part = _loaded(point, group, known)
        if part is not None:
            ours.append(part)
            known.add(point.name)
    return tuple(ours)


@cache
def part_of(group: str, kind: str) -> type[RecipePart] | None:
    """The class of a kind, imported alone; None if it is unknown."""
    for place in _OURS[group]:
        if place.partition(":")[0].rpartition(".")[2] == kind:  # its module is named after it
            return _imported(place)
    return next((each for each in kinds(group) if each.kind_name() == kind), None)


def _imported(place: str) -> type[RecipePart]:
    module, _, name = place.partition(":")
    return cast("type[RecipePart]", getattr(import_module(module), name))


def any_part(group: str) -> OneOf:
    """The rule of an option: a part of any kind of a group, whose class reads the rest."""
    return OneOf(partial(part_of, group), partial(kinds, group))


def _loaded(point: EntryPoint, group: str, known: set[str]) -> type[RecipePart] | None:
    try:
        part = point.load()
        base = _BASES[group]
        if not (isinstance(part, type) and issubclass(part, base)):
            raise TypeError(f"{point.value} is not a subclass of {base.__module__}.{base.__name__}")  # noqa: TRY301  # reported below
        if part.kind_name() != point.name:
            raise TypeError(  # noqa: TRY301  # reported below
                f"{point.value} has the kind {part.kind_name()!r}, but its entry point is named"
                f" {point.name!r}"
            )
        if point.name in known:
            raise TypeError(f"there is already a kind {point.name!r}")  # noqa: TRY301  # reported below
    except Exception as error:  # whatever another package raises when it is loaded
        broken[point.name] = f"{type(error).__name__}: {message_of(error)}"
        _log.warning("%s %r cannot be loaded: %s", group, point.name, broken[point.name])
        return None
    return part
