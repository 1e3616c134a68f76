"""Evaluation protocols by name: how a data set is prepared and which recipes are compared.

The protocol `strict` leaves the data set as it is. Others are loaded from entry points of the group
`memoriter.protocols`, each of which is an `EvalProtocol`. Numbers of two protocols are not
comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Final

from memoriter.core import plugins
from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.evaluate.data import Dataset
from memoriter.evaluate.metrics import METRICS
from memoriter.pipeline.foreign_names import resolved_overrides
from memoriter.pipeline.load import overridden
from memoriter.pipeline.recipe import Recipe


@dataclass(frozen=True, slots=True)
class EvalProtocol:
    """How a data set is evaluated."""

    adapt: Callable[[Dataset], Dataset | None]
    """Prepares a data set; returns None for one that this protocol cannot use."""
    recipes: tuple[str, ...]
    """The recipes that are compared by default."""
    metrics: tuple[str, ...] = tuple(METRICS)
    """The metrics that make sense under this protocol."""
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    """Values for recipe options, by the names that a recipe gives them; others ignore them."""


STRICT: Final = "strict"
_GROUP: Final = "protocols"
_STRICT: Final = EvalProtocol(lambda dataset: dataset, ("memoriter", "lexical", "semantic"))


def protocol_names() -> tuple[str, ...]:
    """The names of all protocols, `strict` first."""
    return (STRICT, *(name for name in plugins.points(_GROUP) if name != STRICT))


def protocol_of(name: str) -> EvalProtocol:
    """The protocol of that name; raises InputError if there is none or it cannot be loaded."""
    if name == STRICT:
        return _STRICT
    if name not in plugins.points(_GROUP):
        raise plugins.unknown("protocol", name, protocol_names(), InputError)
    try:
        return plugins.load(_GROUP, name, EvalProtocol)
    except plugins.CannotLoad as error:
        raise plugins.unusable("protocol", name, error, InputError) from error


def with_ablations(
    recipes: Mapping[str, Recipe], settings: Mapping[str, object], without: Sequence[str]
) -> dict[str, Recipe]:
    """The recipes with their settings, and an ablation of each for every part in `without`.

    A part is the label of a lane or a boost, which the ablation disables. Raises InputError if no
    recipe has a part.
    """
    out: dict[str, Recipe] = {}
    used: set[str] = set()
    for label, recipe in recipes.items():
        known = {name: value for name, value in settings.items() if name in recipe.names}
        out[label] = own = overridden(recipe, resolved_overrides(recipe, known)[0])
        for part in without:
            group = "lanes" if part in own.lanes else "boosts" if part in own.boosts else None
            if group is not None:
                out[f"{label} -{part}"] = overridden(own, {f"{group}.{part}.enabled": False})
                used.add(part)
    if unknown := [part for part in without if part not in used]:
        parts = sorted({part for recipe in recipes.values() for part in _parts(recipe)})
        raise InputError(
            f"without: no recipe has a lane or a boost {unknown[0]!r}",
            hint=f"known: {', '.join(parts)}",
            field="without",
        )
    return out


def _parts(recipe: Recipe) -> tuple[str, ...]:
    return (*recipe.lanes, *recipe.boosts)
