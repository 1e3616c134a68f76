"""Which keys a part of a recipe has: what an error lists when one is misspelt."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Union, cast, get_args, get_origin

from pydantic import BaseModel

from memoriter.pipeline.recipe import Recipe


def known_at(data: object, path: str) -> list[str]:
    """The keys that stand beside the last one of a path."""
    at: Any = Recipe
    for key in path.split(".")[:-1]:
        data = _below(data, key)
        at = _chosen(_inside(at, key), data)
    return list(_fields(at)) if isinstance(at, type) and issubclass(at, BaseModel) else []


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _below(data: object, key: str) -> object:
    if isinstance(data, Mapping):
        return cast("Mapping[str, object]", data).get(key)
    if isinstance(data, Sequence) and not isinstance(data, str) and key.isdigit():
        items = cast("Sequence[object]", data)
        return items[int(key)] if int(key) < len(items) else None
    return None


def _inside(at: Any, key: str) -> Any:
    """The type of what stands under a key: a field of a model, or the items of a table or list."""
    if isinstance(at, type) and issubclass(at, BaseModel):
        return _fields(at).get(key)
    parts: tuple[Any, ...] = get_args(at)
    return parts[-1] if get_origin(at) is dict else cast("Any", at)


def _chosen(told: Any, data: object) -> Any:
    """The model that data is meant to be: by its kind, where there are several."""
    if get_origin(told) is dict:
        return told
    found = list(_models(told))
    kind = _below(data, "kind")
    named = [one for one in found if kind in get_args(_fields(one).get("kind"))]
    return next(iter(named or found), None) if isinstance(data, Mapping) else told


def _models(told: Any) -> Iterator[type[BaseModel]]:
    """Every model inside a type."""
    if isinstance(told, type) and issubclass(told, BaseModel):
        yield told
    elif get_origin(told) in (Annotated, Union, types.UnionType, dict, tuple):
        for each in get_args(told):
            yield from _models(each)
