"""JSON Schema of requests and replies, for OpenAPI and for MCP tools.

Schemas are shortened as far as their meaning allows: a model reads those of its tools before every
question, and pays for each token.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from pydantic import BaseModel

Schema = dict[str, Any]


def schema_of(
    model: type[BaseModel], only: Collection[str] | None = None, *, nulls: bool = False
) -> Schema:
    """The schema of a model; `only` keeps just these fields.

    With `nulls` it is exact: a field that may be left out may also be null. Without, that null is
    not mentioned, which is shorter.
    """
    schema = cast("Schema", _short(model.model_json_schema(), nulls=nulls))
    if only is not None:
        schema["properties"] = {k: v for k, v in schema.get("properties", {}).items() if k in only}
    return schema


def _short(node: Any, *, nulls: bool) -> Any:
    """A part of a schema without titles, docstrings of models, and optional nulls."""
    if isinstance(node, list):
        return [_short(each, nulls=nulls) for each in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    full = cast("Schema", node)
    out = {
        key: _short(value, nulls=nulls)
        for key, value in full.items()
        if key != "title" or _is_field(value)
    }
    if out.get("type") == "object" and "properties" in out:
        # Once more from the original, field by field: above, the name of a field (`type`, `title`)
        # could be taken for the keyword of that name.
        out["properties"] = {
            name: _short(value, nulls=nulls) for name, value in full["properties"].items()
        }
        out.pop("description", None)
    if out.get("additionalProperties") is True:  # the default of JSON Schema
        out.pop("additionalProperties")
    return _joined(out if nulls else _without_null(out))


def _is_field(value: object) -> bool:
    """Whether the key `title` names a field here: the keyword `title` has a text as its value."""
    return isinstance(value, dict)


def _without_null(node: Schema) -> Schema:
    """The schema of a field without `null` among its types, if its default is null."""
    arms = node.get("anyOf")
    if arms is None or node.get("default", 0) is not None:
        return node
    left = [arm for arm in arms if arm != {"type": "null"}]
    rest = {key: value for key, value in node.items() if key not in ("anyOf", "default")}
    return {**rest, **left[0]} if len(left) == 1 else {**rest, "anyOf": left}


def _joined(node: Schema) -> Schema:
    """Alternatives as one schema with a list of types, where that means the same.

    It does if all types differ and no keyword occurs twice: a keyword such as `items` applies only
    to values of its own type. References and enumerations apply to any type, so they stay apart.
    """
    arms = cast("list[Schema]", node.get("anyOf", []))
    types = [arm.get("type") for arm in arms]
    keywords = [key for arm in arms for key in arm if key != "type"]
    distinct = len(set(map(str, types))) == len(types) and len(set(keywords)) == len(keywords)
    if not arms or not distinct or any(type(each) is not str for each in types):
        return node
    if {"enum", "const", "$ref", "anyOf"} & set(keywords):
        return node
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    more = {key: value for arm in arms for key, value in arm.items() if key != "type"}
    return {**rest, "type": types, **more}


def outline_of(model: type[BaseModel]) -> Schema:
    """The fields of a reply and their types, one level deep."""
    schema = model.model_json_schema()
    types = {name: _type_of(part, schema) for name, part in schema.get("properties", {}).items()}
    return {"type": "object", "properties": types, **_required(schema)}


def names_of(model: type[BaseModel]) -> Schema:
    """The names of the fields that a reply always has, without their types."""
    return {"type": "object", **_required(model.model_json_schema())}


def _required(schema: Schema) -> Schema:
    return {"required": schema["required"]} if "required" in schema else {}


def _type_of(part: Schema, schema: Schema) -> Schema:
    """The type of a part of a schema; references are followed into the `$defs` of the whole."""
    if "$ref" in part:
        part = schema["$defs"][str(part["$ref"]).rpartition("/")[2]]
    if "anyOf" in part:
        arms = [_type_of(arm, schema) for arm in part["anyOf"]]
        return {"type": [arm["type"] for arm in arms if "type" in arm]}
    return {"type": part["type"]} if "type" in part else {}
