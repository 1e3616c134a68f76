"""Builds the context of a search: selection, seeds and lists of the call.

Called by `memory/search.py` before planning; embedding the query comes later.
"""

from __future__ import annotations

import time

import numpy as np

from memoriter.core.errors import BadQuery
from memoriter.core.query import Query
from memoriter.core.ranking import Rows, Scores
from memoriter.index.ids import rows_by_id
from memoriter.index.selection import Criteria, Selection, select
from memoriter.index.ties import tie_keys
from memoriter.index.view import View
from memoriter.lanes.effects import Effects
from memoriter.lanes.port import CallRows, Context, InSpace, Wording
from memoriter.pipeline.recipe import Recipe
from memoriter.text.past import past_words
from memoriter.text.question import leave_out_words


def criteria_of(query: Query, recipe: Recipe, recorded: int | None) -> Criteria:
    """The selection criteria: scope and filter of the query, `select` of the recipe."""
    superseded = recipe.select.superseded
    if superseded == "past":
        superseded = "hide" if past_words(query.text, query.now) is None else "show"
    return Criteria(
        scope=query.scope,
        where=query.where,
        now=query.now,
        as_of=query.as_of,
        trust=recipe.select.trust,
        archived=recipe.select.archived,
        expired=recipe.select.expired,
        superseded=superseded,
        replaced_by=recipe.select.replaced_by,
        reflections=recipe.select.reflections,
        recorded=recorded,
    )


def bind(
    query: Query,
    recipe: Recipe,
    view: View,
    effects: Effects,
    wording: Wording,
    recorded: int | None = None,
) -> Context:
    """The context of a search, without the query's vector.

    Raises BadQuery if a seed or a list names an id that the caller cannot read.
    """
    began = time.perf_counter()
    selection = select(view, criteria_of(query, recipe, recorded), effects.fetch, effects.work)
    selected_ms = 1000.0 * (time.perf_counter() - began)
    seeds = {
        label: _rows(ids, f"seeds.{label}", view, selection) for label, ids in query.seeds.items()
    }
    lists = {
        label: _listed(pairs, f"lists.{label}", view, selection)
        for label, pairs in query.lists.items()
    }
    asked = asked_text(query, recipe)
    ctx = Context(
        query,
        view,
        selection,
        wording,
        (InSpace("serving", view),),
        call=CallRows(seeds, lists),
        effects=effects,
        recorded=recorded,
        replaced_by=recipe.select.replaced_by,
        asked=asked,
        keys=tie_keys(view, recipe.ties),
        selected_ms=selected_ms,
    )
    return ctx.changed(embedded=embedded_text(ctx, recipe))


def asked_text(query: Query, recipe: Recipe) -> str:
    """The question without the words that a lane of `apart` reads by itself.

    A time that the question names says when, not what: its vector would draw records that mention
    dates. A question of nothing else stays as it is.
    """
    text = query.text
    running = recipe.mode(query.mode).lanes
    for label in recipe.apart:
        if label in running and recipe.lanes[label].enabled:
            text = leave_out_words(text, recipe.lanes[label].own_words(query))
    return text


def embedded_text(ctx: Context, recipe: Recipe) -> str:
    """The question as it is embedded: without what boosts of the first pass read by themselves."""
    text = ctx.asked
    for label in recipe.passes[0].boosts:
        if label in recipe.boosts:
            text = recipe.boosts[label].asked_without(ctx, text)
    return text


def _listed(
    pairs: tuple[tuple[str, float], ...], field: str, view: View, selection: Selection
) -> tuple[Rows, Scores]:
    """A list of the caller as (rows, scores); an id that occurs twice keeps its best score."""
    best: dict[str, float] = {}
    for one, score in pairs:
        best[one] = max(score, best.get(one, score))
    return _rows(tuple(best), field, view, selection), np.array(list(best.values()), np.float64)


def _rows(ids: tuple[str, ...], field: str, view: View, selection: Selection) -> Rows:
    """The rows of these ids; BadQuery if the caller cannot read one of them."""
    known = rows_by_id(view, ids, selection.readable)
    if missing := [one for one in ids if one not in known]:
        raise BadQuery(
            f"{field}: no record that this call can read has the id"
            f" {', '.join(map(repr, missing))}",
            hint="give ids of records that are in scope and valid at the time asked for; browse"
            " lists records",
            field=field,
        )
    return np.array([known[one] for one in ids], np.int64)
