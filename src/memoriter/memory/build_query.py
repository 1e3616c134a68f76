"""Turns the arguments of a search into a validated `Query` and its `Recipe`, with all defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from memoriter.core.budget import Budget
from memoriter.core.draft import parse_vector
from memoriter.core.errors import BadQuery, BadRecipe
from memoriter.core.names import EXACT_INT, Json, integer, metadata, names, text
from memoriter.core.options import check_known
from memoriter.core.query import (
    LIMIT_LIMIT,
    TEXT_LIMIT,
    Query,
    parse_aliases,
    parse_lists,
    parse_seeds,
)
from memoriter.core.scope import Scope
from memoriter.core.times import Now, TimeLike, micros
from memoriter.core.where import EVERYTHING, Where, parse_where, tagged
from memoriter.core.where_times import dated
from memoriter.memory.options import SearchKwargs
from memoriter.pipeline.foreign_names import both, in_callers_words, resolved_overrides
from memoriter.pipeline.load import library, only_reading, overridden, recipe_of, with_lists
from memoriter.pipeline.recipe import Recipe

_USUAL: Final = "memoriter"
"""The recipe of a call that names none."""


def build_query(
    query: str, limit: int | None, options: SearchKwargs, scope: Scope, clock: Now
) -> tuple[Query, Recipe]:
    """The query and its recipe.

    Raises BadQuery or BadRecipe, with the name of the option.
    """
    if not options:  # most calls; what follows gives the same
        recipe = recipe_of(_USUAL)
        asked, now = _question(query), clock()
        return Query(text=asked, scope=scope, now=now, limit=_limit(limit, recipe)), recipe
    check_known(options, SearchKwargs, BadQuery, "query", "limit")
    scope = scope.narrowed(options)
    recipe, overrides, tests = recipe_for(_with_minimum(options), _USUAL)
    _check_taken(recipe, options)
    lists = parse_lists(options.get("lists"))
    recipe = with_lists(recipe, lists)
    vector = options.get("vector")
    now = _time(options.get("now"), "now", clock)
    now = clock() if now is None else now
    mode = None if options.get("mode") is None else text(options.get("mode"), "mode", BadQuery, 32)
    cycle = options.get("cycle")
    recipe.mode(mode)  # raises BadQuery for a mode that the recipe does not have
    built = Query(
        text=_question(query),
        scope=scope,
        now=now,
        limit=_limit(limit, recipe),
        where=_where(options, tests, lambda: now),
        as_of=_time(options.get("as_of"), "as_of", lambda: now),
        known_at=_time(options.get("known_at"), "known_at", clock),
        overrides=cast("dict[str, Json]", overrides),
        require=_required(options.get("require")),
        vector=vector if vector is None else _vector(vector),
        aliases=parse_aliases(options.get("aliases")),
        mode=mode,
        seeds=parse_seeds(options.get("seeds"), recipe.seeded),
        lists={label: pairs for label, pairs in lists.items() if not isinstance(pairs, str)},
        cycle=None if cycle is None else integer(cycle, "cycle", 0, EXACT_INT, BadQuery),
        budget=Budget.of(options.get("budget_tokens"), options.get("budget_chars")),
    )
    return built, recipe


def _where(options: SearchKwargs, tests: Where, now: Now) -> Where:
    """The filter of a call: its `where`, its `tags` and the tests of its overrides."""
    where, tags = options.get("where"), options.get("tags")
    if where is None and tags is None:
        return tests
    return both(tagged(parse_where(dated(where, now)), tags), tests)


def _required(lanes: object) -> frozenset[str]:
    """The labels of the lanes that must run."""
    return frozenset(names(lanes, "require", BadQuery)) if lanes else frozenset()


def _question(query: object) -> str:
    if not isinstance(query, str):
        raise BadQuery(
            f"query: expected text, got {type(query).__name__}",
            hint='ask one question at a time, as text: recall("which port for ssh?")',
            field="query",
        )
    return text(query, "query", BadQuery, TEXT_LIMIT)


def _check_taken(recipe: Recipe, options: SearchKwargs) -> None:
    """Raise BadQuery for aliases or a cycle that nothing in the recipe reads."""
    for name in ("aliases", "cycle"):
        if options.get(name) not in (None, {}) and not recipe.takes(name):
            reading = [each for each in library() if recipe_of(each).takes(name)]
            raise BadQuery(
                f"{name}: recipe {recipe.name!r} does not use this option",
                hint=f"leave it out; recipes that use it: {', '.join(reading)}",
                field=name,
            )


def _with_minimum(options: SearchKwargs) -> SearchKwargs:
    """The options with `min_relevance` as the override of the recipe that it stands for.

    An override of the same value that the caller passed comes later, and is used.
    """
    least = options.get("min_relevance")
    if least is None:
        return options
    name = options.get("recipe")
    if recipe_of(_USUAL if name is None else name).relevance is None:
        raise BadQuery(
            "min_relevance: this recipe does not compute a relevance",
            hint="leave it out, or use the default recipe, which computes one (docs/relevance.md)",
            field="min_relevance",
        )
    number = isinstance(least, int | float) and not isinstance(least, bool)  # pyright: ignore[reportUnnecessaryIsInstance]  # from outside
    if not number or not 0.0 <= least <= 1.0:
        raise BadQuery(
            f"min_relevance: expected a number from 0 to 1, got {least!r}", field="min_relevance"
        )
    overrides = {"final.min_relevance": float(least), **(options.get("overrides") or {})}
    return cast("SearchKwargs", {**options, "overrides": overrides})


def recipe_for(options: SearchKwargs, default: str) -> tuple[Recipe, dict[str, object], Where]:
    """The recipe of a call: (recipe with its overrides, the overrides by path, filter tests).

    Some systems' recipes take filters as overrides; those become tests.
    """
    name = options.get("recipe")
    name = default if name is None else name
    overrides = options.get("overrides")
    if not overrides:
        return recipe_of(name), {}, EVERYTHING
    if not isinstance(overrides, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # from outside
        raise BadRecipe(
            "overrides: expected an object that maps paths to values, got"
            f" {type(overrides).__name__}",
            hint='for example overrides={"lanes.words.k1": 1.5}',
            field="overrides",
        )
    overrides = metadata(overrides, "overrides", BadRecipe)
    recipe = recipe_of(name)
    by_path, tests = resolved_overrides(recipe, overrides)
    try:
        return overridden(recipe, by_path), by_path, tests
    except BadRecipe as error:
        raise in_callers_words(recipe, overrides, error) from None


def word_lanes_only(options: SearchKwargs, clock: Now) -> SearchKwargs:
    """The options of the same search with only the word lanes of its recipe."""
    recipe, _, tests = recipe_for(options, "lexical")
    now = _time(options.get("now"), "now", clock)
    where = both(
        parse_where(dated(options.get("where"), clock if now is None else lambda: now)), tests
    )
    words = only_reading(recipe, "words")
    changes = {"recipe": words, "overrides": None, "mode": None, "where": where}
    return cast("SearchKwargs", {**options, **changes})


def _limit(limit: int | None, recipe: Recipe) -> int:
    """The number of hits: the caller's limit, else the recipe's."""
    if limit is None:
        return recipe.usual_limit
    # Some systems read a limit of zero or less as "use the default".
    unset = recipe.not_positive == "default"
    least = -EXACT_INT if unset else recipe.final.least
    checked = integer(limit, "limit", least, LIMIT_LIMIT, BadQuery)
    return recipe.usual_limit if unset and checked <= 0 else checked


def _time(value: TimeLike | None, field: str, now: Now) -> int | None:
    return None if value is None else micros(value, field, BadQuery, now)


def _vector(value: Sequence[float]) -> tuple[float, ...]:
    """The caller's own vector; an empty list is kept, and means that there is none."""
    empty = isinstance(value, list | tuple) and not value
    return () if empty else parse_vector(value, "vector", BadQuery, zero=True)
