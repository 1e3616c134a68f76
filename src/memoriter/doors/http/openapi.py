"""The OpenAPI 3.1 document of the REST routes, made from the table of operations."""

from __future__ import annotations

from typing import Any, Final, cast

from pydantic import BaseModel

from memoriter import __version__
from memoriter.core import errors
from memoriter.doors.http.headers import AFTER
from memoriter.doors.http.problems import MEDIA
from memoriter.doors.operations import OPERATIONS, Operation
from memoriter.doors.schema import Schema, schema_of

_JSON: Final = "application/json"
_ERRORS: Final = tuple(
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, errors.MemoriterError)
)
_HEADERS: Final = {401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After"}


def document() -> Schema:
    """The whole document."""
    schemas: dict[str, Schema] = {"Problem": _problem()}
    paths: dict[str, dict[str, Schema]] = {}
    for operation in OPERATIONS:
        described = _operation(operation, schemas)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Memoriter",
            "version": __version__,
            "description": "A memory engine for agents that explains every answer. "
            f"The tenant comes from the token only. A request with the header {AFTER} is answered "
            "with the log entry that it names, the `seq` of a write's reply, or with 503.",
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {str(status): _refusal(status) for status in statuses()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def statuses() -> list[int]:
    """The HTTP status codes of all our errors."""
    return sorted({each.status for each in _ERRORS})


def _operation(operation: Operation, schemas: dict[str, Schema]) -> Schema:
    """The description of one operation; its schemas are added to `schemas`."""
    in_url = operation.method == "GET"
    # A query string has no null: there a field that is not wanted is left out.
    request = _hoisted(schema_of(operation.request, nulls=not in_url), schemas)
    parts = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    fields = cast("dict[str, Schema]", request.get("properties", {}))
    needed = cast("list[str]", request.get("required", []))
    out: Schema = {
        "operationId": operation.name,
        "summary": operation.summary,
        "x-right": operation.right,
        "responses": {
            "200": {
                "description": (operation.reply.__doc__ or "").partition("\n")[0],
                "content": {_JSON: {"schema": _reply(operation, schemas)}},
            },
            **{str(each): {"$ref": f"#/components/responses/{each}"} for each in statuses()},
        },
    }
    params = [_param(name, "path", fields[name]) for name in parts]
    if in_url:
        rest = [name for name in fields if name not in parts]
        params += [_param(n, "query", fields[n], required=n in needed) for n in rest]
    else:
        name = operation.request.__name__.removesuffix("Request") + "Request"
        schemas[name] = _without(request, parts)
        content = {_JSON: {"schema": {"$ref": f"#/components/schemas/{name}"}}}
        required = bool(set(needed) - set(parts))
        out["requestBody"] = {"required": required, "content": content}
    return {**out, "parameters": params} if params else out


def _param(name: str, place: str, field: Schema, *, required: bool = True) -> Schema:
    about = field.get("description", "")
    schema = {key: value for key, value in field.items() if key != "description"}
    if place == "path":
        schema["minLength"] = 1
    # An object is written as JSON, also in a URL.
    how = {"content": {_JSON: {"schema": schema}}} if _is_object(schema) else {"schema": schema}
    return {"name": name, "in": place, "required": required, "description": about, **how}


def _is_object(schema: Schema) -> bool:
    return any(each.get("type") == "object" for each in (schema, *schema.get("anyOf", ())))


def _without(request: Schema, parts: list[str]) -> Schema:
    """The schema of a body: that of the request without the fields that are in the path."""
    fields = {k: v for k, v in request["properties"].items() if k not in parts}
    out = {**request, "properties": fields}
    left = [name for name in out.pop("required", []) if name not in parts]
    return {**out, "required": left} if left else out


def _reply(operation: Operation, schemas: dict[str, Schema]) -> Schema:
    shapes = [shape for shape in (operation.brief, operation.reply) if shape is not None]
    refs = [_named(shape, schemas) for shape in shapes]
    return refs[0] if len(refs) == 1 else {"anyOf": refs}


def _named(model: type[BaseModel], schemas: dict[str, Schema]) -> Schema:
    schemas[model.__name__] = _hoisted(schema_of(model, nulls=True), schemas)
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _hoisted(schema: Schema, schemas: dict[str, Schema]) -> Schema:
    """The schema; its `$defs` are moved to the components of the document."""
    hoisted = cast("Schema", _relinked(schema))
    schemas.update(hoisted.pop("$defs", {}))
    return hoisted


def _relinked(node: Any) -> Any:
    """The node with references that point to the components instead of `$defs`."""
    if isinstance(node, list):
        return [_relinked(each) for each in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    out = {key: _relinked(value) for key, value in cast("Schema", node).items()}
    if isinstance(out.get("$ref"), str):
        out["$ref"] = out["$ref"].replace("#/$defs/", "#/components/schemas/")
    return out


def _problem() -> Schema:
    """The schema of every error: the members of RFC 9457, then ours."""
    text, maybe = {"type": "string"}, {"type": ["string", "null"]}
    fields: Schema = {
        "type": text, "title": text, "status": {"type": "integer"}, "detail": text,
        "error": text, "message": text, "hint": text, "field": maybe,
        "retryable": {"type": "boolean"},
    }  # fmt: skip
    return {"type": "object", "properties": fields, "required": list(fields)}


def _refusal(status: int) -> Schema:
    names = sorted({each.__name__ for each in _ERRORS if each.status == status})
    out: Schema = {
        "description": ", ".join(names),
        "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status in _HEADERS:
        out["headers"] = {_HEADERS[status]: {"schema": {"type": "string"}}}
    return out
