"""A recipe cut down to its lanes of one kind, by their own scores."""

from __future__ import annotations

from memoriter.core.errors import BadRecipe
from memoriter.index.ties import ATTRIBUTES
from memoriter.pipeline.load import parse
from memoriter.pipeline.recipe import Recipe


def alone(recipe: Recipe, kind: str) -> Recipe:
    """The lanes of a kind and nothing else; a recipe that has nothing else stays as it is."""
    labels = [label for label, lane in recipe.lanes.items() if lane.kind_name() == kind]
    if not labels:
        raise BadRecipe(f"recipe {recipe.name} has no lane of kind {kind}", field="recipe")
    if len(labels) == len(recipe.lanes) and not recipe.boosts and not recipe.order:
        return recipe
    data = recipe.to_data()
    scores = {"kind": "weighted", "scale": "none", "weights": dict.fromkeys(labels, 1.0)}
    kept = ("format", "version", "about", "analyzer", "window", "select", "final")
    parts = {key: data[key] for key in kept}
    parts |= {
        "name": f"{recipe.name}-alone",
        "ties": [tie for tie in data["ties"] if tie.removeprefix("-") in ATTRIBUTES],
        "lanes": {label: {**data["lanes"][label], "enabled": True} for label in labels},
        "pass": [{"fuse": scores}],
    }
    return parse(parts, f"recipe {recipe.name}")
