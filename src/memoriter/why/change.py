"""Changes to the options of a `recall`, and queries with such changes applied.

`why.whynot` searches for the smallest change that brings a record into the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from memoriter.core.query import Query, parse_lists
from memoriter.core.scope import Scope
from memoriter.core.where import parse_where
from memoriter.pipeline.load import overridden, with_lists
from memoriter.pipeline.recipe import Recipe

Change = Mapping[str, object]
"""Options of `recall` with their new values; `scope` replaces the scope of the memory."""
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
                case "scope":
                    # The tenant stays: no change may lead into another tenant's records.
                    scope = cast("dict[str, str]", value)
                    query = replace(query, scope=Scope.of(query.scope.tenant, **scope))
                case _:
                    query = replace(query, **cast("dict[str, Any]", {key: value}))
        return ChangedQuery(query, recipe, self.present or "known_at" in change)


def merged(one: Change, two: Change) -> dict[str, object]:
    """One change that has the effect of the first and then the second."""
    out = {**one, **two}
    for key in _MERGED:
        if key in one and key in two:
            out[key] = {
                **cast("dict[str, object]", one[key]),
                **cast("dict[str, object]", two[key]),
            }
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
