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
from memoriter.index.ties import ATTRIBUTES, tie_keys
from memoriter.index.vectors import unit_vectors
from memoriter.lanes.port import Context
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
    ids = ids_of(ctx.view, ran.scored.rows)
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
    serving, *others = ctx.spaces
    if serving.vector is not None:
        out["vector"] = _spelled(serving.vector)
    if beside := {e.name: _spelled(e.vector) for e in others if e.vector is not None}:
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
            steps = np.where(np.isnan(column), 0.0, column / step).astype(np.int64)
            return {unit: _listed(steps, column)}
    return {"float": _listed(column, column)}


def _listed(values: NDArray[np.int64] | Scores, column: Scores) -> list[int | float | None]:
    out: list[int | float | None] = values.tolist()
    for at in np.flatnonzero(np.isnan(column)).tolist():
        out[at] = None
    return out


def _ties(recipe: Recipe, ctx: Context, slate: Slate) -> dict[str, Scores]:
    """The attributes by which equals are put in order: a number whose order is theirs."""
    ties = [*recipe.ties, *(tie for step in recipe.passes for tie in step.ties or ())]
    own = [tie for lane in recipe.lanes.values() for tie in lane.ties]
    names = dict.fromkeys(tie.removeprefix("-") for tie in (*ties, *own))
    out: dict[str, Scores] = {}
    for name in names:
        if name in ATTRIBUTES and name != "row":
            (key,) = tie_keys(ctx.view, [name])(slate.rows)
            out[f"tie.{name}"] = np.where(np.isinf(key), np.nan, key)
    return out


def _attributes(ran: Ran, ctx: Context, slate: Slate) -> dict[str, Scores]:
    """What boosts read of records, as far as it is numbers."""
    out: dict[str, Scores] = {}
    for label in ran.plan.boosting:
        inputs = ran.plan.recipe.boosts[label].inputs(ctx, slate)
        out |= {f"of.{name}": column for name, column in inputs.items()}
    return out


def _move(name: str, move: Moved) -> dict[str, object]:
    """What an ordering kept, by place in what it was given, what it looked at and noted."""
    out: dict[str, object] = {"name": name, "kept": move.at.tolist()}
    if move.beside:
        out["beside"] = {key: packed(values) for key, values in move.beside.items()}
    return {**out, "looked": dict(move.looked)} if move.looked else out


def _evidence(lanes: Lanes, row: int) -> dict[str, object]:
    """How each lane that found a row came by its score."""
    return {label: hits[row].why.to_dict() for label, hits in lanes.items() if row in hits}


# -- vectors ---------------------------------------------------------------------------------------


def _vectors(ran: Ran, ctx: Context, rows: Rows) -> dict[str, object]:
    """What cosines of the answer rest on: `best` parts by space, `units` for diversity."""
    out: dict[str, object] = {}
    lanes = [ran.plan.recipe.lanes[label] for label in ran.rankings]
    if any(lane.generation == "vectors" for lane in lanes):
        best: dict[str, dict[str, str]] = {}
        for lane in lanes:
            for space, vectors in lane.vectors(ctx, rows).items():
                spelled = {str(row): _spelled(vector) for row, vector in vectors.items()}
                best[space] = {**best.get(space, {}), **spelled}
        out["best"] = best
    if taken := _taken(ran, rows):
        near = np.array(taken, np.int64)
        units, known = unit_vectors(ctx.view, near)
        out["units"] = {str(r): _spelled(units[at]) for at, r in enumerate(taken) if known[at]}
    return out


def _taken(ran: Ran, rows: Rows) -> list[int]:
    """The rows that orderings compared by their vectors, as far as the answer follows from it."""
    wanted = set(rows.tolist())
    out: dict[int, None] = {}
    standing: NDArray[np.int64] = ran.scored.rows
    orderings = named(ran.plan.recipe)
    for name, move in ran.moves.items():
        if name in orderings:
            out |= dict.fromkeys(orderings[name].compared(move, standing, wanted))
        standing = standing[move.at]
    return list(out)


def _spelled(vector: NDArray[np.float32]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()
