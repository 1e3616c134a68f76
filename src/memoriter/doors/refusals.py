"""The error for a request whose fields do not fit its model, in plain words."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, get_args

from pydantic import BaseModel

from memoriter.core.errors import InputError
from memoriter.core.fields import TIMES
from memoriter.core.other_words import right_word
from memoriter.core.record import FIELDS

Problem = Mapping[str, Any]
"""One entry of `ValidationError.errors()`."""
_ARMS: Final = frozenset({"str", "int", "float", "bool", "dict", "list"})
_REQUIRED: Final = {"receipt": "send the receipt that recall answered with"}
"""Where a required field comes from, if callers do not have it at hand."""
_EXPECTED: Final[tuple[tuple[str, str, object], ...]] = (
    ("string", "text", "…"),
    ("int", "a whole number", 5),
    ("float", "a number", 0.5),
    ("finite", "a finite number", 0.5),
    ("bool", "true or false", True),
    ("list", "a list", ["…"]),
    ("dict", "an object", {"…": "…"}),
    ("model", "an object", {"text": "…"}),
)
"""By the beginning of a problem's type: what was expected, and an example."""
_EXAMPLES: Final[Mapping[str, object]] = {
    **dict.fromkeys(("as_of", "known_at", "now", "at"), "2026-10-01"),
    **{name: "2026-10-01" for name, field in FIELDS.items() if field.kind in TIMES},
    "memories": ["…"],
    "links": [{"target": "…", "kind": "about"}],
    "vector": [0.1, 0.2],
    "overrides": {"lanes.words.k1": 1.5},
    "lists": {"given": [["…", 0.9]]},
    "source": {"who": "ana"},
    "metadata": {"tool": "http"},
}
"""Fields for which an example of their type would not be enough."""
_SHORT: Final = 40
"""How many characters of a value fit into a hint."""


_LOOKED: Final = 32
"""How many problems are looked at to choose the one to report."""


def misfit(model: type[BaseModel], problems: Sequence[Problem]) -> InputError:
    """The first problem that pydantic reports, in our words and under the path of the field."""
    paths = [_path(each) for each in problems]
    # Every arm of a union has a problem: those of the arm that fits best lie below the others.
    above = {tuple(path[:end]) for path in paths for end in range(len(path))}
    problems = [
        each for each, path in zip(problems, paths, strict=True) if tuple(path) not in above
    ]
    first = _telling(model, problems)
    path = _path(first)
    field = ".".join(path) or "request"
    if first["type"] == "extra_forbidden":
        return unknown_field(field, path[-1], _fields_at(model, path), first["input"])
    if first["type"] == "missing":
        hint = _REQUIRED.get(field, f"send {_example(path, '…')}")
        return InputError(f"{field}: is required", hint=hint, field=field)
    same = [each for each in problems if _path(each) == path]
    expected = " or ".join(dict.fromkeys(map(_expected, same)))
    got = _kind(first["input"])
    return InputError(
        f"{field}: expected {expected}, got {got}", hint=_hint(path, same[-1]), field=field
    )


def unknown_field(
    path: str, name: str, known: Collection[str], value: object = None, otherwise: str = ""
) -> InputError:
    """The error for a field that a request does not have; its hint suggests a known one."""
    hint = (
        right_word(name, list(known), otherwise, value) if known else "this request takes no fields"
    )
    return InputError(f"{path}: there is no such field", hint=hint, field=path)


def _telling(model: type[BaseModel], problems: Sequence[Problem]) -> Problem:
    """The problem to report: an unknown field that means one that is missing, else the first."""
    missing = [_path(each) for each in problems if each["type"] == "missing"]
    for problem in problems[:_LOOKED]:
        if problem["type"] == "extra_forbidden":
            *place, name = _path(problem)
            hint = right_word(name, _fields_at(model, [*place, name]))
            if any(f"called {path[-1]} here" in hint for path in missing if path[:-1] == place):
                return problem
    return problems[0]


def _fields_at(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    """The names of the fields of the object that the last part of a path belongs to."""
    for part in path[:-1]:
        if part in model.model_fields:
            model = next(_models_in(model.model_fields[part].annotation), model)
    return list(model.model_fields)


def _models_in(hint: Any) -> Iterator[type[BaseModel]]:
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        yield hint
    for arm in get_args(hint):
        yield from _models_in(arm)


def _path(problem: Problem) -> list[str]:
    """The path of a field.

    In a location pydantic also lists the arm of a union that it tried (`str`, `list[str]`).
    Callers do not know those, so they are dropped, unless it is the name of an unknown field.
    """
    *above, last = [str(part) for part in problem["loc"]] or [""]
    names = [part for part in above if not _is_arm(part)]
    keep = problem["type"] == "extra_forbidden" or not _is_arm(last)
    return [*names, last] if keep else names


def _is_arm(part: str) -> bool:
    """Whether a part of a location names an arm of a union and not a field."""
    return part in _ARMS or "[" in part or part[:1].isupper()


def _expected(problem: Problem) -> str:
    if problem["type"] == "literal_error":
        return str(problem["ctx"]["expected"]).replace("'", "")
    return _known(problem)[0]


def _known(problem: Problem) -> tuple[str, object]:
    """What was expected, and an example."""
    for kind, words, example in _EXPECTED:
        if str(problem["type"]).startswith(kind):
            return words, example
    return "another value", "…"


def _kind(value: object) -> str:
    """What a value of JSON is."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if len(value) <= _SHORT else "text"
    if isinstance(value, int | float):
        return "a number"
    return "a list" if isinstance(value, list) else "an object"


def _hint(path: Sequence[str], problem: Problem) -> str:
    """How to send the field."""
    example = _EXAMPLES.get(path[-1], _known(problem)[1])
    if problem["type"] == "literal_error":
        example = str(problem["ctx"]["expected"]).split("'")[1]
    sent = problem["input"]
    if str(problem["type"]).startswith("list") and path[-1] not in _EXAMPLES:
        example = [sent] if isinstance(sent, str) and len(sent) <= _SHORT else example
    return f"send {_example(path, example)}"


def _example(path: Sequence[str], value: object) -> str:
    """A field with a value, as JSON; a path into a list shows one entry of it."""
    for part in reversed(path):
        value = [value] if part.isdigit() else {part: value}
    return json.dumps(value, ensure_ascii=False)
