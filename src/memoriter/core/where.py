r"""The `where` filter: a boolean tree of tests on record attributes. This module parses it.

`index.filter` evaluates the tree; every method that selects records takes the same filter.

As data: `{"all": [...]}` (or `and`), `{"any": [...]}` (or `or`), `{"not": {...}}`, and tests
`{attribute: {operator: value}}`, `{attribute: value}` or `{attribute: [values]}`; several keys in
one object must all hold. docs/where.md is the reference.

- An attribute that is absent fails every test but `{"exists": false}`; `not` is plain negation.
- An empty `all` is true, an empty `any` is false, an empty list of values matches nothing.
- Types never coerce: true is not 1, "1" is not 1. Strings compare by code point, `…_fold` variants
  after folding (NFKC, case). Times are anything that `times.micros` takes.
- A bare value or list means `eq` or `in` where an attribute holds one value, `any` where it holds
  several, as `tags` do. Metadata may hold either: there a single value counts as a list of one.
- `metadata.a.b` reaches into metadata, as does `{"metadata": {"a": {"b": ...}}}`; a dot inside a
  key is written `\.` in a path, and as it is in a nested object. An object below metadata whose
  keys are all operators is a test; one with other keys is nested; a mixed one is refused.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Literal, cast

from memoriter.core.attributes import BOUNDS, GROUPS, OPERATORS, SHORT, AttributeType, type_of
from memoriter.core.errors import BadFilter
from memoriter.core.fold import fold
from memoriter.core.foreign import no_key
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import EXACT_INT, flag, names, number, text
from memoriter.core.times import micros
from memoriter.core.where_meant import several
from memoriter.core.where_mistakes import (
    Mistake,
    group_error,
    metadata_error,
    name_error,
    no_test_error,
    null_error,
    object_error,
    operator_error,
    shape_error,
    value_error,
)
from memoriter.core.where_times import dated

TestOp = Literal["eq", "in", "any", "all", "prefix", "range", "exists"]
Scalar = None | bool | int | float | str
DEPTH_LIMIT: Final = 32
VALUES_LIMIT: Final = 10_000
TESTS_LIMIT: Final = 1000
"""The most tests and nested conditions in one tree."""


@dataclass(frozen=True, slots=True)
class Range:
    """The bounds of a range test; at least one is set."""

    gt: Scalar = None
    gte: Scalar = None
    lt: Scalar = None
    lte: Scalar = None

    def holds(self, value: str | float) -> bool:
        """Whether a value of the same type as the bounds lies inside."""
        checks: tuple[tuple[Scalar, Callable[[Any, Any], bool]], ...] = (
            (self.gt, operator.gt),
            (self.gte, operator.ge),
            (self.lt, operator.lt),
            (self.lte, operator.le),
        )
        return all(bound is None or compare(value, bound) for bound, compare in checks)


@dataclass(frozen=True, slots=True)
class Test:
    """One test on one attribute."""

    attribute: str
    op: TestOp
    value: Scalar | tuple[Scalar, ...] | Range
    folded: bool = False

    @property
    def type(self) -> AttributeType:
        """The type of the attribute."""
        return cast("AttributeType", type_of(self.attribute))

    @property
    def path(self) -> tuple[str, ...]:
        """The keys of a metadata path."""
        return _path(self.attribute)


@dataclass(frozen=True, slots=True)
class AllOf:
    """True if every part is; also if there is none."""

    parts: tuple[Where, ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """True if some part is; false if there is none."""

    parts: tuple[Where, ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    """True if its part is false."""

    part: Where


Where = AllOf | AnyOf | Not | Test
EVERYTHING: Final = AllOf()


def parse_where(
    data: object, at: str = "where", depth: int = DEPTH_LIMIT, tests: int = TESTS_LIMIT
) -> Where:
    """Parse a filter; raises BadFilter that names the wrong place and the right form."""
    try:
        tree = _parsed(data, at, depth)
    except Mistake as mistake:
        raise mistake.explain(_fits) from None
    if (size := _size(tree)) > tests:
        raise BadFilter(
            f"{at}: has {size:,} conditions, at most {tests:,} are allowed",
            hint='to compare one attribute with many values, write {"in": [...]}',
            field=at,
        )
    return tree


def tagged(where: Where, tags: object) -> Where:
    """The filter with a test for at least one of these tags (the option `tags` of a query)."""
    if tags is None:
        return where
    test = parse_where({"tags": {"any": list(names(tags, "tags", BadFilter))}}, "tags")
    return test if where == EVERYTHING else AllOf((where, test))


def _fits(data: object) -> bool:
    """Whether data can be parsed: error messages suggest only forms that can."""
    try:
        _parsed(dated(data, lambda: 0), "where", DEPTH_LIMIT)
    except (BadFilter, Mistake):
        return False
    return True


def _size(where: Where) -> int:
    """The number of nodes below the root."""
    if isinstance(where, Not):
        return 1 + _size(where.part)
    return 0 if isinstance(where, Test) else sum(1 + _size(part) for part in where.parts)


def _parsed(data: object, at: str, depth: int) -> Where:
    if isinstance(data, AllOf | AnyOf | Not | Test):
        return data
    if data is None:
        return EVERYTHING
    _check_depth(at, depth)
    if not isinstance(data, Mapping):
        raise Mistake(partial(object_error, data, at))
    nodes: list[Where] = []
    for key, value in cast("Mapping[object, object]", data).items():
        nodes.extend(_node(key, value, at, depth))
    return nodes[0] if len(nodes) == 1 else AllOf(tuple(nodes))


def _check_depth(at: str, depth: int) -> None:
    if depth == 0:
        raise BadFilter(
            f"{at}: is nested more than {DEPTH_LIMIT} levels deep",
            hint="put fewer groups inside each other",
            field=at,
        )


def _node(key: object, value: object, at: str, depth: int) -> list[Where]:
    if not isinstance(key, str):
        raise BadFilter(
            f"{at}: {key!r} is not the name of an attribute, since it is not text", field=at
        )
    if key == "not":
        return [Not(_parsed(value, f"{at}.not", depth - 1))]
    if key in GROUPS:
        items = several(value)
        if items is None:
            raise Mistake(partial(group_error, key, value, at))
        parts = tuple(_parsed(item, f"{at}.{key}[{n}]", depth - 1) for n, item in enumerate(items))
        return [AllOf(parts) if GROUPS[key] == "all" else AnyOf(parts)]
    if key == "metadata" or key.startswith("metadata."):
        return list(_metadata(key, value, f"{at}.{key}", depth - 1))
    if key == "source" and isinstance(value, Mapping) and value:
        below = cast("Mapping[object, object]", value).items()
        return [test for k, v in below for test in _tests(f"source.{k}", v, f"{at}.source.{k}")]
    return list(_tests(key, cast("object", value), f"{at}.{key}"))


def _metadata(path: str, spec: object, at: str, depth: int) -> list[Test]:
    """The tests at and below a path: an object of operators is a test, one of keys is nested."""
    if not isinstance(spec, Mapping):
        if path == "metadata":
            raise metadata_error(path, ([], []), at)
        return _tests(path, spec, at)
    nested = cast("Mapping[object, object]", spec)
    words = [str(key) for key in nested if key in OPERATORS["json"] or no_key(str(key))]
    keys = [str(key) for key in nested if str(key) not in words]
    if path != "metadata" and not keys:
        return _tests(path, nested, at)
    if words or not keys:
        raise metadata_error(path, (words, keys), at)
    _check_depth(at, depth)
    tests: list[Test] = []
    for key, value in nested.items():
        tests += _metadata(_joined(path, key, at), value, f"{at}.{key}", depth - 1)
    return tests


def _joined(path: str, key: object, at: str) -> str:
    """The path to a key below a path."""
    name = text(key, f"{at} key", BadFilter)
    # A backslash at the end of a key would escape the dot after it: the path would be ambiguous.
    joined = f"{path}.{name.replace('.', chr(92) + '.')}"
    if _path(joined) != (*_path(path), name):
        raise BadFilter(
            f"{at}: a key with a backslash before a dot, or at its end, makes the path {joined!r}"
            " ambiguous",
            hint="rename this key in the metadata, or filter on a key above it",
            field=at,
        )
    return joined


def _tests(attribute: str, spec: object, at: str) -> list[Test]:
    kind = _type_of(attribute, spec, at)
    try:
        return _tests_of(attribute, kind, spec, at)
    except BadFilter as error:
        raise Mistake(partial(value_error, error, (attribute, kind, spec))) from None


def _tests_of(attribute: str, kind: AttributeType, spec: object, at: str) -> list[Test]:
    if not isinstance(spec, Mapping):
        return [_short(attribute, kind, spec, at)]
    operators = dict(cast("Mapping[object, object]", spec))
    if not operators:
        raise no_test_error(attribute, kind, at)
    tests: list[Test] = []
    bounds: dict[str, object] = {}
    for op, value in operators.items():
        if op not in OPERATORS[kind]:
            raise Mistake(partial(operator_error, attribute, kind, (op, value), at))
        if op in BOUNDS:
            bounds[op] = value
        else:
            tests.append(_test(attribute, kind, cast("str", op), value, at))
    if bounds:  # all bounds of an attribute form one range test
        tests.append(Test(attribute, "range", _range(kind, bounds, at)))
    return tests


def _type_of(attribute: str, spec: object, at: str) -> AttributeType:
    kind = type_of(attribute)
    if kind is None:
        raise Mistake(partial(name_error, attribute, spec, at))
    if kind == "json":
        if not all(_path(attribute)):
            raise BadFilter(
                f"{at}: the path {attribute!r} has an empty key: two dots in a row, or a dot at"
                " the end",
                field=at,
            )
        text(attribute, at, BadFilter)
    return kind


def _path(attribute: str) -> tuple[str, ...]:
    keys = re.split(r"(?<!\\)\.", attribute)[1:]
    return tuple(key.replace("\\.", ".") for key in keys)


def _short(attribute: str, kind: AttributeType, value: object, at: str) -> Test:
    """The test that a bare value, or a bare list of values, abbreviates."""
    for_one, for_many = SHORT[kind]
    items = several(value)
    if items is None:
        clean = _one(attribute, kind, value, at)
        return Test(attribute, cast("TestOp", for_one), clean if for_one == "eq" else (clean,))
    if for_many is None:
        raise Mistake(partial(operator_error, attribute, kind, ("in", value), at))
    return Test(attribute, cast("TestOp", for_many), _many(kind, items, at))


def _test(attribute: str, kind: AttributeType, op: str, value: object, at: str) -> Test:
    word, fold_it, _ = op.partition("_fold")
    clean = _value(attribute, kind, (op, value), at)
    return Test(
        attribute, cast("TestOp", word), _folded(clean) if fold_it else clean, bool(fold_it)
    )


def _folded(value: Scalar | tuple[Scalar, ...]) -> Scalar | tuple[Scalar, ...]:
    if isinstance(value, tuple):
        return tuple(fold(item) if isinstance(item, str) else item for item in value)
    return fold(value) if isinstance(value, str) else value


def _value(
    attribute: str, kind: AttributeType, test: tuple[str, object], at: str
) -> Scalar | tuple[Scalar, ...]:
    op, value = test
    word = op.removesuffix("_fold")
    if word == "exists":
        return flag(value, f"{at}.exists", BadFilter)
    if word == "prefix":
        return text(value, f"{at}.prefix", BadFilter)
    items = several(value)
    if (word == "eq") != (items is None):
        raise Mistake(partial(shape_error, attribute, kind, test, at))
    return _one(attribute, kind, value, at) if items is None else _many(kind, items, f"{at}.{op}")


def _one(attribute: str, kind: AttributeType, value: object, at: str) -> Scalar:
    if value is None and kind != "json":
        raise Mistake(partial(null_error, attribute, kind, at))
    return _scalar(kind, value, at)


def _many(kind: AttributeType, items: list[object], at: str) -> tuple[Scalar, ...]:
    if len(items) > VALUES_LIMIT:
        raise BadFilter(
            f"{at}: has {len(items)} values, at most {VALUES_LIMIT} are allowed", field=at
        )
    return tuple(_scalar(kind, item, f"{at}[{n}]") for n, item in enumerate(items))


def _scalar(kind: AttributeType, value: object, at: str) -> Scalar:
    match kind:
        case "string" | "strings":
            return text(value, at, BadFilter)
        case "number" | "numbers":
            number(value, at, -EXACT_INT, EXACT_INT, BadFilter)
            return cast("int | float", value)
        case "time":
            return micros(value, at, BadFilter)
        case "flag":
            return flag(value, at, BadFilter)
        case "json":
            return _json_scalar(value, at)


def _json_scalar(value: object, at: str) -> Scalar:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, at, BadFilter)
    if not isinstance(value, int | float):
        problem = f"expected text, a number, true, false or null, got {type(value).__name__}"
        raise BadFilter(f"{at}: {problem}", field=at)
    number(value, at, -EXACT_INT, EXACT_INT, BadFilter)
    return value


def _range(kind: AttributeType, bounds: dict[str, object], at: str) -> Range:
    clean = {key: _scalar(kind, value, f"{at}.{key}") for key, value in bounds.items()}
    types = {str if isinstance(value, str) else float for value in clean.values()}
    if any(value is None or isinstance(value, bool) for value in clean.values()) or len(types) > 1:
        raise BadFilter(f"{at}: the bounds must be all numbers or all texts", field=at)
    return Range(**clean)


def to_data(where: Where) -> dict[str, object]:
    """The tree as data that `parse_where` reads back (times as microseconds)."""
    match where:
        case AllOf(parts):
            return {"all": [to_data(part) for part in parts]}
        case AnyOf(parts):
            return {"any": [to_data(part) for part in parts]}
        case Not(part):
            return {"not": to_data(part)}
        case Test(attribute, "range", value):
            bounds = {key: getattr(value, key) for key in BOUNDS}
            return {attribute: {key: b for key, b in bounds.items() if b is not None}}
        case Test(attribute, op, value, folded):
            shown = list(value) if isinstance(value, tuple) else value
            return {attribute: {f"{op}_fold" if folded else op: shown}}
