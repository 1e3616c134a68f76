r"""Where: a boolean tree of tests on record attributes, the same for every verb that selects.

As data: `{"all": [...]}`, `{"any": [...]}`, `{"not": {...}}`, and tests `{attribute: {op: value}}`
or `{attribute: value}` for equality; several keys in one object must all hold.

- An attribute that is absent fails every test but `{"exists": false}`; `not` is plain negation.
- An empty `all` is true, an empty `any` is false, an empty list of values matches nothing.
- Types never coerce: true is not 1, "1" is not 1. Strings compare by code point, `…_fold` variants
  after folding (NFKC, case). Times are given as ISO text, dates or aware datetimes.
- `tags`, `concepts` and `entities` are sets: test them with `any`, `all`, `prefix`, `exists`;
  `refs` is a set of positions.
- `metadata.a.b` reaches into metadata; a dot inside a key is written `\.`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from memoriter.core.errors import BadFilter
from memoriter.core.fold import fold
from memoriter.core.names import EXACT_INT, Json, flag, listed, number, text
from memoriter.core.times import Now, duration, micros

Type = Literal["string", "strings", "number", "numbers", "time", "flag", "json"]
Op = Literal["eq", "in", "any", "all", "prefix", "range", "exists"]
Scalar = None | bool | int | float | str
DEPTH_LIMIT: Final = 32
VALUES_LIMIT: Final = 10_000
TESTS_LIMIT: Final = 1000
"""How many tests and nested conditions one tree may hold."""

_BY_TYPE: Final[Mapping[Type, tuple[str, ...]]] = {
    "string": (
        "id", "text", "title", "summary", "kind", "role", "memory_type", "entity_type",
        "source_episode", "priority", "trust", "source.who", "source.channel", "source.path",
        "agent", "user", "session",
    ),
    "strings": ("tags", "concepts", "entities"),
    "number": ("importance", "confidence", "cycle", "position"),
    "numbers": ("refs",),
    "time": ("created", "committed", "occurred", "valid_from", "valid_until", "expires"),
    "flag": ("archived", "pinned"),
}  # fmt: skip
ATTRIBUTES: Final[Mapping[str, Type]] = {n: kind for kind, ns in _BY_TYPE.items() for n in ns}
"""Every attribute that can be tested, with its type; metadata paths come on top."""

_OPS: Final[Mapping[Type, tuple[str, ...]]] = {
    "string": ("eq", "in", "prefix", "range", "exists"),
    "strings": ("any", "all", "prefix", "exists"),
    "number": ("eq", "in", "range", "exists"),
    "numbers": ("any", "all", "exists"),
    "time": ("eq", "in", "range", "exists"),
    "flag": ("eq", "exists"),
    "json": ("eq", "in", "any", "all", "prefix", "range", "exists"),
}
_BOUNDS: Final = ("gt", "gte", "lt", "lte")
_UNFOLDED: Final = ("number", "numbers", "time", "flag")
_FOLDING: Final = ("eq", "in", "any", "all", "prefix")


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds of a range test; at least one is given."""

    gt: Scalar = None
    gte: Scalar = None
    lt: Scalar = None
    lte: Scalar = None

    def holds(self, value: str | float) -> bool:
        """Whether a value of the bounds' own type lies inside."""
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
    op: Op
    value: Scalar | tuple[Scalar, ...] | Range
    folded: bool = False

    @property
    def type(self) -> Type:
        """The type of the attribute."""
        return "json" if self.attribute.startswith("metadata.") else ATTRIBUTES[self.attribute]

    @property
    def path(self) -> tuple[str, ...]:
        """The keys of a metadata path."""
        return _path(self.attribute)


@dataclass(frozen=True, slots=True)
class AllOf:
    """True when every part is."""

    parts: tuple[Where, ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """True when some part is."""

    parts: tuple[Where, ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    """True when its part is false."""

    part: Where


Where = AllOf | AnyOf | Not | Test
EVERYTHING: Final = AllOf()


def parse(
    data: object, at: str = "where", depth: int = DEPTH_LIMIT, tests: int = TESTS_LIMIT
) -> Where:
    """The tree that this data says, or BadFilter naming the place that is wrong."""
    found = _parsed(data, at, depth)
    if (size := _size(found)) > tests:
        raise BadFilter(
            f"{at}: {size:,} tests, at most {tests:,} are taken",
            hint='one {"in": [...]} tests many values',
            field=at,
        )
    return found


def _size(where: Where) -> int:
    """How many nodes a tree has beside its root."""
    if isinstance(where, Not):
        return 1 + _size(where.part)
    return 0 if isinstance(where, Test) else sum(1 + _size(part) for part in where.parts)


def _parsed(data: object, at: str, depth: int) -> Where:
    if isinstance(data, AllOf | AnyOf | Not | Test):
        return data
    if data is None:
        return EVERYTHING
    if depth == 0:
        raise BadFilter(f"{at}: nested deeper than {DEPTH_LIMIT} levels", field=at)
    if not isinstance(data, Mapping):
        raise BadFilter(
            f"{at}: expected an object, got {type(data).__name__}", hint=_HINT, field=at
        )
    nodes: list[Where] = []
    for key, value in cast("Mapping[object, object]", data).items():
        nodes.extend(_node(key, value, at, depth))
    return nodes[0] if len(nodes) == 1 else AllOf(tuple(nodes))


_HINT: Final = 'for example {"all": [{"tags": {"any": ["ops"]}}, {"not": {"kind": "plan"}}]}'


def _node(key: object, value: object, at: str, depth: int) -> list[Where]:
    if key == "not":
        return [Not(_parsed(value, f"{at}.not", depth - 1))]
    if key in {"all", "any"}:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
            raise BadFilter(f"{at}.{key}: expected a list of conditions", hint=_HINT, field=at)
        parts = tuple(
            _parsed(item, f"{at}.{key}[{n}]", depth - 1)
            for n, item in enumerate(cast("Sequence[object]", value))
        )
        return [AllOf(parts) if key == "all" else AnyOf(parts)]
    if not isinstance(key, str):
        raise BadFilter(f"{at}: {key!r} is not the name of an attribute", field=at)
    return list(_tests(key, value, f"{at}.{key}"))


def _tests(attribute: str, spec: object, at: str) -> list[Test]:
    kind = _type_of(attribute, at)
    if not isinstance(spec, Mapping):
        spec = {"eq": spec}
    given = dict(cast("Mapping[object, object]", spec))
    if not given:
        raise BadFilter(f"{at}: no test given", hint=f"use one of {_menu(kind)}", field=at)
    bounds = {key: given.pop(key) for key in _BOUNDS if key in given}
    tests = [_test(attribute, kind, op, value, at) for op, value in given.items()]
    if bounds:
        tests.append(Test(attribute, "range", _range(kind, bounds, at)))
    return tests


def _type_of(attribute: str, at: str) -> Type:
    if attribute.startswith("metadata."):
        if not all(_path(attribute)):
            raise BadFilter(f"{at}: a key of the metadata path is empty", field=at)
        text(attribute, at, BadFilter)
        return "json"
    if attribute not in ATTRIBUTES:
        names = ", ".join(ATTRIBUTES)
        raise BadFilter(
            f"{at}: there is no attribute {attribute!r}",
            hint=f"known: {names}, metadata.<path>",
            field=at,
        )
    return ATTRIBUTES[attribute]


def _path(attribute: str) -> tuple[str, ...]:
    keys = re.split(r"(?<!\\)\.", attribute)[1:]
    return tuple(key.replace("\\.", ".") for key in keys)


def _menu(kind: Type) -> str:
    ops = [op for op in _OPS[kind] if op != "range"]
    if kind in {"string", "strings", "json"}:
        ops += [f"{op}_fold" for op in ops if op in _FOLDING]
    return ", ".join([*ops, *(_BOUNDS if "range" in _OPS[kind] else ())])


def _test(attribute: str, kind: Type, op: object, value: object, at: str) -> Test:
    word = op.removesuffix("_fold") if isinstance(op, str) else ""
    folded = word != op
    known = word in _OPS[kind] and word != "range"
    if not known or (folded and (word not in _FOLDING or kind in _UNFOLDED)):
        raise BadFilter(
            f"{at}: {op!r} does not test a {kind} attribute",
            hint=f"use one of {_menu(kind)}",
            field=at,
        )
    clean = _value(kind, cast("Op", word), value, at)
    return Test(attribute, cast("Op", word), _folded(clean) if folded else clean, folded)


def _folded(value: Scalar | tuple[Scalar, ...]) -> Scalar | tuple[Scalar, ...]:
    if isinstance(value, tuple):
        return tuple(fold(item) if isinstance(item, str) else item for item in value)
    return fold(value) if isinstance(value, str) else value


def _value(kind: Type, op: Op, value: object, at: str) -> Scalar | tuple[Scalar, ...]:
    if op == "exists":
        return flag(value, f"{at}.exists", BadFilter)
    if op == "prefix":
        return text(value, f"{at}.prefix", BadFilter)
    if op == "eq":
        return _scalar(kind, value, at)
    if isinstance(value, str | bytes | Mapping) or not isinstance(
        value, Sequence | set | frozenset
    ):
        raise BadFilter(f"{at}.{op}: expected a list of values", field=at)
    items = listed(cast("Sequence[object]", value))
    if len(items) > VALUES_LIMIT:
        raise BadFilter(f"{at}.{op}: {len(items)} values, at most {VALUES_LIMIT}", field=at)
    return tuple(_scalar(kind, item, f"{at}.{op}[{n}]") for n, item in enumerate(items))


def _scalar(kind: Type, value: object, at: str) -> Scalar:
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
    number(value, at, -EXACT_INT, EXACT_INT, BadFilter)
    return cast("int | float", value)


def _range(kind: Type, bounds: dict[str, object], at: str) -> Range:
    if "range" not in _OPS[kind]:
        raise BadFilter(
            f"{at}: a {kind} attribute has no order", hint=f"use one of {_menu(kind)}", field=at
        )
    clean = {key: _scalar(kind, value, f"{at}.{key}") for key, value in bounds.items()}
    types = {str if isinstance(value, str) else float for value in clean.values()}
    if any(value is None or isinstance(value, bool) for value in clean.values()) or len(types) > 1:
        raise BadFilter(f"{at}: bounds must be all numbers or all texts", field=at)
    return Range(**clean)


def holds(test: Test, value: Json) -> bool:
    """Whether a present value passes a test; `exists` and absence are the caller's to decide."""
    match test.op:
        case "exists":
            return bool(test.value)
        case "any" | "all":
            wanted = cast("tuple[Scalar, ...]", test.value)
            items = cast("list[Json]", value) if isinstance(value, list) else []
            quantify = any if test.op == "any" else all
            return bool(wanted) and quantify(_member(w, items, test.folded) for w in wanted)
        case "prefix":
            return _prefixed(test, value)
        case "eq":
            return _same(cast("Scalar", test.value), value, test.folded)
        case "in":
            wanted = cast("tuple[Scalar, ...]", test.value)
            return any(_same(item, value, test.folded) for item in wanted)
        case "range":
            bounds = cast("Range", test.value)
            return _comparable(bounds, value) and bounds.holds(cast("str | float", value))


def _member(wanted: Scalar, items: list[Json], folded: bool) -> bool:  # noqa: FBT001  # carried from Test
    return any(_same(wanted, item, folded) for item in items)


def _prefixed(test: Test, value: Json) -> bool:
    prefix = cast("str", test.value)
    items = cast("list[Json]", value) if isinstance(value, list) else [value]
    texts = (fold(item) if test.folded else item for item in items if isinstance(item, str))
    return any(item.startswith(prefix) for item in texts)


def _same(wanted: Scalar, value: Json, folded: bool) -> bool:  # noqa: FBT001  # carried from Test
    if isinstance(value, str) and isinstance(wanted, str):
        return (fold(value) if folded else value) == wanted
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if value is None or wanted is None:
        return value is wanted
    return isinstance(value, int | float) and not isinstance(wanted, str) and value == wanted


def _comparable(bounds: Range, value: Json) -> bool:
    bound = next(b for b in (bounds.gt, bounds.gte, bounds.lt, bounds.lte) if b is not None)
    if isinstance(value, bool):
        return False
    return isinstance(value, str) if isinstance(bound, str) else isinstance(value, int | float)


def to_data(where: Where) -> dict[str, object]:
    """The tree as data that `parse` reads back (times as microseconds)."""
    match where:
        case AllOf(parts):
            return {"all": [to_data(part) for part in parts]}
        case AnyOf(parts):
            return {"any": [to_data(part) for part in parts]}
        case Not(part):
            return {"not": to_data(part)}
        case Test(attribute, "range", value):
            bounds = {key: getattr(value, key) for key in _BOUNDS}
            return {attribute: {key: b for key, b in bounds.items() if b is not None}}
        case Test(attribute, op, value, folded):
            shown = list(value) if isinstance(value, tuple) else value
            return {attribute: {f"{op}_fold" if folded else op: shown}}


def dated(data: object, now: Now) -> object:
    """The condition with every duration turned into the moment it means, counted back from now."""
    if isinstance(data, Mapping):
        told = cast("Mapping[object, object]", data)
        return {
            key: _moments(value, now) if ATTRIBUTES.get(str(key)) == "time" else dated(value, now)
            for key, value in told.items()
        }
    if isinstance(data, list | tuple):
        return [dated(each, now) for each in cast("Sequence[object]", data)]
    return data


def _moments(value: object, now: Now) -> object:
    if isinstance(value, Mapping):
        told = cast("Mapping[object, object]", value)
        return {key: _moments(each, now) for key, each in told.items()}
    if isinstance(value, list | tuple):
        return [_moments(each, now) for each in cast("Sequence[object]", value)]
    if duration(value, ahead=False) is None:
        return value
    return micros(value, "where", BadFilter, now)
