"""Checks that the hits pass the filter of the query, by the attributes that the receipt carries."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, cast

from .numbers import Data
from .verification import Verification

UNREAD: Final = frozenset({"text", "title", "summary"})
"""Attributes that a receipt never carries: they are the record's own words."""
_GROUPS: Final = ("all", "any", "not")
_BOUNDS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "gt": lambda value, bound: value > bound,
    "gte": lambda value, bound: value >= bound,
    "lt": lambda value, bound: value < bound,
    "lte": lambda value, bound: value <= bound,
}
_CONDITIONS: Final = 2_001
"""The most groups and tests of a filter: twice what a caller may write, and the group of both."""
_PER_STEP: Final = 64
"""How many characters are read or compared in one step."""
_HALVINGS: Final = 32
"""How many items are compared with to find one among those that are sorted, at most."""
Verdict = bool | None
"""None: the receipt does not carry what the test reads."""


def check_filter(s: Verification) -> None:
    """Check each hit against `where`, the scope of the query and the trust that the recipe asks."""
    query = s.body["query"]
    trust = s.recipe["select"]["trust"]
    scope = [{name: {"eq": value}} for name, value in query["scope"].items()]
    wanted: list[Data] = [*scope, query["where"]]
    if trust is not None:
        wanted.append({"trust": {"in": trust}})
    if wanted == [{"all": []}]:
        if "filtered" in s.body:
            s.wrong("filtered", "is there, but the query has no filter")
        return
    if sum(map(_conditions, wanted)) > _CONDITIONS + len(wanted) - 1:
        raise ValueError(f"the filter has more than {_CONDITIONS:,} conditions")
    carried = s.body["filtered"]
    if len(carried) != len(s.standing):
        s.wrong("filtered", "does not have one entry for each hit")
        return
    for n, attributes in enumerate(carried):
        hit = None if attributes is None else _Hit(s, attributes)
        passes = None if hit is None else _all([_passes(s, w, hit) for w in wanted])
        if passes is False:
            s.wrong(f"filtered/{n}", "the hit does not pass the filter of the query")
        (s.attested if passes is None else s.checked)[f"filtered/{n}/passes"] = None


def _conditions(where: Data) -> int:
    """How many groups and tests a filter has; all bounds of an attribute are one test."""
    count = 0
    for key, value in where.items():
        if key not in _GROUPS:
            count += len(value.keys() - _BOUNDS.keys()) + bool(value.keys() & _BOUNDS.keys())
        else:
            count += 1 + sum(map(_conditions, [value] if key == "not" else value))
    return count


class _Hit:
    """The attributes of a hit; each is made ready for tests once."""

    def __init__(self, s: Verification, attributes: Data) -> None:
        self._s = s
        self._attributes = attributes
        self._ready: dict[tuple[str, bool], _Ready | None] = {}

    def has(self, attribute: str) -> bool:
        """Whether the hit has an attribute."""
        return attribute in self._attributes

    def ready(self, attribute: str, *, folded: bool) -> _Ready | None:
        """An attribute that it has; None if it cannot be folded here."""
        key = attribute, folded
        if key not in self._ready:
            value = self._attributes[attribute]
            self._s.spend(_weight(value))
            self._ready[key] = _Ready.of(value, folded=folded)
        return self._ready[key]


class _Ready:
    """A value of an attribute, and its items by key and in order."""

    def __init__(self, value: Any, items: list[Any]) -> None:
        self.value = value
        self.keys = _keys(items)
        self.texts = sorted(item for item in items if isinstance(item, str))
        self.weight = 1 if isinstance(value, list) else _weight(value)

    @classmethod
    def of(cls, value: Any, *, folded: bool) -> _Ready | None:
        """The value; None if it is to be folded and has letters beyond ASCII.

        How these are folded depends on the version of Unicode.
        """
        items = cast("list[Any]", value) if isinstance(value, list) else [value]
        if folded:
            if not all(item.isascii() for item in items if isinstance(item, str)):
                return None
            items = [item.lower() if isinstance(item, str) else item for item in items]
        return cls(items if isinstance(value, list) else items[0], items)


def _weight(value: Any) -> int:
    """The steps that it takes to read a value once."""
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    return sum(1 + (len(item) // _PER_STEP if isinstance(item, str) else 0) for item in items)


def _passes(s: Verification, where: Data, hit: _Hit) -> Verdict:
    """Whether a hit passes a filter; several keys of one object must all hold."""
    verdicts: list[Verdict] = []
    for key, value in where.items():
        if key not in _GROUPS:
            verdicts += [_test(s, key, test, hit) for test in value.items()]
        elif key == "not":
            inside = _passes(s, value, hit)
            verdicts.append(None if inside is None else not inside)
        else:
            parts = [_passes(s, part, hit) for part in value]
            verdicts.append(_all(parts) if key == "all" else _any(parts))
    return _all(verdicts)


def _all(verdicts: list[Verdict]) -> Verdict:
    return False if False in verdicts else None if None in verdicts else True


def _any(verdicts: list[Verdict]) -> Verdict:
    return True if True in verdicts else None if None in verdicts else False


def _test(s: Verification, attribute: str, test: tuple[str, Any], hit: _Hit) -> Verdict:
    op, wanted = test
    s.spend(1)
    if attribute in UNREAD:
        return None
    if op == "exists":
        return hit.has(attribute) is wanted
    if not hit.has(attribute):
        return False
    word, _, folded = op.partition("_")
    ready = hit.ready(attribute, folded=bool(folded))
    if ready is None:
        return None
    s.spend(_weight(wanted) * (_HALVINGS if word == "prefix" else 1) + ready.weight)
    return _holds(word, wanted, ready)


def _holds(word: str, wanted: Any, ready: _Ready) -> bool:
    value = ready.value
    match word:
        case "eq":
            return _equal(wanted, value)
        case "in":
            return bool(_keys([value]) & _keys(wanted))
        case "any" | "all":
            hits = [_key(each) in ready.keys for each in wanted]
            return bool(hits) and (any(hits) if word == "any" else all(hits))
        case "prefix":
            after = bisect_left(ready.texts, wanted)
            return any(text.startswith(wanted) for text in ready.texts[after : after + 1])
        case _:
            return _sort(value) == _sort(wanted) in {"number", "text"} and (
                _BOUNDS[word](value, wanted)
            )


def _equal(one: Any, two: Any) -> bool:
    """Equality without coercion: true is not 1, and "1" is not 1."""
    return _sort(one) == _sort(two) != "other" and one == two


def _key(value: Any) -> tuple[str, Any]:
    """Equal for values that are equal without coercion; lists and objects equal nothing."""
    sort = _sort(value)
    return sort, None if sort == "other" else value


def _keys(values: Iterable[Any]) -> set[tuple[str, Any]]:
    """The keys of the values that can be equal to others."""
    return {key for key in map(_key, values) if key[0] != "other"}


def _sort(value: Any) -> str:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "null" if value is None else "other"
