"""Reads plain data, as JSON has it, as the type that an annotation names.

Types are strict: neither "1" nor true is a number; an integer is also a float, a list a tuple. The
first mistake is raised as `DataMistake`, with its path. `Annotated` adds rules to a type: `Bounds`,
`Before`, `After` and `OneOf`. A class may read itself: then it has a method `read`, as `Spec` has.
"""

from __future__ import annotations

import json
import math
import operator
import re
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Literal, Protocol, Union, cast, get_args, get_origin

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.core.shown import plain

Read = Callable[[object], Any]
"""Takes plain data, returns a value of a type or raises DataMistake."""
MistakeKind = Literal["value", "missing", "unknown", "kind"]
_NAME: Final = lazy_pattern(r"\^(-\?)?\[a-z\]\[a-z0-9([_.-]+)\]\{0,(\d+)\}\$")
"""The pattern of most names."""


class DataMistake(ValueError):
    """The first mistake in data: what is wrong, and where."""

    def __init__(self, message: str, kind: MistakeKind = "value", tag: str = "") -> None:
        super().__init__(message)
        self.message: Final = message
        self.kind: Final = kind
        """A wrong value, a key that is missing or unknown, or a table without a known kind."""
        self.tag: Final = tag
        """The kind that is not known."""
        self.path: tuple[str | int, ...] = ()

    def under(self, key: str | int) -> DataMistake:
        """The mistake, seen from the table or list that has it under this key."""
        self.path = (key, *self.path)
        return self


class ReadRule(Protocol):
    """What `Annotated` may add to a type."""

    def wrap(self, read: Read) -> Read:
        """A function that reads the type and keeps the rule."""
        ...


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a number, of the number of entries, or the pattern of a whole text."""

    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None

    def wrap(self, read: Read) -> Read:
        """Read, then compare; None is not compared."""
        compare = [
            check
            for check, limit in (
                (self._numbers, (self.ge, self.gt, self.le, self.lt)),
                (self._entries, (self.min_length, self.max_length)),
                (self._text, (self.pattern,)),
            )
            if any(each is not None for each in limit)
        ]

        def limited(data: object) -> Any:
            value = read(data)
            if value is not None:
                for check in compare:
                    check(value, data)
            return value

        return limited if compare else read

    def _numbers(self, value: float, data: object) -> None:
        for bound, words, holds in (
            (self.ge, "at least", operator.ge),
            (self.le, "at most", operator.le),
            (self.gt, "more than", operator.gt),
            (self.lt, "less than", operator.lt),
        ):
            if bound is not None and not holds(value, bound):
                limit = f"{bound:,.12g}" if isinstance(value, float) else bound
                raise DataMistake(f"must be {words} {limit}, not {given(data)}")

    def _entries(self, value: Mapping[str, object] | tuple[object, ...], data: object) -> None:
        del data
        least, most, size = self.min_length, self.max_length, len(value)
        if least is not None and size < least:
            raise DataMistake(f"has {size} entries, at least {least} must be given")
        if most is not None and size > most:
            raise DataMistake(f"has {size} entries, at most {most} are allowed")

    def _text(self, value: str, data: object) -> None:
        del data
        pattern = cast("str", self.pattern)
        if re.fullmatch(pattern, value) is None:
            raise wrong_name(value, pattern)


@dataclass(frozen=True, slots=True)
class Before:
    """A function that sees the data first; a ValueError of it is a mistake."""

    function: Callable[[object], object]

    def wrap(self, read: Read) -> Read:
        """Call the function, then read what it returns.

        Where that is other data, a mistake has no path into it: nobody wrote it.
        """

        def first(data: object) -> Any:
            changed = checked(self.function, data)
            try:
                return read(changed)
            except DataMistake as mistake:
                if changed is not data:
                    mistake.path = ()
                raise

        return first


@dataclass(frozen=True, slots=True)
class After:
    """A function that sees the value last, and may return another one."""

    function: Callable[[Any], object]

    def wrap(self, read: Read) -> Read:
        """Read, then call the function."""
        return lambda data: checked(self.function, read(data))


@dataclass(frozen=True, slots=True)
class OneOf:
    """The class of a table is found by its key `kind`."""

    find: Callable[[str], Any]
    """The class of a kind, which has a method `read`; None if there is none."""
    known: Callable[[], Iterable[Any]]
    """All such classes, for those who name them."""

    def wrap(self, read: Read) -> Read:
        """Read a table as the class of its kind; the type beside this rule is for type checkers."""
        del read
        return self._read

    def _read(self, data: object) -> Any:
        if not isinstance(data, dict):
            return _refuse(data, "a table")
        table = cast("dict[str, object]", data)
        if "kind" not in table:
            raise DataMistake("has no kind", "kind")
        kind = table["kind"]
        part = self.find(kind) if isinstance(kind, str) else None
        if part is None:
            raise DataMistake(f"there is no kind {str(kind)!r}", "kind", str(kind))
        return part.read(table)


def checked(function: Callable[[Any], object], value: object) -> Any:
    """What a function returns; a ValueError becomes a mistake in its words."""
    try:
        return function(value)
    except DataMistake:
        raise
    except ValueError as error:
        raise DataMistake(str(error)) from None


def reader(hint: Any, *rules: ReadRule) -> Read:
    """The function that reads data as a type, with further rules."""
    read = _reader(hint)
    for rule in rules:
        read = rule.wrap(read)
    return read


def _reader(hint: Any) -> Read:
    if hint in _PLAIN:
        return _PLAIN[hint]
    kind, args = get_origin(hint), get_args(hint)
    if kind is Annotated:
        rules = (each for each in hint.__metadata__ if hasattr(each, "wrap"))
        return reader(hint.__origin__, *rules)
    if kind is Literal:
        return _literal(args)
    if kind is tuple and args[-1] is Ellipsis:
        return _list(_reader(args[0]))
    several = _SEVERAL.get(kind)
    if several is not None:
        return several([_reader(each) for each in args])
    if not hasattr(hint, "read"):
        raise TypeError(f"an option cannot be of the type {hint}")
    return hint.read


# -- readers ---------------------------------------------------------------------------------------


def _refuse(data: object, expected: str) -> Any:
    raise DataMistake(f"expected {expected}, not {given(data)}")


def _none(data: object) -> None:
    return None if data is None else _refuse(data, "nothing")


def _text(data: object) -> str:
    if not isinstance(data, str):
        return _refuse(data, "a text")
    if not data.isascii() and any("\ud800" <= each <= "\udfff" for each in data):
        raise DataMistake(
            f"{given(data)} has a lone surrogate (half a character), which is not allowed"
        )
    return data


def _truth(data: object) -> bool:
    return data if isinstance(data, bool) else _refuse(data, "true or false")


def _whole(data: object) -> int:
    if not isinstance(data, int) or isinstance(data, bool):
        return _refuse(data, "an integer")
    return data


def _number(data: object) -> float:
    if not isinstance(data, int | float) or isinstance(data, bool):
        return _refuse(data, "a number")
    try:
        value = float(data)
    except OverflowError:
        value = math.inf
    return value if math.isfinite(value) else _refuse(data, "a finite number")


_PLAIN: Final[Mapping[Any, Read]] = {
    type(None): _none,
    str: _text,
    bool: _truth,
    int: _whole,
    float: _number,
}


def _literal(values: tuple[object, ...]) -> Read:
    """One of these values, of the same type; 1.0 is also the integer 1."""
    known = {(type(each), each): each for each in values}
    *most, last = (repr(each) for each in values)
    expected = f"{', '.join(most)} or {last}" if most else last

    def read(data: object) -> object:
        value = int(data) if isinstance(data, float) and data.is_integer() else data
        is_plain = isinstance(value, str | int)
        return value if is_plain and (type(value), value) in known else _refuse(data, expected)

    return read


def _union(arms: list[Read]) -> Read:
    """The first type that takes the data; the mistake is that of the first that is not None."""
    arms = sorted(arms, key=lambda each: each is _none)

    def read(data: object) -> object:
        if data is None and _none in arms:
            return None
        first: DataMistake | None = None
        for arm in arms:
            try:
                return arm(data)
            except DataMistake as mistake:
                first = first or mistake
        raise cast("DataMistake", first)

    return read


def _entries(data: object) -> list[object]:
    made = isinstance(data, list | tuple)
    return list(cast("list[object]", data)) if made else _refuse(data, "a list")


def _list(item: Read) -> Read:
    return lambda data: tuple(under(n, item, each) for n, each in enumerate(_entries(data)))


def _fixed(items: list[Read]) -> Read:
    """A list of as many entries as there are types."""

    def read(data: object) -> tuple[object, ...]:
        entries = _entries(data)
        if len(entries) > len(items):
            raise DataMistake(f"has {len(entries)} entries, at most {len(items)} are allowed")
        values = tuple(
            under(n, each, value)
            for n, (each, value) in enumerate(zip(items, entries, strict=False))
        )
        if len(values) < len(items):
            raise DataMistake("is required", "missing").under(len(values))
        return values

    return read


def _table(parts: list[Read]) -> Read:
    key, item = parts

    def read(data: object) -> dict[str, object]:
        if not isinstance(data, dict):
            return _refuse(data, "a table")
        return {
            under(name, key, name): under(name, item, value)
            for name, value in cast("dict[str, object]", data).items()
        }

    return read


def under(key: str | int, read: Read, data: object) -> Any:
    """What stands under a key, read; a mistake has that key in its path."""
    try:
        return read(data)
    except DataMistake as mistake:
        raise mistake.under(key) from None


_SEVERAL: Final[Mapping[Any, Callable[[list[Read]], Read]]] = {
    Union: _union,
    types.UnionType: _union,
    tuple: _fixed,
    dict: _table,
}


# -- words -----------------------------------------------------------------------------------------


def given(value: object) -> str:
    """A value as a recipe writes it, on one line and not too long."""
    as_json = json.dumps(value, ensure_ascii=False, default=repr)
    return plain(repr(value) if isinstance(value, str) else as_json)


def wrong_name(value: str, pattern: str) -> DataMistake:
    """The mistake of a name that does not match a pattern."""
    return DataMistake(f"{given(value)} is not a valid name: use {_pattern_text(pattern)}")


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
