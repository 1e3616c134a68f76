"""Every number of a recipe: its path, its value, what it means and what it may be.

A page draws a slider for each of them, and a change is an override of the same path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast, get_args

from pydantic import BaseModel

from memoriter.lanes.spec import meaning_of
from memoriter.pipeline.recipe import Recipe

_LEFT_OUT: Final = ("final.limit", "final.least")
"""Options of a call, not of the ranking."""
_STEPS: Final = 200
"""How many steps a slider has, about."""
_REACH: Final = 4
"""A slider without a near bound goes to this multiple of the value."""


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
    most: float | None
    whole: bool

    @property
    def reach(self) -> tuple[float, float, float]:
        """(low, high, step) of a slider: a part of what is allowed, around the value."""
        value = self.value or 0.0
        low = 0.0 if self.least is None else self.least
        low = min(max(low, -_REACH * max(abs(value), 1.0)), value)
        high = _REACH * value if value > 0 else 1.0
        high = high if self.most is None else min(high, self.most)
        if self.most is not None and self.most <= 1.0:
            high = self.most
        high = max(high, value, low + (1.0 if self.whole else 0.0))
        step = 1.0 if self.whole else _round_step((high - low) / _STEPS)
        return low, high, max(step, 1.0) if self.whole else step

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
            "most": self.most,
            "whole": self.whole,
            "low": low,
            "high": high,
            "step": step,
        }


def _round_step(step: float) -> float:
    """The next smaller 1, 2 or 5 times a power of ten.

    >>> _round_step(0.0044), _round_step(0.01)
    (0.002, 0.01)
    """
    power = 10.0 ** float(f"{step:e}".partition("e")[2]) if step > 0 else 0.001
    return next((round(n * power, 9) for n in (5, 2, 1) if n * power <= step * 1.0001), power)


def numbers_of(recipe: Recipe) -> list[RecipeNumber]:
    """Every number of a recipe that changes a ranking, in the order of the recipe."""
    return [
        number
        for group, part, title in _parts_of(recipe)
        for number in _numbers(group, part, title)
        if number.path not in _LEFT_OUT
    ]


def _parts_of(recipe: Recipe) -> Iterator[tuple[str, BaseModel, str]]:
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


def _passes_of(recipe: Recipe) -> Iterator[tuple[str, BaseModel, str]]:
    for at, step in enumerate(recipe.passes):
        if step.fuse is not None:
            yield f"pass.{at}.fuse", step.fuse, f"fusion: {step.fuse.about}"
        if step.rerank is not None:
            yield f"pass.{at}.rerank", step.rerank, "second pass: the reranker"
        if step.head is not None:
            yield f"pass.{at}.head", step.head, "second pass: which candidates it reads"


def _numbers(group: str, part: BaseModel, title: str) -> Iterator[RecipeNumber]:
    data = part.model_dump(mode="json", by_alias=True)
    kind = type(part)
    for name, field in kind.model_fields.items():
        key = field.alias or name
        about = meaning_of(kind, key)
        hint = (field.annotation, *field.metadata)
        for path, value in _leaves(f"{group}.{key}", data.get(key)):
            if value is None and not _is_number(field.annotation):
                continue
            whole = isinstance(value, int) or (value is None and int in _arms(field.annotation))
            least, most = _bound(hint, "ge"), _bound(hint, "le")
            tail = path.removeprefix(f"{group}.{key}").lstrip(".").replace(".", ", ")
            yield RecipeNumber(
                path=path,
                group=group,
                title=title,
                value=value,
                about=f"{about} ({tail})" if tail else about,
                least=least,
                most=most,
                whole=whole,
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


def _bound(hints: tuple[Any, ...], side: str) -> float | None:
    """The bound that a field's annotation gives its numbers, however deep it stands."""
    for hint in hints:
        metadata = getattr(hint, "__metadata__", ())
        for each in (hint, *metadata, *(m for e in metadata for m in getattr(e, "metadata", ()))):
            value = getattr(each, side, None)
            if isinstance(value, int | float) and not isinstance(each, type):
                return float(value)
        inner = _bound(get_args(hint), side)
        if inner is not None:
            return inner
    return None
