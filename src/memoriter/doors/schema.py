"""JSON Schema of requests and replies, as short as it can be said."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from pydantic import BaseModel

Schema = dict[str, Any]


def schema_of(
    model: type[BaseModel], only: Collection[str] | None = None, *, nulls: bool = False
) -> Schema:
    """The schema of a model, self-contained; `only` keeps some of its fields.

    With `nulls` it is exact: a field that may be left out may also be null.
    """
    made = cast("Schema", _short(model.model_json_schema(), nulls=nulls))
    if only is not None:
        made["properties"] = {k: v for k, v in made.get("properties", {}).items() if k in only}
    return made


def _short(node: Any, *, nulls: bool) -> Any:
    """Without titles, docstrings of models, and the null of what may be left out."""
    if isinstance(node, list):
        return [_short(each, nulls=nulls) for each in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    told = cast("Schema", node)
    out = {
        key: _short(value, nulls=nulls)
        for key, value in told.items()
        if key != "title" or key_is(value)
    }
    if out.get("type") == "object" and "properties" in out:
        out["properties"] = {
            name: _short(value, nulls=nulls) for name, value in told["properties"].items()
        }
        out.pop("description", None)
    if out.get("additionalProperties") is True:  # as it is where nothing is said
        out.pop("additionalProperties")
    return _joined(out if nulls else _without_null(out))


def key_is(value: object) -> bool:
    """Whether `title` is the name of a field here, and not an annotation."""
    return isinstance(value, dict)


def _without_null(node: Schema) -> Schema:
    """A field that may be left out needs no null beside its type."""
    arms = node.get("anyOf")
    if arms is None or node.get("default", 0) is not None:
        return node
    left = [arm for arm in arms if arm != {"type": "null"}]
    rest = {key: value for key, value in node.items() if key not in ("anyOf", "default")}
    return {**rest, **left[0]} if len(left) == 1 else {**rest, "anyOf": left}


def _joined(node: Schema) -> Schema:
    """Alternatives of different types as one: what is said of arrays holds for arrays alone."""
    arms = cast("list[Schema]", node.get("anyOf", []))
    types = [arm.get("type") for arm in arms]
    words = [key for arm in arms for key in arm if key != "type"]
    apart = len(set(map(str, types))) == len(types) and len(set(words)) == len(words)
    if not arms or not apart or any(type(told) is not str for told in types):
        return node
    if {"enum", "const", "$ref", "anyOf"} & set(words):
        return node
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    more = {key: value for arm in arms for key, value in arm.items() if key != "type"}
    return {**rest, "type": types, **more}


def outline_of(model: type[BaseModel]) -> Schema:
    """What stands in a reply and of which type, one level deep: enough to find one's way."""
    made = model.model_json_schema()
    named = {name: _type_of(told, made) for name, told in made.get("properties", {}).items()}
    return {"type": "object", "properties": named, **_required(made)}


def names_of(model: type[BaseModel]) -> Schema:
    """What always stands in a reply, by name alone."""
    return {"type": "object", **_required(model.model_json_schema())}


def _required(made: Schema) -> Schema:
    return {"required": made["required"]} if "required" in made else {}


def _type_of(told: Schema, whole: Schema) -> Schema:
    if "$ref" in told:
        told = whole["$defs"][str(told["$ref"]).rpartition("/")[2]]
    if "anyOf" in told:
        arms = [_type_of(arm, whole) for arm in told["anyOf"]]
        types = [arm["type"] for arm in arms if "type" in arm]
        return {"type": types}
    return {"type": told["type"]} if "type" in told else {}
