"""How a data set is asked: strictly, or as another system asks it, by name.

The strict protocol is the data set's own. Others come by entry points of the group
`memoriter.protocols`, each leading to a `Protocol`. Numbers of two protocols cannot be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from memoriter.core import plugins
from memoriter.core.errors import InputError
from memoriter.evaluate.data import Dataset
from memoriter.evaluate.metrics import METRICS
from memoriter.pipeline.foreign_names import resolved_overrides
from memoriter.pipeline.load import overridden
from memoriter.pipeline.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Protocol:
    """One way to ask."""

    asked: Callable[[Dataset], Dataset | None]
    """The data set as it is asked; None for one that cannot be asked so."""
    recipes: tuple[str, ...]
    """What is compared when nothing is named."""
    metrics: tuple[str, ...] = tuple(METRICS)
    """What can be said of the answers."""
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    """How recipes that have these knobs are set."""


STRICT: Final = "strict"
_GROUP: Final = "protocols"
_STRICT: Final = Protocol(lambda dataset: dataset, ("memoriter", "lexical", "semantic"))


def protocol_names() -> tuple[str, ...]:
    """The names of all protocols, ours first."""
    return (STRICT, *(name for name in plugins.points(_GROUP) if name != STRICT))


def protocol_of(name: str) -> Protocol:
    """A protocol by its name."""
    if name == STRICT:
        return _STRICT
    if name not in plugins.points(_GROUP):
        hint = plugins.known(protocol_names())
        raise InputError(f"there is no protocol {name!r}", hint=hint, field="protocol")
    try:
        return plugins.load(_GROUP, name, Protocol)
    except plugins.CannotLoad as error:
        message = f"protocol {name!r} cannot be loaded: {error}"
        raise InputError(message, field="protocol") from error


def compared(
    recipes: Mapping[str, Recipe], settings: Mapping[str, object], without: Sequence[str]
) -> dict[str, Recipe]:
    """The recipes as they are set, and each once more without each of some lanes or boosts."""
    out: dict[str, Recipe] = {}
    used: set[str] = set()
    for label, recipe in recipes.items():
        known = {name: value for name, value in settings.items() if name in recipe.names}
        out[label] = own = overridden(recipe, resolved_overrides(recipe, known)[0])
        for part in without:
            place = "lanes" if part in own.lanes else "boosts" if part in own.boosts else None
            if place is not None:
                out[f"{label} -{part}"] = overridden(own, {f"{place}.{part}.enabled": False})
                used.add(part)
    if unknown := [part for part in without if part not in used]:
        parts = sorted({part for recipe in recipes.values() for part in _engine(recipe)})
        raise InputError(
            f"without: no recipe has {unknown[0]!r}",
            hint=f"known: {', '.join(parts)}",
            field="without",
        )
    return out


def _engine(recipe: Recipe) -> tuple[str, ...]:
    return (*recipe.lanes, *recipe.boosts)
