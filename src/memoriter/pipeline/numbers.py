"""Every number of a recipe: its path, its value, what it means and what it may be.

A page draws a slider for each of them, and a change is an override of the same path.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, cast, get_args, get_origin

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.validation import DataMistake
from memoriter.lanes.port import Lane
from memoriter.lanes.spec import Spec, fields_of, meaning_of
from memoriter.pipeline.recipe import Recipe

_LEFT_OUT: Final = ("final.limit", "final.least")
"""Options of a call, not of the ranking."""
_NEEDS_RELEVANCE: Final = "final.min_relevance"
"""A number that only a recipe with relevance takes."""
_STEPS: Final = 200
"""How many steps a slider has, about."""
_REACH: Final = 4
"""A slider without a near bound goes to this multiple of the value."""
NO_LIMITS: Final[Mapping[str, int]] = MappingProxyType({})
_Reach = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class RecipeNumber:
    """One number of a recipe."""

    path: str
    group: str
    """The part that it belongs to, as a path."""
    title: str
    """The part in a few words."""
    value: float | None
    """None if it is switched off."""
    about: str
    least: float | None
    above: float | None
    """It is more than this, where there is no least value."""
    most: float | None
    whole: bool
    reach: tuple[float, float, float]
    """(low, high, step) of a slider: a part of what is allowed, around the recipe's value. The
    recipe takes every position of it."""

    def to_dict(self) -> dict[str, object]:
        """The number as plain data."""
        low, high, step = self.reach
        return {
            "path": self.path,
            "group": self.group,
            "title": self.title,
            "value": self.value,
            "about": self.about,
            "least": self.least,
            "above": self.above,
            "most": self.most,
            "whole": self.whole,
            "low": low,
            "high": high,
            "step": step,
        }


def numbers_of(
    recipe: Recipe, changed: Recipe | None = None, most: Mapping[str, int] = NO_LIMITS
) -> list[RecipeNumber]:
    """Every number of a recipe that changes a ranking, in the order of the recipe.

    `changed` is the recipe with overrides: then the values are those of it, and a slider goes as
    far as its other numbers allow, while its place stays that of the recipe. `most` has the largest
    value of an option of a lane, by its name, where there is one beside that of the recipe.
    """
    own = {number.path: number.reach for number, _ in _all(recipe)} if changed else {}
    return [
        _reaching(replace(number, reach=own.get(number.path, number.reach)), part, most)
        for number, part in _all(changed or recipe)
    ]


# -- sliders ---------------------------------------------------------------------------------------


def _reach(value: float | None, low: float, most: float | None, *, whole: bool) -> _Reach:
    """A slider around a value, from its lower bound or from a few times the value below 0."""
    at = value or 0.0
    low = max(low, -_REACH * max(abs(at), 1.0))
    low = low if value is None else min(low, at)
    high = _REACH * at if at > 0 else 1.0
    high = high if most is None else min(high, most)
    if most is not None and most <= 1.0:
        high = most
    high = max(high, at, low + (1.0 if whole else 0.0))
    return low, high, 1.0 if whole else _round_step((high - low) / _STEPS)


def _reaching(number: RecipeNumber, part: Spec, most: Mapping[str, int]) -> RecipeNumber:
    """The number with those positions of its slider that the part takes."""
    keys = number.path.removeprefix(f"{number.group}.").split(".")
    data = part.to_data()
    largest = most.get(keys[-1]) if isinstance(part, Lane) else None

    def takes(value: float) -> bool:
        if largest is not None and value > largest:
            return False
        try:
            changed = _with(data, keys, int(value) if number.whole else value)
            type(part).read(changed)
        except DataMistake:
            return False
        return True

    bound = number.most if largest is None else min(largest, number.most or largest)
    return replace(number, most=bound, reach=_narrowed(number.reach, number.value, takes))


def _narrowed(reach: _Reach, value: float | None, takes: Callable[[float], bool]) -> _Reach:
    """The positions around a value that are taken; what is taken is one stretch."""
    low, high, step = reach
    last = math.floor((high - low) / step + 1e-9)

    def at(n: int) -> float:
        return (
            high if n == last and high - (low + n * step) < step / 2 else round(low + n * step, 9)
        )

    if takes(low) and takes(at(last)):
        return reach
    here = min(max(math.floor(((value or 0.0) - low) / step), 0), last)
    start = next((n for n in (here, here + 1) if n <= last and takes(at(n))), None)
    if start is None:
        stays = low if value is None else value
        return stays, stays, step
    first = bisect_left(range(start), 1, key=lambda n: int(takes(at(n))))
    end = start - 1 + bisect_left(range(start, last + 1), 1, key=lambda n: int(not takes(at(n))))
    return at(first), at(end), step


def _with(data: Any, keys: list[str], value: float) -> Any:
    """A copy of the data with another value under these keys."""
    if not keys:
        return value
    key, *rest = keys
    if isinstance(data, list | tuple):
        items = list(cast("list[object]", data))
        items[int(key)] = _with(items[int(key)], rest, value)
        return items
    return {**data, key: _with(data[key], rest, value)}


def _round_step(step: float) -> float:
    """The next smaller 1, 2 or 5 times a power of ten.

    >>> _round_step(0.0044), _round_step(0.01)
    (0.002, 0.01)
    """
    power = 10.0 ** float(f"{step:e}".partition("e")[2]) if step > 0 else 0.001
    return next((round(n * power, 9) for n in (5, 2, 1) if n * power <= step * 1.0001), power)


# -- finding them ----------------------------------------------------------------------------------


def _all(recipe: Recipe) -> Iterator[tuple[RecipeNumber, Spec]]:
    """Every number that changes a ranking, and the part that has it."""
    for group, part, title in _parts_of(recipe):
        for number in _numbers(group, part, title):
            known = recipe.relevance is not None or number.path != _NEEDS_RELEVANCE
            if known and number.path not in _LEFT_OUT:
                yield number, part


def _parts_of(recipe: Recipe) -> Iterator[tuple[str, Spec, str]]:
    """(path, part, title) of every part that has numbers."""
    for label, lane in recipe.lanes.items():
        yield f"lanes.{label}", lane, f"lane {label}: {lane.about}"
    for label, boost in recipe.boosts.items():
        yield f"boosts.{label}", boost, f"boost {label}: {boost.about}"
    yield from _passes_of(recipe)
    for at, ordering in enumerate(recipe.order):
        yield f"order.{at}", ordering, f"ordering {ordering.kind_name()}: {ordering.about}"
    if recipe.relevance is not None:
        yield "relevance", recipe.relevance, "relevance: how well a hit answers, 0 to 1"
    yield "final", recipe.final, "end: what leaves"


def _passes_of(recipe: Recipe) -> Iterator[tuple[str, Spec, str]]:
    for at, pass_ in enumerate(recipe.passes):
        if pass_.fuse is not None:
            yield f"pass.{at}.fuse", pass_.fuse, f"fusion: {pass_.fuse.about}"
        if pass_.rerank is not None:
            yield f"pass.{at}.rerank", pass_.rerank, "second pass: the reranker"
        if pass_.head is not None:
            yield f"pass.{at}.head", pass_.head, "second pass: which candidates it reads"


def _numbers(group: str, part: Spec, title: str) -> Iterator[RecipeNumber]:
    data, kind = part.to_data(), type(part)
    for each in fields_of(kind).values():
        key, hint = each.key, each.hint
        if key not in data:  # an option without effect: the recipe has no such path
            continue
        about = meaning_of(kind, key)
        for path, value in _leaves(f"{group}.{key}", data[key]):
            if value is None and not _is_number(hint):
                continue
            whole = isinstance(value, int) or (value is None and int in _arms(hint))
            tail = path.removeprefix(f"{group}.{key}").lstrip(".")
            hints = _hints_at((hint, each.option.bounds), tail.split(".") if tail else [])
            least, above, most = (_bound(hints, side) for side in ("ge", "gt", "le"))
            low = (above if least is None else least) or 0.0
            yield RecipeNumber(
                path=path,
                group=group,
                title=title,
                value=value,
                about=f"{about} ({tail.replace('.', ', ')})" if tail else about,
                least=least,
                above=above,
                most=most,
                whole=whole,
                reach=_reach(value, low, most, whole=whole),
            )


def _leaves(path: str, value: object) -> Iterator[tuple[str, float | None]]:
    """Every number below a path, and an absent value at the path itself."""
    if isinstance(value, bool | str):
        return
    if value is None or isinstance(value, int | float):
        yield path, value
    elif isinstance(value, Mapping):
        for key, each in cast("Mapping[str, object]", value).items():
            yield from ((p, v) for p, v in _leaves(f"{path}.{key}", each) if v is not None)
    elif isinstance(value, list | tuple):
        for at, each in enumerate(cast("list[object]", value)):
            yield from ((p, v) for p, v in _leaves(f"{path}.{at}", each) if v is not None)


def _arms(annotation: object) -> tuple[object, ...]:
    return get_args(annotation) or (annotation,)


def _is_number(annotation: object) -> bool:
    return any(arm is int or arm is float for arm in _arms(annotation))


def _hints_at(hints: tuple[Any, ...], keys: list[str]) -> tuple[Any, ...]:
    """The type and bounds of the number that stands under these keys in a value of a type."""
    for key in keys:
        hints = next(filter(None, (_entry(hint, key) for hint in hints)), ())
    return hints


def _entry(hint: Any, key: str) -> tuple[Any, ...]:
    """The same for one key; empty if a value of the type has no such entry."""
    kind, args = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and issubclass(hint, Spec):
        fields = (each for each in fields_of(hint).values() if each.key == key)
        return next(((each.hint, each.option.bounds) for each in fields), ())
    if kind is tuple:
        return (args[0] if args[-1] is Ellipsis else args[int(key)],)
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return (args[1],)
    # A union, or a type with bounds: the part of it that has entries.
    return next(filter(None, (_entry(part, key) for part in args)), ())


def _bound(hints: tuple[Any, ...], side: str) -> float | None:
    """The bound that a field's annotation gives its numbers, however deep it stands."""
    for hint in hints:
        metadata = getattr(hint, "__metadata__", ())
        for each in (hint, *metadata):
            value = getattr(each, side, None)
            if isinstance(value, int | float) and not isinstance(each, type):
                return float(value)
        inner = _bound(get_args(hint), side)
        if inner is not None:
            return inner
    return None
