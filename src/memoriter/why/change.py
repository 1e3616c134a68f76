"""Changes to the options of a `recall`, and queries with such changes applied.

`why.whynot` searches for the smallest change that brings a record into the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.query import Query, parse_lists
from memoriter.core.scope import PARTS
from memoriter.core.where import AllOf, Test, Where, parse_where, to_data
from memoriter.pipeline.foreign_names import filter_names
from memoriter.pipeline.load import overridden, with_lists
from memoriter.pipeline.recipe import Recipe

Change = Mapping[str, object]
"""Options of `recall` with their new values."""
_MERGED: Final = ("overrides", "lists")
"""Options whose value is added to the query's own; the others replace it."""


@dataclass(frozen=True, slots=True)
class ChangedQuery:
    """A query and a recipe with the changes that were applied to them."""

    query: Query
    recipe: Recipe
    present: bool = False
    """Whether to search the present view instead of the receipt's."""

    def changed(self, change: Change) -> ChangedQuery:
        """The query and recipe after a change; raises MemoriterError if the change is invalid."""
        query, recipe = self.query, self.recipe
        for key, value in change.items():
            match key:
                case "overrides":
                    overrides = cast("dict[str, Any]", value)
                    recipe = overridden(recipe, overrides)
                    query = replace(query, overrides={**query.overrides, **overrides})
                case "lists":
                    more = parse_lists(value)
                    recipe = with_lists(recipe, more)
                    query = replace(query, lists=cast("Any", {**query.lists, **more}))
                case "where":
                    query = replace(query, where=parse_where(value))
                case "budget_tokens" | "budget_chars":
                    part = {key.removeprefix("budget_"): cast("int | None", value)}
                    query = replace(query, budget=replace(query.budget, **part))
                case _ if key in PARTS:
                    part = cast("dict[str, Any]", {key: value})
                    query = replace(query, scope=replace(query.scope, **part))
                case _:
                    query = replace(query, **cast("dict[str, Any]", {key: value}))
        return ChangedQuery(query, recipe, self.present or "known_at" in change)

    def as_options(self, change: Change) -> Change:
        """The change as options of the call that this query was made of.

        A new `where` is the whole filter. The call may have given a part of it by another option,
        `tags` or the name that a recipe has for a test, which then has to be taken back.
        """
        if "where" not in change:
            return change
        tests = [test for each in _conjuncts(self.query.where) for test in _forms(each)]
        names = filter_names(self.recipe)
        taken = {name: None for name, forms in names.items() if any(f in tests for f in forms)}
        out = {**change, **({"tags": None} if ("tags", "any") in tests else {})}
        return merged(out, {"overrides": taken}) if taken else out


def _conjuncts(where: Where) -> Iterator[Test]:
    """The tests that every record which passes the filter passes, as far as they are written."""
    if isinstance(where, AllOf):
        for part in where.parts:
            yield from _conjuncts(part)
    elif isinstance(where, Test):
        yield where


def _forms(test: Test) -> Iterator[tuple[str, str]]:
    """(attribute, operator) of a test; a range may have two operators."""
    ((attribute, spec),) = to_data(test).items()
    yield from ((attribute, op) for op in cast("dict[str, object]", spec))


def merged(one: Change, two: Change) -> dict[str, object]:
    """One change that has the effect of the first and then the second."""
    out = {**one, **two}
    for key in _MERGED:
        if one.get(key) and two.get(key):
            before = cast("dict[str, object]", one[key])
            after = cast("dict[str, object]", two[key])
            # What comes later wins where two paths lead to the same value.
            out[key] = {**{path: before[path] for path in before if path not in after}, **after}
    return out


def smaller(change: Change) -> Iterator[dict[str, object]]:
    """For each part of a change, the change without it; an override or a list is a part."""
    for key, value in change.items():
        rest = {other: each for other, each in change.items() if other != key}
        parts = cast("dict[str, object]", value) if key in _MERGED else {}
        if len(parts) < 2:  # noqa: PLR2004  # without its only part the option goes as well
            yield rest
            continue
        for path in parts:
            yield {**rest, key: {other: each for other, each in parts.items() if other != path}}
