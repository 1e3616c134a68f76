"""Errors about a recipe in plain words: the path of the mistake, what is wrong, what is allowed.

`load.parse_recipe` calls `recipe_error` with the first mistake in the data.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Union, cast, get_args, get_origin

from memoriter.core.errors import BadRecipe
from memoriter.core.validation import DataMistake, OneOf
from memoriter.lanes.spec import Spec, fields_of
from memoriter.pipeline.kinds import broken
from memoriter.pipeline.recipe import Recipe


def recipe_error(data: object, origin: str, mistake: DataMistake, hint: str) -> BadRecipe:
    """The error for a mistake; `hint` is used where nothing better can be said."""
    path, tag = ".".join(map(str, mistake.path)), mistake.tag
    if mistake.kind == "unknown":
        hint = f"known there: {', '.join(_known_keys(data, path))}"
    elif tag in broken:
        hint = f"{tag} cannot be loaded: {broken[tag]}"
    elif mistake.kind == "kind":
        hint = f"{'known' if tag else 'add one of'}: {', '.join(_known_kinds(data, path))}"
    message = ": ".join(filter(None, (origin, path, mistake.message)))
    return BadRecipe(message, hint=hint, field=path or "recipe")


# -- where in a recipe -----------------------------------------------------------------------------


def children(at: object) -> dict[str, object]:
    """The children of a part of a recipe, by the key that a path uses."""
    if isinstance(at, list):
        return {str(n): item for n, item in enumerate(cast("list[object]", at))}
    return cast("dict[str, object]", at) if isinstance(at, dict) else {}


def _known_keys(data: object, path: str) -> list[str]:
    """The keys that are allowed at the last level of a path."""
    at: Any = Recipe
    for key in path.split(".")[:-1]:
        data = children(data).get(key)
        at = _chosen(_inside(at, key), data)
    return list(_fields(at)) if isinstance(at, type) and issubclass(at, Spec) else []


def _known_kinds(data: object, path: str) -> list[str]:
    """The kinds that the part at a path may be of."""
    inside: Any = None
    at: Any = Recipe
    for key in path.split("."):
        data = children(data).get(key)
        inside = _inside(at, key)
        at = _chosen(inside, data)
    models = _models(inside)
    return [kind for one in models for kind in get_args(_fields(one).get("kind"))]


def _fields(spec: type[Spec]) -> dict[str, Any]:
    return {each.key: each.hint for each in fields_of(spec).values()}


def _inside(at: Any, key: str) -> Any:
    """The type under a key: of a field of a model, or of the items of a table or list."""
    if isinstance(at, type) and issubclass(at, Spec):
        return _fields(at).get(key)
    parts: tuple[Any, ...] = get_args(at)
    return parts[-1] if get_origin(at) is dict else cast("Any", at)


def _chosen(annotation: Any, data: object) -> Any:
    """The model that data is meant to be: by its kind, where there are several."""
    if get_origin(annotation) is dict:
        return annotation
    models = list(_models(annotation))
    kind = children(data).get("kind")
    named = [one for one in models if kind in get_args(_fields(one).get("kind"))]
    return next(iter(named or models), None) if isinstance(data, Mapping) else annotation


def _models(annotation: Any) -> Iterator[type[Spec]]:
    """Every model inside a type."""
    one_of = [each for each in get_args(annotation) if isinstance(each, OneOf)]
    if one_of:
        yield from one_of[0].known()
    elif isinstance(annotation, type) and issubclass(annotation, Spec):
        yield annotation
    elif get_origin(annotation) in (Annotated, Union, types.UnionType, dict, tuple):
        for each in get_args(annotation):
            yield from _models(each)
