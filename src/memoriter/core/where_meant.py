"""Guesses the condition that a mistaken part of a `where` means, with its operator and value.

`core.where_mistakes` shows the first guess that can be parsed. Each list of guesses is ordered,
likeliest first, and ends with an example that always can.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, cast

from memoriter.core.attributes import BOUNDS, OPERATORS, AttributeType, type_of
from memoriter.core.foreign import duration_meant, operator_meant
from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.core.names import listed
from memoriter.core.where_times import AHEAD

_BY_TYPE: Final[Mapping[AttributeType, object]] = {
    "string": "…",
    "strings": "ops",
    "number": 0.5,
    "numbers": 3,
    "time": "2026-10-01",
    "flag": True,
    "json": "http",
}
_BY_NAME: Final[Mapping[str, object]] = {
    "kind": "note",
    "agent": "planner",
    "user": "anna",
    "session": "s-12",
    "priority": "P1",
    "trust": "system",
    "position": 3,
    "cycle": 3,
}
_IN_TEXT: Final = lazy_pattern(r"\s*(>=|<=|!=|<>|==|=|>|<|[Ll]ast\b|[Ss]ince\b)\s*(.+?)\s*")
"""An operator and its value in one text: `>0.5`, `last 7 days`."""


def several(value: object) -> list[object] | None:
    """The items of a list, tuple or set; None for anything else, texts included."""
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str | bytes):
        return listed(cast("Sequence[object]", value))
    return None


def sample(attribute: str, kind: AttributeType) -> object:
    """A value for examples."""
    return _BY_NAME.get(attribute, _BY_TYPE[kind])


def operator_spec(op: str, value: object) -> dict[str, object]:
    """An operator with its value in the shape that it takes (one value, or a list)."""
    items = several(value)
    word = op.removesuffix("_fold")
    if word == "exists":
        return {op: value if isinstance(value, bool) else True}
    if word in {"in", "any", "all"}:
        return {op: [value] if items is None else items}
    return {op: items[0] if items is not None and len(items) == 1 else value}


def suited(kind: AttributeType, op: str, value: object) -> str:
    """The operator of this type with the same meaning; empty if there is none."""
    word = op.removesuffix("_fold")
    if kind in {"strings", "numbers"}:
        word = {"eq": "any", "in": "any"}.get(word, word)
    elif kind != "json":
        one = "eq" if several(value) is None or kind == "flag" else "in"
        word = {"any": one, "all": one, "in": "eq" if kind == "flag" else "in"}.get(word, word)
    folded = f"{word}_fold"
    if op.endswith("_fold") and folded in OPERATORS[kind]:
        return folded
    return word if word in OPERATORS[kind] else ""


# -- one test --------------------------------------------------------------------------------------


def tests_meant(attribute: str, kind: AttributeType, meant: str, value: object) -> list[object]:
    """Conditions that one operator and its value may mean, likeliest first, then an example."""
    example = sample(attribute, kind)
    meant = plain_operator(attribute, kind, meant)
    if meant == "between" and "gte" in OPERATORS[kind]:
        return [{attribute: bounds} for bounds in (_bounds(value), {"gte": example})]
    if meant == "missing":
        return [{attribute: {"exists": value is False}}]
    if meant == "match":
        return _begins(attribute, kind, value)
    word = meant.removeprefix("not ")
    op = suited(kind, word, value)
    usual = "any" if "any" in OPERATORS[kind] else "gte" if kind == "time" else "eq"
    values = (value, value_meant(kind, value), example)
    tests: list[object] = [{attribute: operator_spec(op or usual, each)} for each in values]
    if word != meant:
        return [{"not": _short(each)} for each in ({attribute: value}, *tests)]
    return tests


def plain_operator(attribute: str, kind: AttributeType, meant: str) -> str:
    """The meaning of an operator for this attribute: `last` and `within` depend on it."""
    if meant != "recent":
        return meant
    if kind != "time":
        return "between"
    return "lte" if attribute in AHEAD else "gte"


def _short(condition: object) -> object:
    """`{"eq": x}` as `x`: shorter to read."""
    ((attribute, spec),) = cast("dict[str, object]", condition).items()
    if isinstance(spec, dict) and "eq" in spec:
        return {attribute: cast("dict[str, object]", spec)["eq"]}
    return {attribute: cast("object", spec)}


def _begins(attribute: str, kind: AttributeType, value: object) -> list[object]:
    if "prefix" not in OPERATORS[kind]:
        return [{attribute: sample(attribute, kind)}]
    text = value.strip("%*^.$") if isinstance(value, str) else value
    return [{attribute: {"prefix": each}} for each in (text, "…")]


def _bounds(value: object) -> object:
    items = several(value)
    if items is not None and len(items) == 2:  # noqa: PLR2004  # from and to
        return {"gte": items[0], "lte": items[1]}
    return value


# -- the whole of what an attribute is tested for --------------------------------------------------


def conditions_meant(attribute: str, spec: object) -> list[object]:
    """Conditions that a test of this attribute may mean, if it is not right as it is."""
    kind = type_of(attribute)
    if kind is None:
        return []
    tests = _read(kind, spec)
    out: list[object] = [{attribute: spec}]
    if len(tests) == 1:
        ((op, value),) = tests
        out += tests_meant(attribute, kind, op, value)[:-1]  # the last is only an example
    elif tests:
        bounds = {op: value_meant(kind, value) for op, value in tests if op in BOUNDS}
        out += [{attribute: bounds}] if len(bounds) == len(tests) else []
    return out


def _read(kind: AttributeType, spec: object) -> list[tuple[str, object]]:
    """The (operator, value) pairs that a spec means; empty if it cannot be read."""
    if isinstance(spec, Mapping):
        pairs = cast("Mapping[object, object]", spec).items()
        tests = [(operator_meant(str(op)), value) for op, value in pairs]
        return [(op, value) for op, value in tests if op] if all(op for op, _ in tests) else []
    items = several(spec)
    if items is not None and len(items) == 2 and isinstance(items[0], str):  # noqa: PLR2004  # operator and value
        op = operator_meant(items[0])
        return [(op, items[1])] if op and kind in {"number", "time"} else []
    if not isinstance(spec, str) or kind == "json":  # there `>5` may well be a value
        return []
    if match := _IN_TEXT.fullmatch(spec):
        return [(operator_meant(match[1]) or "eq", match[2])]
    if kind == "time" and duration_meant(spec) is not None:
        return [("recent", spec)]
    return [("eq", spec)] if kind == "number" else []


def value_meant(kind: AttributeType, value: object) -> object:
    """The value as this type takes it: `"0.5"` as a number, `"7 days"` as `"7d"`."""
    if (items := several(value)) is not None:
        return [value_meant(kind, each) for each in items]
    if not isinstance(value, str):
        return value
    if kind == "time":
        return duration_meant(value) or value
    if kind in {"number", "numbers"}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
