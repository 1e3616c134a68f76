"""From what a caller asks to a complete question: every part checked, every default filled in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from memoriter.core.budget import Budget
from memoriter.core.draft import vector_of
from memoriter.core.errors import BadQuery, BadRecipe
from memoriter.core.names import EXACT_INT, Json, integer, metadata, names, text
from memoriter.core.options import check_known
from memoriter.core.query import LIMIT_LIMIT, TEXT_LIMIT, Query, aliases_of, lists_of, seeds_of
from memoriter.core.scope import Scope
from memoriter.core.times import Now, TimeLike, micros
from memoriter.core.where import Where, dated, parse, tagged
from memoriter.memory.options import Ask
from memoriter.pipeline.foreign_names import both, in_callers_words, resolved_overrides
from memoriter.pipeline.load import only_kind, overridden, recipe_of, with_lists
from memoriter.pipeline.recipe import Recipe


def asked_for(
    query: str, limit: int | None, ask: Ask, edge: tuple[Scope, Now]
) -> tuple[Query, Recipe]:
    """The question and its recipe; `edge` is who asks, and where time enters."""
    check_known(ask, Ask, BadQuery, "query", "limit")
    scope, clock = edge
    scope = scope.narrowed(ask)
    recipe, mine, tests = recipe_for(ask, "memoriter")
    lists = lists_of(ask.get("lists"))
    recipe = with_lists(recipe, lists)
    vector = ask.get("vector")
    now = _time(ask.get("now"), "now", clock)
    now = clock() if now is None else now
    mode = None if ask.get("mode") is None else text(ask.get("mode"), "mode", BadQuery, 32)
    cycle = ask.get("cycle")
    recipe.mode(mode)
    question = Query(
        text=text(query, "query", BadQuery, TEXT_LIMIT),
        scope=scope,
        now=now,
        limit=_limit(limit, recipe),
        where=both(tagged(parse(dated(ask.get("where"), lambda: now)), ask.get("tags")), tests),
        as_of=_time(ask.get("as_of"), "as_of", lambda: now),
        known_at=_time(ask.get("known_at"), "known_at", clock),
        overrides=cast("dict[str, Json]", mine),
        require=frozenset(names(ask.get("require") or (), "require", BadQuery)),
        given=vector if vector is None else _vector(vector),
        aliases=aliases_of(ask.get("aliases")),
        mode=mode,
        seeds=seeds_of(ask.get("seeds"), recipe.seeded),
        lists={label: told for label, told in lists.items() if not isinstance(told, str)},
        cycle=None if cycle is None else integer(cycle, "cycle", 0, EXACT_INT, BadQuery),
        budget=Budget.of(ask.get("budget_tokens"), ask.get("budget_chars")),
    )
    return question, recipe


def recipe_for(ask: Ask, usual: str) -> tuple[Recipe, dict[str, object], Where]:
    """(the recipe with the call's overrides, these by path, those that are tests of the filter)."""
    overrides = metadata(ask.get("overrides") or {}, "overrides", BadRecipe)
    given = ask.get("recipe")
    recipe = recipe_of(usual if given is None else given)
    mine, tests = resolved_overrides(recipe, overrides)
    try:
        return overridden(recipe, mine), mine, tests
    except BadRecipe as error:
        raise in_callers_words(recipe, overrides, error) from None


def words_alone(ask: Ask, clock: Now) -> Ask:
    """The same question to the word lanes of its recipe alone."""
    recipe, _, tests = recipe_for(ask, "lexical")
    now = _time(ask.get("now"), "now", clock)
    where = both(parse(dated(ask.get("where"), clock if now is None else lambda: now)), tests)
    told = {"recipe": only_kind(recipe, "bm25"), "overrides": None, "mode": None, "where": where}
    return cast("Ask", {**ask, **told})


def _limit(given: int | None, recipe: Recipe) -> int:
    """How many hits are asked for, by the call or by the recipe."""
    if given is None:
        return recipe.usual_limit
    unset = recipe.not_positive == "default"
    least = -EXACT_INT if unset else recipe.final.least
    asked = integer(given, "limit", least, LIMIT_LIMIT, BadQuery)
    return recipe.usual_limit if unset and asked <= 0 else asked


def _time(value: TimeLike | None, field: str, now: Now) -> int | None:
    return None if value is None else micros(value, field, BadQuery, now)


def _vector(given: Sequence[float]) -> tuple[float, ...]:
    """The caller's own vector; an empty one says that there is none."""
    empty = isinstance(given, list | tuple) and not given
    return () if empty else vector_of(given, "vector", BadQuery, zero=True)
