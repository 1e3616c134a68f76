"""Checks that the hits pass the filter of the query, by the attributes that the receipt carries."""

from __future__ import annotations

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
_ABSENT: Final = object()
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
    carried = s.body["filtered"]
    if len(carried) != len(s.standing):
        s.wrong("filtered", "does not have one entry for each hit")
        return
    for n, attributes in enumerate(carried):
        passes = None if attributes is None else _all([_passes(s, w, attributes) for w in wanted])
        if passes is False:
            s.wrong(f"filtered/{n}", "the hit does not pass the filter of the query")
        (s.attested if passes is None else s.checked)[f"filtered/{n}/passes"] = None


def _passes(s: Verification, where: Data, attributes: Data) -> Verdict:
    """Whether attributes pass a filter; several keys of one object must all hold."""
    verdicts: list[Verdict] = []
    for key, value in where.items():
        if key not in _GROUPS:
            verdicts += [_test(s, key, test, attributes) for test in value.items()]
        elif key == "not":
            inside = _passes(s, value, attributes)
            verdicts.append(None if inside is None else not inside)
        else:
            parts = [_passes(s, part, attributes) for part in value]
            verdicts.append(_all(parts) if key == "all" else _any(parts))
    return _all(verdicts)


def _all(verdicts: list[Verdict]) -> Verdict:
    return False if False in verdicts else None if None in verdicts else True


def _any(verdicts: list[Verdict]) -> Verdict:
    return True if True in verdicts else None if None in verdicts else False


def _test(s: Verification, attribute: str, test: tuple[str, Any], attributes: Data) -> Verdict:
    op, wanted = test
    if attribute in UNREAD:
        return None
    value: Any = attributes.get(attribute, _ABSENT)
    if op == "exists":
        return (value is not _ABSENT) is wanted
    if value is _ABSENT:
        return False
    word, _, folded = op.partition("_")
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    s.spend(1 + len(items) + len(cast("list[Any]", wanted) if isinstance(wanted, list) else ()))
    if folded:
        # Folding letters beyond ASCII depends on the version of Unicode.
        if not all(item.isascii() for item in items if isinstance(item, str)):
            return None
        items = [item.lower() if isinstance(item, str) else item for item in items]
        value = items if isinstance(value, list) else items[0]
    return _holds(word, wanted, value, items)


def _holds(word: str, wanted: Any, value: Any, items: list[Any]) -> bool:
    match word:
        case "eq":
            return _equal(wanted, value)
        case "in":
            return bool(_keys([value]) & _keys(wanted))
        case "any" | "all":
            there = _keys(items)
            hits = [_key(each) in there for each in wanted]
            return bool(hits) and (any(hits) if word == "any" else all(hits))
        case "prefix":
            return any(isinstance(item, str) and item.startswith(wanted) for item in items)
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
