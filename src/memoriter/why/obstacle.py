"""Finds the first stage of a finished search that kept a record out, and changes that may help.

The stages are checked in the order in which a search applies them: view, filters, lanes, orderings,
limit, budget. `why.whynot` calls `obstacle_of` and tries the changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import cast

import numpy as np

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.query import LIMIT_LIMIT
from memoriter.core.times import iso
from memoriter.core.where import EVERYTHING, AllOf, Where, to_data
from memoriter.core.where_times import shown_data
from memoriter.index.filter import passing
from memoriter.index.ids import rows_by_id
from memoriter.index.reads import numbers, strings
from memoriter.index.selection import first_exclusion
from memoriter.lanes.missed import EVERY, lane_with_options, place_of
from memoriter.lanes.port import Context, Lane, Miss
from memoriter.pipeline.bind import criteria_of
from memoriter.pipeline.orderings.port import Dropping, apply_move
from memoriter.pipeline.plan import reasons_of
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.relevance import RELEVANCE
from memoriter.pipeline.run import Ran
from memoriter.pipeline.steps import BUDGET
from memoriter.text.prompt import head_size
from memoriter.why.case import Finished
from memoriter.why.change import Change


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The stage that kept a record out, the reason, and changes that may help, smallest first."""

    stage: str
    reason: str
    options: tuple[Change, ...] = ()
    lanes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Lane → why it did not find the record, if no lane with scores found it."""


def obstacle_of(done: Finished, id: str) -> Obstacle:
    """The first obstacle of a record that is not among the hits."""
    ran, ctx = done.ran, done.ctx
    recipe = ran.plan.recipe
    row = rows_by_id(ctx.view, [id], ctx.view.visible).get(id)
    if row is None:
        reason = f"it is not in the view of this search, which ends at entry {ctx.view.seq}"
        return Obstacle("view", reason, ({"known_at": None},))
    criteria = criteria_of(ctx.query, recipe, ctx.recorded)
    stage = first_exclusion(ctx.view, criteria, row, ctx.fetch, ctx.effects.work)
    if stage is not None:
        return _SELECTING[stage](ctx, recipe, row)
    if row not in ran.scored.rows:
        return _not_found(ran, ctx, row)
    return _dropped(ran, ctx, row) or _behind(ran, ctx, row)


def _overriding(path: str, value: object) -> Change:
    return {"overrides": {path: value}}


# -- after the orderings: limit and budget ---------------------------------------------------------


def _behind(ran: Ran, ctx: Context, row: int) -> Obstacle:
    """The record is ranked below the limit, or its entry does not fit into the budget."""
    rank = int(np.flatnonzero(ran.slate.rows == row)[0]) + 1
    limit = ctx.query.limit
    if rank <= limit:
        return _no_room(ran, ctx, rank)
    reason = f"it is at rank {rank} of {ran.slate.rows.size}, and the limit is {limit}"
    options = ({"limit": rank},) if rank <= LIMIT_LIMIT else ()
    return Obstacle("limit", reason, options)


def _no_room(ran: Ran, ctx: Context, rank: int) -> Obstacle:
    """The entry does not fit into the rest of the budget.

    Three options: a budget with room for it after the entries that were kept, one with room for
    all entries above it (a larger budget may keep more of them), and no budget.
    """
    sizes, kept = ran.moves[BUDGET].details, ran.moves[BUDGET].at
    bounds = ctx.query.budget.to_dict()
    above = kept[kept < rank - 1]
    needs: list[dict[str, object]] = [{}, {}]
    for key, head in zip(("tokens", "chars"), head_size(), strict=True):
        if f"budget_{key}" in bounds:
            own = float(sizes[key][rank - 1])
            needs[0][f"budget_{key}"] = head + int(np.nansum(sizes[key][above]) + own)
            needs[1][f"budget_{key}"] = head + int(np.nansum(sizes[key][:rank]))
    taken = ", ".join(f"{key} {value}" for key, value in needs[0].items())
    reason = f"it is at rank {rank}, and its entry does not fit into the budget: it needs {taken}"
    return Obstacle("budget", reason, (*needs, dict.fromkeys(bounds)))


# -- orderings -------------------------------------------------------------------------------------


def _dropped(ran: Ran, ctx: Context, row: int) -> Obstacle | None:
    """The ordering that dropped a candidate; None if none did."""
    recipe, slate = ran.plan.recipe, ran.scored
    orderings = list(recipe.ordering_steps.items())
    for name, move in ran.moves.items():
        if name == BUDGET:  # it comes after the limit: see `_no_room`
            break
        at = int(np.flatnonzero(slate.rows == row)[0])
        if at not in move.at:
            dropping = Dropping(ctx, recipe, slate, move, at)
            if name == "min_score":
                return _below(dropping)
            if name == "min_relevance":
                return _not_relevant(dropping)
            n = next(n for n, (label, _) in enumerate(orderings) if label == name)
            why = orderings[n][1].dropped(dropping)
            options = [_overriding(f"order.{n}.{key}", value) for key, value in why.options.items()]
            off = _overriding(f"order.{n}.enabled", value=False)
            return Obstacle(name, why.reason, (*options, off))
        # The next ordering saw the slate as this one left it.
        slate = apply_move(slate, name, move)
    return None


def _below(dropping: Dropping) -> Obstacle:
    score = float(dropping.slate.first_score[dropping.at])
    floor = dropping.recipe.final.min_score
    reason = f"its score of {score:.6g} lies below min_score = {floor:g}"
    return Obstacle("min_score", reason, (_overriding("final.min_score", score),))


def _not_relevant(dropping: Dropping) -> Obstacle:
    relevance = float(dropping.slate.columns[RELEVANCE][dropping.at])
    floor = dropping.recipe.final.min_relevance
    reason = f"its relevance of {relevance:.6g} lies below min_relevance = {floor:g}"
    return Obstacle("min_relevance", reason, (_overriding("final.min_relevance", relevance),))


# -- lanes -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Misses:
    """Why lanes did not find a row, and changes that may help."""

    reasons: Mapping[str, str]
    options: tuple[Change, ...]


def _not_found(ran: Ran, ctx: Context, row: int) -> Obstacle:
    """No lane found the record, or only lanes that give no score."""
    unscored = [label for label, ranking in ran.rankings.items() if row in ranking.rows]
    missed = _misses(ran, ctx, row)
    listed = _listing(ran.plan.recipe, ctx, row)
    if unscored:
        reason = f"lane {unscored[0]} found it, but gives no score; no other lane gave it one"
        return Obstacle("score", reason, (*missed.options, listed), missed.reasons)
    short = "; ".join(f"{label}: {why}" for label, why in missed.reasons.items())
    reason = f"no lane found it: {short}"
    return Obstacle("lanes", reason, (*missed.options, listed), missed.reasons)


def _listing(recipe: Recipe, ctx: Context, row: int) -> Change:
    """The change that makes any record a candidate: a list that names it."""
    taken = {*recipe.lanes, *recipe.boosts}
    label = next(name for n in range(len(taken) + 1) if (name := f"given{n or ''}") not in taken)
    (id,) = strings(ctx.view, np.array([row]), "id")
    return {"lists": {label: [[id, 1.0]]}}


def _misses(ran: Ran, ctx: Context, row: int) -> _Misses:
    """Why each lane did not find a row, and what to change, the fewest options first."""
    recipe = ran.plan.recipe
    skipped = reasons_of(ran.plan)
    reasons: dict[str, str] = {}
    options: list[Change] = []
    for label, lane in recipe.lanes.items():
        if label in skipped:
            reasons[label] = f"did not run: {skipped[label]}"
        elif row not in ran.rankings[label].rows:
            miss = _missed(lane, ctx.at(label, ran.seeds), row)
            reasons[label] = miss.reason
            if miss.options:
                paths = {f"lanes.{label}.{key}": value for key, value in miss.options.items()}
                options.append({"overrides": paths})
    options.sort(key=lambda option: len(cast("dict[str, object]", option["overrides"])))
    options += _enabling(ran, ctx, skipped)
    return _Misses(reasons, tuple(options))


def _enabling(ran: Ran, ctx: Context, skipped: Mapping[str, str | None]) -> Iterator[Change]:
    """Changes that enable a disabled lane, or leave a mode that excludes lanes."""
    for label, lane in ran.plan.recipe.lanes.items():
        if label in skipped and not lane.enabled:
            yield {"overrides": {f"lanes.{label}.enabled": True}}
    if ctx.query.mode is not None:
        yield {"mode": None}


def _missed(lane: Lane, ctx: Context, row: int) -> Miss:
    """Why a lane did not find a row; first of all whether its pool was too small."""
    pool = cast("int | None", getattr(lane, "pool", None))
    if pool is not None:
        place = place_of(lane_with_options(lane, pool=EVERY), ctx, row)
        if place is not None:
            reason = f"it is at rank {place} there, outside the pool of {pool}"
            return Miss(reason, {"pool": place})
    return lane.missed(ctx, row)


# -- filters, which apply before the lanes --------------------------------------------------------


def _scope(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    del recipe
    wanted = ctx.query.scope.filters()
    own = {key: strings(ctx.view, np.array([row]), key)[0] for key in wanted}
    other = [key for key, value in wanted.items() if own[key] != value]
    differing = ", ".join(f"{key} {wanted[key]!r}, and its {key} is {own[key]!r}" for key in other)
    return Obstacle("scope", f"the search is limited to {differing}", (dict.fromkeys(other),))


def _trust(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    (trust,) = strings(ctx.view, np.array([row]), "trust")
    wanted = recipe.select.trust or ()
    reason = f"its trust is {trust}; the recipe returns only {' and '.join(wanted) or 'none'}"
    return Obstacle("trust", reason, (_overriding("select.trust", [*wanted, trust]),))


def _reflections(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    del ctx, row
    only = recipe.select.reflections == "only"
    reason = "it is a reflection, and the recipe hides reflections"
    if only:
        reason = "it is not a reflection, and the recipe returns only reflections"
    return Obstacle("reflections", reason, (_overriding("select.reflections", "show"),))


def _archived(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    del ctx, recipe, row
    option = _overriding("select.archived", "show")
    return Obstacle("archived", "it is archived", (option,))


def _expired(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    del recipe
    at = int(numbers(ctx.view, np.array([row]), "expires")[0])
    option = _overriding("select.expired", "show")
    return Obstacle("expired", f"it expired at {iso(at)}", (option,))


def _superseded(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    del recipe
    (by,) = ctx.replacing_ids(np.array([row]))
    reason = f"{', '.join(by)} took its place" if by else "another record took its place"
    return Obstacle("superseded", reason, (_overriding("select.superseded", "show"),))


def _as_of(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    at = ctx.query.as_of or 0
    when = iso(at)
    rows = np.array([row])
    since, until = numbers(ctx.view, rows, "valid_from"), numbers(ctx.view, rows, "valid_until")
    # A record without a bound has NaN there, which compares as false.
    outside = bool((since > at).any() or (until <= at).any())
    reason = f"it was not valid at {when}" if outside else f"it replaced another only after {when}"
    if recipe.select.as_of == "append":
        reason = f"it had not been written at {when}, or had been replaced by then"
    return Obstacle("as_of", reason, ({"as_of": None},))


def _where(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    del recipe
    failed: list[Where] = []
    rest = _holding(ctx.query.where, ctx, row, failed)
    tests = " and ".join(
        json.dumps(shown_data(to_data(part)), ensure_ascii=False) for part in failed
    )
    # The rest may be nested too deeply to be an option: then the search is left without a filter.
    where = [] if rest == EVERYTHING else [to_data(rest)]
    options = tuple({"where": each} for each in (*where, None))
    return Obstacle("where", f"it fails {tests}", options)


def _holding(where: Where, ctx: Context, row: int, failed: list[Where]) -> Where:
    """The condition without the parts that a record fails; these are appended to `failed`."""
    if _passes(where, ctx, row):
        return where
    if not isinstance(where, AllOf):
        failed.append(where)
        return EVERYTHING
    parts = [_holding(each, ctx, row, failed) for each in where.parts]
    kept = [part for part in parts if part != EVERYTHING]
    return kept[0] if len(kept) == 1 else AllOf(tuple(kept))


def _passes(where: Where, ctx: Context, row: int) -> bool:
    for segment in ctx.view.segments:
        mask = np.zeros(len(segment), np.bool_)
        mask[segment.places(np.array([row]))[0]] = True
        if mask.any():  # each row is in exactly one segment
            return bool(passing(where, segment, mask, ctx.fetch, ctx.effects.work).any())
    return False


_SELECTING = {
    "scope": _scope,
    "trust": _trust,
    "reflections": _reflections,
    "archived": _archived,
    "expired": _expired,
    "superseded": _superseded,
    "as_of": _as_of,
    "where": _where,
}
"""Filter → function that explains why it left the record out."""
