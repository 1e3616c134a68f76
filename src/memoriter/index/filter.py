"""Evaluates a `Where` filter on the columns of a segment.

Attributes that are not columns (text, metadata …) are read from the records, after all tests on
columns have narrowed the rows. Called by `selection` and by lanes with filters of their own.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.fold import fold
from memoriter.core.names import Json
from memoriter.core.ranking import Mask
from memoriter.core.record import Record
from memoriter.core.where import AllOf, AnyOf, Not, Range, Scalar, Test, Where
from memoriter.core.work_limit import WorkLimit
from memoriter.index.columns import COLUMNS, NO_TIME, dictionary_of
from memoriter.index.dictionary import Dictionary
from memoriter.index.read_once import BlockTooLarge, EachOnce, Fetch
from memoriter.index.segment import Segment

STEPS: Final = 1_000_000
"""How many steps a filter may take: about two seconds. A step tests one value of a record."""
_ROWS_PER_STEP: Final = 64
"""How many rows of a column are tested in the time of a step."""
_FOLDED_PER_STEP: Final = 64
"""How many letters of a text are folded in the time of a step."""
_BLOCK: Final = 4096
"""How many records are held at a time."""


def filter_limit(steps: int | None = None, searches: int = 1) -> WorkLimit:
    """The work that the filters of some searches may do; `steps` for one, `STEPS` if None."""
    hint = (
        "add a test on kind, tags, created or another column, which costs little, or write fewer"
        ' tests; to compare one attribute with many values, write {"in": [...]}; in Python'
        " `memoriter.open(…, filter_steps=…)` sets another limit"
    )
    return WorkLimit((STEPS if steps is None else steps) * searches, "where", hint)


def passing(
    where: Where, segment: Segment, among: Mask, fetch: Fetch, work: WorkLimit | None = None
) -> Mask:
    """A mask of the rows in `among` that pass; raises TooCostly if it takes too much work."""
    return _Filter(segment, fetch, work or filter_limit()).passing(where, among)


class _Filter:
    """Evaluates conditions on one segment; no column is tested and no record read twice."""

    def __init__(self, segment: Segment, fetch: Fetch, work: WorkLimit) -> None:
        self._segment = segment
        self._fetch = fetch
        self._work = work
        self._columns: dict[int, Mask] = {}
        """The rows that pass a test, by the identity of the test."""

    def passing(self, where: Where, among: Mask) -> Mask:
        """A mask of the rows in `among` that pass."""
        if not needs_records(where):
            return self._passing(where, among, self._fetch)
        out = np.zeros(among.size, np.bool_)
        at = np.flatnonzero(among)
        for first in range(0, at.size, _BLOCK):
            self._add_passing(where, at[first : first + _BLOCK], out)
        return out

    def _add_passing(self, where: Where, at: NDArray[np.intp], out: Mask) -> None:
        """Add the rows at these places that pass."""
        block = np.zeros(out.size, np.bool_)
        block[at] = True
        try:
            out |= self._passing(where, block, EachOnce(self._fetch, self._work))
        except BlockTooLarge:
            for half in np.array_split(at, 2):
                self._add_passing(where, half, out)

    def _passing(self, where: Where, among: Mask, fetch: Fetch) -> Mask:
        match where:
            case AllOf(parts):
                # Cheap tests first: those on records see only the rows that are left.
                for part in sorted(parts, key=needs_records):
                    among = self._passing(part, among, fetch)
                return among
            case AnyOf(parts):
                out = np.zeros(among.size, np.bool_)
                for part in sorted(parts, key=needs_records):
                    out |= self._passing(part, among & ~out, fetch)
                return out
            case Not(part):
                return among & ~self._passing(part, among, fetch)
            case Test():
                if needs_records(where):
                    self._work.spend(int(np.count_nonzero(among)))
                    return self._by_record(where, among, fetch)
                return among & self._by_column(where)

    def _by_column(self, test: Test) -> Mask:
        known = self._columns.get(id(test))
        if known is None:
            values = len(test.value) if isinstance(test.value, tuple) else 1
            scans = values if test.op == "all" else 1
            self._work.spend(values + scans * (1 + len(self._segment) // _ROWS_PER_STEP))
            known = self._columns[id(test)] = _by_column(test, self._segment)
        return known

    def _by_record(self, test: Test, among: Mask, fetch: Fetch) -> Mask:
        out = np.zeros(among.size, np.bool_)
        at = np.flatnonzero(among)
        wanted, path = _wanted(test), test.path if test.type == "json" else None
        out[at] = [
            record is not None and _test_record(test, wanted, path, record, self._work)
            for record in fetch(self._segment.rows[at].tolist())
        ]
        return out


def needs_records(where: Where) -> bool:
    """Whether a condition tests an attribute that is not a column."""
    match where:
        case AllOf(parts) | AnyOf(parts):
            return any(map(needs_records, parts))
        case Not(part):
            return needs_records(part)
        case Test():
            return where.attribute not in COLUMNS


def _by_column(test: Test, segment: Segment) -> Mask:
    match test.type:
        case "string":
            return _strings(test, segment)
        case "strings":
            return _sets(test, segment)
        case "flag":
            return _flags(test, segment)
        case _:
            return _numbers(test, segment)


def _accepted(test: Test, segment: Segment) -> Mask:
    """Whether the test accepts each entry of a column's dictionary; the last is for code -1.

    Dictionaries are sorted, so entries are found by bisection: a test reads few of them.
    """
    dictionary = dictionary_of(segment.arrays, test.attribute)
    out = np.zeros(len(dictionary) + 1, np.bool_)
    if isinstance(test.value, Range):
        out[_inside(test.value, dictionary)] = True
        return out
    wanted = test.value if isinstance(test.value, tuple) else (test.value,)
    find = _find_folded if test.folded else _find
    for value in cast("tuple[str, ...]", wanted):
        out[find(segment, test.attribute, value, test.op == "prefix")] = True
    return out


def _inside(bounds: Range, dictionary: Dictionary) -> slice:
    cuts = ((bisect_right, bounds.gt), (bisect_left, bounds.gte))
    begins = [cut(dictionary, cast("str", b)) for cut, b in cuts if b is not None]
    cuts = ((bisect_left, bounds.lt), (bisect_right, bounds.lte))
    ends = [cut(dictionary, cast("str", b)) for cut, b in cuts if b is not None]
    return slice(max(begins, default=0), min(ends, default=len(dictionary)))


def _find(segment: Segment, name: str, value: str, prefix: bool) -> slice:  # noqa: FBT001  # as _find_folded
    dictionary = dictionary_of(segment.arrays, name)
    if prefix:
        return slice(*dictionary.beginning(value))
    at = dictionary.find(value)
    return slice(at, at + 1) if at >= 0 else slice(0)


def _find_folded(segment: Segment, name: str, value: str, prefix: bool) -> NDArray[np.intp]:  # noqa: FBT001  # as _find
    key = ("folded", name)
    if key not in segment.memo:
        folded = list(map(fold, dictionary_of(segment.arrays, name)))
        order = sorted(range(len(folded)), key=folded.__getitem__)
        segment.remember(key, ([folded[n] for n in order], np.array(order, np.intp)))
    names, ordinals = cast("tuple[list[str], NDArray[np.intp]]", segment.memo[key])
    first = bisect_left(names, value)
    cut = len(value) if prefix else None
    return ordinals[first : bisect_right(names, value, lo=first, key=lambda each: each[:cut])]


def _strings(test: Test, segment: Segment) -> Mask:
    codes = segment.arrays[f"{test.attribute}.codes"]
    if test.op == "exists":
        return (codes >= 0) == test.value
    return _accepted(test, segment)[codes]


def _sets(test: Test, segment: Segment) -> Mask:
    starts = segment.arrays[f"{test.attribute}.starts"].astype(np.int64)
    if test.op == "exists":
        return (np.diff(starts) > 0) == test.value
    if test.op in {"prefix", "any"}:
        return _some(segment, test, starts)
    wanted = cast("tuple[str, ...]", test.value)
    each = [
        _some(segment, Test(test.attribute, "eq", value, test.folded), starts) for value in wanted
    ]
    return np.logical_and.reduce(each) if each else np.zeros(len(segment), np.bool_)


def _some(segment: Segment, test: Test, starts: NDArray[np.int64]) -> Mask:
    """Rows with at least one element that passes."""
    hit = _accepted(test, segment)[segment.arrays[f"{test.attribute}.codes"]]
    # Prefix sums, because reduceat cannot handle rows with an empty set.
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(hit)])
    return sums[starts[1:]] > sums[starts[:-1]]


def _flags(test: Test, segment: Segment) -> Mask:
    values = segment.arrays[test.attribute]
    if test.op == "exists":
        return np.full(values.size, test.value, np.bool_)
    return values == test.value


def _numbers(test: Test, segment: Segment) -> Mask:
    values = segment.arrays[test.attribute]
    there = values != NO_TIME if test.type == "time" else ~np.isnan(values.astype(np.float64))
    match test.op:
        case "exists":
            return there == test.value
        case "range":
            return there & _within(cast("Range", test.value), values)
        case _:
            wanted = test.value if isinstance(test.value, tuple) else (test.value,)
            return there & np.isin(
                values, np.array([cast("float", value) for value in wanted], values.dtype)
            )


def _within(bounds: Range, values: NDArray[Any]) -> Mask:
    out = np.ones(values.size, np.bool_)
    if bounds.gt is not None:
        out &= values > bounds.gt
    if bounds.gte is not None:
        out &= values >= bounds.gte
    if bounds.lt is not None:
        out &= values < bounds.lt
    if bounds.lte is not None:
        out &= values <= bounds.lte
    return out


def _test_record(
    test: Test, wanted: _Keys, path: tuple[str, ...] | None, record: Record, work: WorkLimit
) -> bool:
    if path is None:
        attribute = getattr(record, test.attribute)
        shown = list(attribute) if test.type == "numbers" else attribute
        there = bool(shown) if test.type == "numbers" else shown is not None
        if test.op == "exists":
            return there == test.value
        return there and _value_passes(test, wanted, shown, work)
    value: Json = record.metadata
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return test.op == "exists" and not test.value
        value = value[key]
    return _value_passes(test, wanted, value, work)


# --- one test on one value --------------------------------------------------------------------

_Key = tuple[str, Scalar]
_Keys = frozenset[_Key]


def _wanted(test: Test) -> _Keys:
    """The keys of the values that a test compares with; a range has none."""
    if isinstance(test.value, Range):
        return frozenset()
    return _keys(list(test.value) if isinstance(test.value, tuple) else [test.value], folded=False)


def _value_passes(test: Test, wanted: _Keys, value: Json, work: WorkLimit) -> bool:
    """Whether a present value passes a test; the caller handles absent values."""
    if isinstance(value, list) or (test.folded and isinstance(value, str)):
        work.spend(_more_steps(test, _listed(value)))
    match test.op:
        case "exists":
            return bool(test.value)
        case "any":
            return not wanted.isdisjoint(_keys(_listed(value), folded=test.folded))
        case "all":
            return bool(wanted) and wanted <= _keys(_listed(value), folded=test.folded)
        case "prefix":
            return _prefixed(test, value)
        case "eq" | "in":
            return not wanted.isdisjoint(_keys([value], folded=test.folded))
        case "range":
            bounds = cast("Range", test.value)
            return _comparable(bounds, value) and bounds.holds(cast("str | float", value))


def _more_steps(test: Test, items: Sequence[Json]) -> int:
    """The steps that the items of a list take, and the letters that are folded."""
    if not test.folded:
        return len(items)
    letters = sum(len(item) for item in items if isinstance(item, str))
    return len(items) + letters // _FOLDED_PER_STEP


def _keys(values: Sequence[Json], *, folded: bool) -> _Keys:
    """Keys that are equal for equal values; lists and objects have none, being equal to nothing."""
    return frozenset(key for value in values if (key := _key(value, folded)) is not None)


def _key(value: Json, folded: bool) -> _Key | None:  # noqa: FBT001  # carried from Test
    if isinstance(value, str):
        return "text", fold(value) if folded else value
    if value is None or isinstance(value, bool):  # in Python True == 1; not here
        return "flag", value
    return ("number", value) if isinstance(value, int | float) else None


def _listed(value: Json) -> list[Json]:
    """The items of a list; a single value counts as a list of one."""
    return value if isinstance(value, list) else [value]


def _prefixed(test: Test, value: Json) -> bool:
    prefix = cast("str", test.value)
    items = _listed(value)
    texts = (fold(item) if test.folded else item for item in items if isinstance(item, str))
    return any(item.startswith(prefix) for item in texts)


def _comparable(bounds: Range, value: Json) -> bool:
    bound = next(b for b in (bounds.gt, bounds.gte, bounds.lt, bounds.lte) if b is not None)
    if isinstance(value, bool):
        return False
    return isinstance(value, str) if isinstance(bound, str) else isinstance(value, int | float)
