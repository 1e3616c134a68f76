"""Errors about a recipe in plain words: the path of the mistake, what is wrong, what is allowed.

`load.parse_recipe` calls `recipe_error` with the first problem that pydantic reports.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Union, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from memoriter.core.errors import BadRecipe
from memoriter.core.shown import plain
from memoriter.pipeline.kinds import AnyPart, broken, kinds
from memoriter.pipeline.recipe import Recipe

_MISTAKES: Final = {
    "bool_type": "expected true or false, not {given}",
    "dict_type": "expected a table, not {given}",
    "extra_forbidden": "there is no such option",
    "finite_number": "expected a finite number, not {given}",
    "float_type": "expected a number, not {given}",
    "greater_than": "must be more than {gt}, not {given}",
    "greater_than_equal": "must be at least {ge}, not {given}",
    "int_type": "expected an integer, not {given}",
    "less_than": "must be less than {lt}, not {given}",
    "less_than_equal": "must be at most {le}, not {given}",
    "literal_error": "expected {expected}, not {given}",
    "missing": "is required",
    "model_attributes_type": "expected a table, not {given}",
    "model_type": "expected a table, not {given}",
    "string_type": "expected a text, not {given}",
    "too_long": "has {actual_length} entries, at most {max_length} are allowed",
    "too_short": "has {actual_length} entries, at least {min_length} must be given",
    "tuple_type": "expected a list, not {given}",
    "union_tag_invalid": "there is no kind {tag!r}",
    "union_tag_not_found": "has no kind",
    "value_error": "{error}",
}
"""Pydantic's name of an error → its message; the names in braces are pydantic's too."""
_NAME: Final = re.compile(r"\^(-\?)?\[a-z\]\[a-z0-9([_.-]+)\]\{0,(\d+)\}\$")
"""The pattern of most names."""


def recipe_error(data: object, origin: str, problem: ErrorDetails, hint: str) -> BadRecipe:
    """The error for a problem; `hint` is used where nothing better can be said."""
    path = _path(data, problem["loc"], missing=problem["type"] == "missing")
    tag = str(problem.get("ctx", {}).get("tag", ""))
    if problem["type"] == "extra_forbidden":
        hint = f"known there: {', '.join(_known_keys(data, path))}"
    elif tag in broken:
        hint = f"{tag} cannot be loaded: {broken[tag]}"
    elif problem["type"].startswith("union_tag"):
        hint = f"{'known' if tag else 'add one of'}: {', '.join(_known_kinds(data, path))}"
    message = ": ".join(filter(None, (origin, path, _message(problem))))
    return BadRecipe(message, hint=hint, field=path or "recipe")


def _message(problem: ErrorDetails) -> str:
    """What is wrong with a value."""
    given, context = _given(problem["input"]), problem.get("ctx", {})
    if problem["type"] == "string_pattern_mismatch":
        return f"{given} is not a valid name: use {_pattern_text(str(context['pattern']))}"
    context = {k: f"{v:,.12g}" if isinstance(v, float) else v for k, v in context.items()}
    text = _MISTAKES.get(problem["type"], "{given} is not allowed here")
    return text.format(**context, given=given)


def _given(value: object) -> str:
    """A value as a recipe writes it, on one line and not too long."""
    as_json = json.dumps(value, ensure_ascii=False, default=repr)
    return plain(repr(value) if isinstance(value, str) else as_json)


def _pattern_text(pattern: str) -> str:
    """Which names a pattern allows.

    >>> _pattern_text("^[a-z][a-z0-9_]{0,31}$")
    'a small letter, then at most 31 small letters, digits or _'
    """
    hit = _NAME.fullmatch(pattern)
    if hit is None:
        return f"what matches {pattern}"
    first = "a small letter, or - and a small letter" if hit[1] else "a small letter"
    return f"{first}, then at most {hit[3]} small letters, digits or {' or '.join(hit[2])}"


# -- where in a recipe -----------------------------------------------------------------------------


def children(at: object) -> dict[str, object]:
    """The children of a part of a recipe, by the key that a path uses."""
    if isinstance(at, list):
        return {str(n): item for n, item in enumerate(cast("list[object]", at))}
    return cast("dict[str, object]", at) if isinstance(at, dict) else {}


def _path(data: object, parts: Sequence[int | str], *, missing: bool) -> str:
    """The path of a mistake; `missing` says that its last part is a key that is not there.

    Pydantic also lists the kinds that it tried; these are left out.
    """
    out: list[str] = []
    at = data
    for n, part in enumerate(parts):
        below = children(at)
        if str(part) not in below and not (missing and n == len(parts) - 1):
            continue
        out.append(str(part))
        at = below.get(str(part))
    return ".".join(out)


def _known_keys(data: object, path: str) -> list[str]:
    """The keys that are allowed at the last level of a path."""
    at: Any = Recipe
    for key in path.split(".")[:-1]:
        data = children(data).get(key)
        at = _chosen(_inside(at, key), data)
    return list(_fields(at)) if isinstance(at, type) and issubclass(at, BaseModel) else []


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


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _inside(at: Any, key: str) -> Any:
    """The type under a key: of a field of a model, or of the items of a table or list."""
    if isinstance(at, type) and issubclass(at, BaseModel):
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


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Every model inside a type."""
    any_of = [each for each in get_args(annotation) if isinstance(each, AnyPart)]
    if any_of:
        yield from kinds(any_of[0].group)
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Annotated, Union, types.UnionType, dict, tuple):
        for each in get_args(annotation):
            yield from _models(each)
