"""Evaluates one test of a `where` on one value of a record; `index.filter` calls it per value."""

from __future__ import annotations

from typing import cast

from memoriter.core.fold import fold
from memoriter.core.names import Json
from memoriter.core.where import Range, Scalar, Test


def value_passes(test: Test, value: Json) -> bool:
    """Whether a present value passes a test; the caller handles absent values."""
    match test.op:
        case "exists":
            return bool(test.value)
        case "any" | "all":
            wanted = cast("tuple[Scalar, ...]", test.value)
            items = _listed(value)
            quantify = any if test.op == "any" else all
            return bool(wanted) and quantify(_member(w, items, test.folded) for w in wanted)
        case "prefix":
            return _prefixed(test, value)
        case "eq":
            return _equal(cast("Scalar", test.value), value, test.folded)
        case "in":
            wanted = cast("tuple[Scalar, ...]", test.value)
            return any(_equal(item, value, test.folded) for item in wanted)
        case "range":
            bounds = cast("Range", test.value)
            return _comparable(bounds, value) and bounds.holds(cast("str | float", value))


def _member(wanted: Scalar, items: list[Json], folded: bool) -> bool:  # noqa: FBT001  # carried from Test
    return any(_equal(wanted, item, folded) for item in items)


def _listed(value: Json) -> list[Json]:
    """The items of a list; a single value counts as a list of one."""
    return value if isinstance(value, list) else [value]


def _prefixed(test: Test, value: Json) -> bool:
    prefix = cast("str", test.value)
    items = _listed(value)
    texts = (fold(item) if test.folded else item for item in items if isinstance(item, str))
    return any(item.startswith(prefix) for item in texts)


def _equal(wanted: Scalar, value: Json, folded: bool) -> bool:  # noqa: FBT001  # carried from Test
    if isinstance(value, str) and isinstance(wanted, str):
        return (fold(value) if folded else value) == wanted
    if isinstance(value, bool) or isinstance(wanted, bool):  # in Python True == 1; not here
        return value is wanted
    if value is None or wanted is None:
        return value is wanted
    return isinstance(value, int | float) and not isinstance(wanted, str) and value == wanted


def _comparable(bounds: Range, value: Json) -> bool:
    bound = next(b for b in (bounds.gt, bounds.gte, bounds.lt, bounds.lte) if b is not None)
    if isinstance(value, bool):
        return False
    return isinstance(value, str) if isinstance(bound, str) else isinstance(value, int | float)
