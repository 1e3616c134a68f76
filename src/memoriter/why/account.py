"""From a finished search to its receipt: the numbers that ranked, and what they rest on.

A column holds grid steps, whole numbers or floats, whichever is shortest and exact. What follows
from other columns by the recipe alone (a scaled score, a share of the weights) is left out. Record
texts are never here; words are, where they matched.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.ranking import Rows, Scores
from memoriter.core.slate import Slate, Step
from memoriter.index.ids import ids_of
from memoriter.index.reads import length, numbers
from memoriter.index.ties import ATTRIBUTES, ties_of
from memoriter.index.vectors import best_parts, units_of
from memoriter.lanes.listed import By
from memoriter.lanes.port import Context, InSpace
from memoriter.pipeline.boosts.attributes import Confidence
from memoriter.pipeline.boosts.cohesion import Cohesion
from memoriter.pipeline.boosts.recency import Recency
from memoriter.pipeline.orderings.mmr import Mmr
from memoriter.pipeline.orderings.port import Moved
from memoriter.pipeline.plan import BUDGET, named
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.run import Ran
from memoriter.rank.grid import STEP
from memoriter.text.prompt import head_size
from memoriter.why.receipt import VERSION, Receipt, sealed
from memoriter.why.result import LaneScore

Lanes = Mapping[str, Mapping[int, LaneScore]]
"""What each lane said of the rows of the answer."""
_EXACT: Final = 2.0**53
_FOLLOW: Final = (".scaled", ".weight", ".lift")
"""Ends of columns that follow from others by the recipe."""


def account(ran: Ran, ctx: Context, lanes: Lanes) -> Receipt:
    """The receipt of a search."""
    recipe = ran.plan.recipe
    ids = ids_of(ctx.reading, ran.scored.rows)
    name = dict(zip(ran.scored.rows.tolist(), ids, strict=True))
    rows = ran.shown.rows
    return sealed(
        {
            "receipt": VERSION,
            "recipe": {"fingerprint": recipe.fingerprint, "data": recipe.to_data()},
            "query": ctx.query.to_dict(),
            "view": {"tenant": ran.plan.tenant, "seq": ran.plan.seq},
            "outcomes": _outcomes(ran, ctx),
            "skipped": {s.name: s.skipped for s in ran.plan.steps if s.skipped is not None},
            "slate": _slate(ran, ctx, ids),
            "moves": [_move(name, move) for name, move in ran.moves.items() if name != BUDGET],
            **_budget(ran),
            "hits": [name[row] for row in rows.tolist()],
            "evidence": [_evidence(lanes, row) for row in rows.tolist()],
            "vectors": _vectors(ran, ctx, rows),
        }
    )


def _budget(ran: Ran) -> dict[str, object]:
    """The sizes of the rendered entries within the limit, and what the head above them takes."""
    if BUDGET not in ran.moves:
        return {}
    move = ran.moves[BUDGET]
    sizes = {  # None for what was forgotten since the view was opened
        key: [None if np.isnan(size) else int(size) for size in move.beside[key]]
        for key in ("tokens", "chars")
    }
    return {"budget": {"head": list(head_size()), **sizes, "kept": move.at.tolist()}}


def _outcomes(ran: Ran, ctx: Context) -> dict[str, object]:
    """What effects answered."""
    out: dict[str, object] = dict(ran.outcomes)
    if isinstance(ctx.vector, np.ndarray):
        out["vector"] = _spelled(ctx.vector)
    if beside := {
        each.name: _spelled(each.vector)
        for each in ctx.beside
        if isinstance(each.vector, np.ndarray)
    }:
        out["vectors"] = beside
    if ctx.recorded is not None:
        out["recorded"] = ctx.recorded
    return out


def _slate(ran: Ran, ctx: Context, ids: list[str]) -> dict[str, object]:
    slate = ran.scored
    kept = {name: c for name, c in slate.columns.items() if not name.endswith(_FOLLOW)}
    every = {**kept, **_ties(ran.plan.recipe, ctx, slate), **_attributes(ran, ctx, slate)}
    return {
        "ids": ids,
        "rows": slate.rows.tolist(),
        "columns": {name: packed(column) for name, column in every.items()},
        "steps": [_step(step) for step in slate.steps],
    }


def _step(step: Step) -> dict[str, object]:
    """A step; the parts of a sum in one order, however the lanes were declared."""
    inputs = sorted(step.inputs) if step.op == "sum" else list(step.inputs)
    return {"stage": step.stage, "op": step.op, "inputs": inputs, "out": step.out}


def packed(column: Scores) -> dict[str, list[int | float | None]]:
    """A column under the name of its unit; None where it says nothing.

    >>> packed(np.array([0.25, np.nan])), packed(np.array([3.0]))
    ({'grid': [1073741824, None]}, {'whole': [3]})
    """
    known = column[~np.isnan(column)]
    for unit, step in (("whole", 1.0), ("grid", STEP)):
        counts = known / step
        if np.abs(counts).max(initial=0.0) <= _EXACT and (np.rint(counts) == counts).all():
            told = np.where(np.isnan(column), 0.0, column / step).astype(np.int64)
            return {unit: _listed(told, column)}
    return {"float": _listed(column, column)}


def _listed(values: NDArray[np.int64] | Scores, column: Scores) -> list[int | float | None]:
    told: list[int | float | None] = values.tolist()
    for at in np.flatnonzero(np.isnan(column)).tolist():
        told[at] = None
    return told


def _ties(recipe: Recipe, ctx: Context, slate: Slate) -> dict[str, Scores]:
    """The attributes by which equals are put in order: a number whose order is theirs."""
    ties = [*recipe.ties, *(tie for step in recipe.passes for tie in step.ties or ())]
    flat = [lane.by for lane in recipe.lanes.values() if isinstance(lane, By) and lane.flat]
    names = dict.fromkeys(tie.removeprefix("-") for tie in (*ties, *flat))
    out: dict[str, Scores] = {}
    for name in names:
        if name in ATTRIBUTES and name != "row":
            (key,) = ties_of(ctx.reading, [name])(slate.rows)
            out[f"tie.{name}"] = np.where(np.isinf(key), np.nan, key)
    return out


def _attributes(ran: Ran, ctx: Context, slate: Slate) -> dict[str, Scores]:
    """What boosts read of records, as far as it is numbers; `of.length` is that of the chain."""
    names: dict[str, None] = {}
    for label in ran.plan.boosting:
        match ran.plan.recipe.boosts[label]:
            case Confidence():
                names["confidence"] = None
            case Recency() as boost:
                names[boost.of if boost.unit in ("seconds", "days") else boost.unit] = None
            case Cohesion(same_session=False):
                names["position"] = None
            case _:
                pass
    out = {f"of.{name}": numbers(ctx.reading, slate.rows, name) for name in names}
    if "position" in names:
        out["of.length"] = np.full(slate.rows.size, float(length(ctx.reading)))
    return out


def _move(name: str, move: Moved) -> dict[str, object]:
    """What an ordering kept, by place in what it was given, what it looked at and noted."""
    out: dict[str, object] = {"name": name, "kept": move.at.tolist()}
    if move.beside:
        out["beside"] = {key: packed(values) for key, values in move.beside.items()}
    return {**out, "looked": dict(move.looked)} if move.looked else out


def _evidence(lanes: Lanes, row: int) -> dict[str, object]:
    """How each lane that found a row came by its score."""
    return {label: told[row].why.to_dict() for label, told in lanes.items() if row in told}


# -- vectors ---------------------------------------------------------------------------------------


def _vectors(ran: Ran, ctx: Context, rows: Rows) -> dict[str, object]:
    """What cosines of the answer rest on: `best` parts by space, `units` for diversity."""
    out: dict[str, object] = {}
    if any(ran.plan.recipe.lanes[label].kind == "vector" for label in ran.rankings):
        out["best"] = {
            each.name: {str(row): _spelled(vector) for row, vector in found.items()}
            for each in (InSpace(ctx.space, ctx.reading, ctx.vector), *ctx.beside)
            if isinstance(each.vector, np.ndarray)
            and (found := best_parts(each.reading, rows, each.vector))
        }
    if taken := _taken(ran, rows):
        near = np.array(taken, np.int64)
        units, known = units_of(ctx.reading, near)
        spelled = {str(row): _spelled(units[at]) for at, row in enumerate(taken) if known[at]}
        out["units"] = spelled
    return out


def _taken(ran: Ran, rows: Rows) -> list[int]:
    """The rows that an ordering by diversity took, up to the last one of the answer."""
    wanted = set(rows.tolist())
    out: dict[int, None] = {}
    standing: NDArray[np.int64] = ran.scored.rows
    orderings = named(ran.plan.recipe)
    for name, move in ran.moves.items():
        if isinstance(orderings.get(name), Mmr):
            penalty = move.beside["penalty"]
            took = [int(standing[at]) for at in move.at.tolist() if not np.isnan(penalty[at])]
            last = max((n for n, row in enumerate(took) if row in wanted), default=-1)
            out |= dict.fromkeys(took[: last + 1])
        standing = standing[move.at]
    return list(out)


def _spelled(vector: NDArray[np.float32]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()
