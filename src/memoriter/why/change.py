"""A change of a question, in the words of `recall`: what to ask instead."""

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
"""Options of `recall` with their new values; `scope` is who asks instead."""
_MERGED: Final = ("overrides", "lists")
"""Options that add to what was asked and do not take its place."""


@dataclass(frozen=True, slots=True)
class ChangedQuery:
    """A question as it was, and what has been changed so far."""

    query: Query
    recipe: Recipe
    present: bool = False
    """Whether it is asked of the present view and not of the past one."""

    def changed(self, change: Change) -> ChangedQuery:
        """The question after a change."""
        query, recipe = self.query, self.recipe
        for key, value in change.items():
            match key:
                case "overrides":
                    told = cast("dict[str, Any]", value)
                    recipe = overridden(recipe, told)
                    query = replace(query, overrides={**query.overrides, **told})
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
                    mine = cast("dict[str, str]", value)
                    query = replace(query, scope=Scope.of(query.scope.tenant, **mine))
                case _:
                    query = replace(query, **cast("dict[str, Any]", {key: value}))
        return ChangedQuery(query, recipe, self.present or "known_at" in change)


def merged(one: Change, two: Change) -> dict[str, object]:
    """Both changes, the second after the first."""
    out = {**one, **two}
    for key in _MERGED:
        if key in one and key in two:
            out[key] = {
                **cast("dict[str, object]", one[key]),
                **cast("dict[str, object]", two[key]),
            }
    return out


def smaller(change: Change) -> Iterator[dict[str, object]]:
    """The change without one of its parts, for each part."""
    for key, value in change.items():
        rest = {other: told for other, told in change.items() if other != key}
        parts = cast("dict[str, object]", value) if key in _MERGED else {}
        if len(parts) < 2:  # noqa: PLR2004  # it is one part
            yield rest
            continue
        for path in parts:
            yield {**rest, key: {other: told for other, told in parts.items() if other != path}}
