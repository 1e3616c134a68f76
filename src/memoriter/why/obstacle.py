"""What stands in the way of a record in a finished search, and what could be asked instead."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from memoriter.core.query import LIMIT_LIMIT
from memoriter.core.times import iso
from memoriter.core.where import EVERYTHING, AllOf, Where, to_data
from memoriter.index.filter import passing
from memoriter.index.ids import rows_by_id
from memoriter.index.reads import numbers, strings
from memoriter.index.selection import first_exclusion
from memoriter.lanes.port import Context
from memoriter.pipeline.bind import criteria_of
from memoriter.pipeline.plan import BUDGET
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.run import Ran
from memoriter.text.prompt import head_size
from memoriter.why.case import Finished
from memoriter.why.change import Change
from memoriter.why.dropped import dropped
from memoriter.why.missed import misses


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Where a record is lost, why, and what may lead past that, the smallest first."""

    stage: str
    reason: str
    options: tuple[Change, ...] = ()
    lanes: Mapping[str, str] = field(default_factory=dict[str, str])


def obstacle_of(done: Finished, id: str) -> Obstacle:
    """The first thing in the way of a record that is no hit."""
    ran, ctx = done.ran, done.ctx
    recipe = ran.plan.recipe
    row = rows_by_id(ctx.view, [id], ctx.view.visible).get(id)
    if row is None:
        reason = f"it is not in the view of this search, which ends at entry {ctx.view.seq}"
        return Obstacle("view", reason, ({"known_at": None},))
    criteria = criteria_of(ctx.query, recipe, ctx.recorded)
    stage = first_exclusion(ctx.view, criteria, row, ctx.fetch)
    if stage is not None:
        return _SELECTING[stage](ctx, recipe, row)
    if row not in ran.scored.rows:
        return _not_found(ran, ctx, row)
    lost = dropped(ran, ctx, row)
    if lost is not None:
        return Obstacle(lost.stage, lost.reason, lost.options)
    return _behind(ran, ctx, row)


def _behind(ran: Ran, ctx: Context, row: int) -> Obstacle:
    """It stands behind the limit."""
    rank = int(np.flatnonzero(ran.slate.rows == row)[0]) + 1
    limit = ctx.query.limit
    if rank <= limit:
        return _no_room(ran, ctx, rank)
    reason = f"it stands at rank {rank} of {ran.slate.rows.size}; {limit} were asked for"
    options = ({"limit": rank},) if rank <= LIMIT_LIMIT else ()
    return Obstacle("limit", reason, options)


def _no_room(ran: Ran, ctx: Context, rank: int) -> Obstacle:
    """Its entry does not fit into what the ones above it leave of the budget."""
    sizes, kept = ran.moves[BUDGET].beside, ran.moves[BUDGET].at
    bounds = ctx.query.budget.to_dict()
    above = kept[kept < rank - 1]
    needs: list[dict[str, object]] = [{}, {}]
    for key, head in zip(("tokens", "chars"), head_size(), strict=True):
        if f"budget_{key}" in bounds:
            own = float(sizes[key][rank - 1])
            needs[0][f"budget_{key}"] = head + int(np.nansum(sizes[key][above]) + own)
            needs[1][f"budget_{key}"] = head + int(np.nansum(sizes[key][:rank]))
    taken = ", ".join(f"{key} {value}" for key, value in needs[0].items())
    reason = f"it stands at rank {rank}, and its entry does not fit: that takes {taken}"
    return Obstacle("budget", reason, (*needs, dict.fromkeys(bounds)))


def _not_found(ran: Ran, ctx: Context, row: int) -> Obstacle:
    """No lane found it, or none that gives a score."""
    brought = [label for label, ranking in ran.rankings.items() if row in ranking.rows]
    missed = misses(ran, ctx, row)
    listed = _listing(ran.plan.recipe, ctx, row)
    if brought:
        reason = f"lane {brought[0]} brought it, and nothing gave it a score"
        return Obstacle("score", reason, (*missed.options, listed), missed.reasons)
    short = "; ".join(f"{label}: {why}" for label, why in missed.reasons.items())
    reason = f"no lane found it: {short}"
    return Obstacle("lanes", reason, (*missed.options, listed), missed.reasons)


def _listing(recipe: Recipe, ctx: Context, row: int) -> Change:
    """What always makes a candidate of a record: a list of the caller's own."""
    taken = {*recipe.lanes, *recipe.boosts}
    label = next(name for n in range(len(taken) + 1) if (name := f"mine{n or ''}") not in taken)
    (id,) = strings(ctx.view, np.array([row]), "id")
    return {"lists": {label: [[id, 1.0]]}}


# -- what leaves a record out before any lane looks ----------------------------------------------


def _scope(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    del recipe
    asked = ctx.query.scope.filters()
    own = {key: strings(ctx.view, np.array([row]), key)[0] for key in asked}
    other = [key for key, value in asked.items() if own[key] != value]
    differing = ", ".join(f"{key} {asked[key]!r}, and it is of {own[key]!r}" for key in other)
    scope = {key: value for key, value in asked.items() if key not in other}
    return Obstacle("scope", f"the question was asked for {differing}", ({"scope": scope},))


def _trust(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    (trust,) = strings(ctx.view, np.array([row]), "trust")
    wanted = recipe.select.trust or ()
    reason = f"its trust is {trust}; the recipe keeps to {' and '.join(wanted) or 'none'}"
    return Obstacle("trust", reason, (_overriding("select.trust", [*wanted, trust]),))


def _reflections(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    del ctx, row
    only = recipe.select.reflections == "only"
    reason = "it is no reflection, and only those were asked for" if only else "it is a reflection"
    option = _overriding("select.reflections", "show")
    return Obstacle("reflections", reason if only else f"{reason}, and those are hidden", (option,))


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
    (by,) = ctx.replaced_by(np.array([row]))
    reason = f"{', '.join(by)} took its place" if by else "another record took its place"
    return Obstacle("superseded", reason, (_overriding("select.superseded", "show"),))


def _as_of(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    del row
    when = iso(ctx.query.as_of or 0)
    reason = f"it was not valid at {when}"
    if recipe.select.as_of == "append":
        reason = f"it had not been written at {when}, or had been replaced by then"
    return Obstacle("as_of", reason, ({"as_of": None},))


def _where(ctx: Context, recipe: Recipe, row: int) -> Obstacle:
    del recipe
    failed: list[Where] = []
    rest = _holding(ctx.query.where, ctx, row, failed)
    tests = " and ".join(json.dumps(to_data(part), ensure_ascii=False) for part in failed)
    where = None if rest is None or rest == EVERYTHING else to_data(rest)
    return Obstacle("where", f"it fails {tests}", ({"where": where},))


def _holding(where: Where, ctx: Context, row: int, failed: list[Where]) -> Where | None:
    """The condition without the parts that a record fails; those are noted."""
    if _passes(where, ctx, row):
        return where
    if not isinstance(where, AllOf):
        failed.append(where)
        return None
    kept = [part for each in where.parts if (part := _holding(each, ctx, row, failed)) is not None]
    return AllOf(tuple(kept))


def _passes(where: Where, ctx: Context, row: int) -> bool:
    for segment in ctx.view.segments:
        mask = np.zeros(len(segment), np.bool_)
        mask[segment.places(np.array([row]))[0]] = True
        if mask.any():
            return bool(passing(where, segment, mask, ctx.fetch).any())
    return False


def _overriding(path: str, value: object) -> Change:
    return {"overrides": {path: value}}


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
"""What to say of each thing that leaves a record out."""
