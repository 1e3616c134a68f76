"""Writes the receipt of a finished search: every number of the ranking and its inputs.

A column is stored as grid steps, integers or floats, whichever is shortest and exact. Columns that
the recipe alone determines from others (a scaled score, a share of the weights) are left out. A
receipt never holds the text of a record, only the words that matched. `why.answer` calls it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.names import Json
from memoriter.core.ranking import Rows, Scores
from memoriter.core.record import Record
from memoriter.core.slate import Slate, Step
from memoriter.core.times import to_micros
from memoriter.core.where import EVERYTHING, Not, Test, Where
from memoriter.index.ids import ids_of
from memoriter.index.reads import text_lengths
from memoriter.index.ties import ATTRIBUTES, tie_keys
from memoriter.index.vectors import unit_vectors
from memoriter.lanes.port import Context
from memoriter.pipeline.fusing import Weighted
from memoriter.pipeline.orderings.port import Moved
from memoriter.pipeline.plan import reasons_of
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.run import Ran
from memoriter.pipeline.slate_relevance import named_in_text
from memoriter.pipeline.stand_ins import OWED
from memoriter.pipeline.steps import BUDGET
from memoriter.rank.grid import STEP
from memoriter.text.prompt import head_size
from memoriter.why.lane_score import LaneScore
from memoriter.why.owed import owed_data
from memoriter.why.receipt import VERSION, Receipt, sealed

Lanes = Mapping[str, Mapping[int, LaneScore]]
"""Lane → row of the answer → its rank, score and evidence in that lane."""
_EXACT: Final = 2.0**53
"""Up to here a float64 holds every integer."""
_DERIVED: Final = (".scaled", ".weight", ".lift", f".{OWED}")
"""Suffixes of a signal's columns that are left out: the verifier computes them again."""


def write_receipt(
    ran: Ran, ctx: Context, lanes: Lanes, strength: Mapping[str, object] | None
) -> Receipt:
    """The receipt of a search; `strength` is None if the recipe has no relevance."""
    recipe = ran.plan.recipe
    ids = ids_of(ctx.view, ran.scored.rows)
    name = dict(zip(ran.scored.rows.tolist(), ids, strict=True))
    rows = ran.shown.rows
    return sealed(
        {
            "receipt": VERSION,
            **write_case(ran, ctx),
            "skipped": reasons_of(ran.plan),
            **_coverage(ran),
            **_question(ran),
            **_owed(ran, ctx),
            "slate": _slate(ran, ctx, ids),
            # The budget acts after the limit and has a key of its own.
            "moves": [_move(name, move) for name, move in ran.moves.items() if name != BUDGET],
            **_budget(ran),
            "hits": [name[row] for row in rows.tolist()],
            **_filtered(recipe, ctx, rows),
            **({} if strength is None else {"strength": strength}),
            "evidence": [_evidence(lanes, row) for row in rows.tolist()],
            "vectors": _vectors(ran, ctx, rows),
        }
    )


def write_case(ran: Ran, ctx: Context) -> dict[str, object]:
    """What a search was made of, as data: all that `case.Case` needs to run it again."""
    recipe = ran.plan.recipe
    return {
        "recipe": {"fingerprint": recipe.fingerprint, "data": recipe.to_data()},
        "query": ctx.query.to_dict(),
        "view": {"tenant": ran.plan.tenant, "seq": ran.plan.seq},
        "outcomes": _outcomes(ran, ctx),
    }


def _filtered(recipe: Recipe, ctx: Context, rows: Rows) -> dict[str, object]:
    """What the filter of the query tested, by hit; nothing without a filter."""
    if not is_filtered(recipe, ctx):
        return {}
    return {"filtered": filter_values(recipe, ctx, rows)}


def _coverage(ran: Ran) -> dict[str, object]:
    """By lane the knots from a score to the share of the question that it covers."""
    fuse = ran.plan.recipe.passes[0].fuse
    if fuse is None or not fuse.by_coverage:
        return {}
    known = {label: each.coverage for label, each in ran.proposed.items()}
    return {
        "coverage": {
            label: [list(knot) for knot in knots] for label, knots in known.items() if knots
        }
    }


def _question(ran: Ran) -> dict[str, object]:
    """What relevance depends on besides the scores."""
    if ran.question is None:
        return {}
    facts, recipe = ran.question, ran.plan.recipe
    return {
        "question": {
            "terms": [list(each) for each in facts.terms],
            "names": [list(each) for each in facts.names],
            "records": facts.records,
            "spread": None if facts.spread is None else list(facts.spread),
            # For lanes of kinds that a verifier does not know.
            "lanes": sorted(label for label, lane in recipe.lanes.items() if lane.independent),
        }
    }


def _owed(ran: Ran, ctx: Context) -> dict[str, object]:
    """What lanes lacked of candidates; nothing if they lacked nothing."""
    owed = owed_data(ran, ctx)
    return {"owed": owed} if owed else {}


def _budget(ran: Ran) -> dict[str, object]:
    """The sizes of the rendered entries and of the heading above them; empty without a budget."""
    if BUDGET not in ran.moves:
        return {}
    move = ran.moves[BUDGET]
    sizes = {  # NaN: the record was forgotten after the view was opened
        key: [None if np.isnan(size) else int(size) for size in move.details[key]]
        for key in ("tokens", "chars")
    }
    return {"budget": {"head": list(head_size()), **sizes, "kept": move.at.tolist()}}


def _outcomes(ran: Ran, ctx: Context) -> dict[str, object]:
    """What models answered: query vectors, rerank scores, failures."""
    out: dict[str, object] = dict(ran.outcomes)
    serving, *others = ctx.spaces
    if serving.vector is not None:
        out["vector"] = _encoded(serving.vector)
    if vectors := {e.name: _encoded(e.vector) for e in others if e.vector is not None}:
        out["vectors"] = vectors
    fuse = ran.plan.recipe.passes[0].fuse
    if isinstance(fuse, Weighted) and fuse.model_weights:
        out["has_model"] = ctx.has_model
    if ctx.recorded is not None:
        out["recorded"] = ctx.recorded
    return out


def _slate(ran: Ran, ctx: Context, ids: list[str]) -> dict[str, object]:
    slate = ran.scored
    recipe = ran.plan.recipe
    derived = {f"{label}{end}" for label in (*recipe.lanes, *recipe.fused) for end in _DERIVED}
    kept = {name: c for name, c in slate.columns.items() if name not in derived}
    every = {**kept, **_ties(recipe, ctx, slate), **_attributes(ran, ctx, slate)}
    return {
        "ids": ids,
        "rows": slate.rows.tolist(),
        "columns": {name: packed_column(column) for name, column in every.items()},
        "steps": [_step(step) for step in slate.steps],
    }


def _step(step: Step) -> dict[str, object]:
    """A step as data; the inputs of a sum are sorted, so that the order of lanes is irrelevant."""
    inputs = sorted(step.inputs) if step.op == "sum" else list(step.inputs)
    return {"stage": step.stage, "op": step.op, "inputs": inputs, "out": step.out}


def packed_column(column: Scores) -> dict[str, list[int | float | None]]:
    """A column in the first unit that holds it exactly: `whole`, `grid`, `float`. None for NaN.

    >>> packed_column(np.array([0.25, np.nan])), packed_column(np.array([3.0]))
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
    """The columns of attributes that break ties, as numbers with the same order."""
    ties = [*recipe.ties, *(tie for pass_ in recipe.passes for tie in pass_.ties or ())]
    own = [tie for lane in recipe.lanes.values() for tie in lane.ties]
    names = dict.fromkeys(tie.removeprefix("-") for tie in (*ties, *own))
    out: dict[str, Scores] = {}
    for name in names:
        if name in ATTRIBUTES and name != "row":
            (key,) = tie_keys(ctx.view, [name])(slate.rows)
            out[f"tie.{name}"] = np.where(np.isinf(key), np.nan, key)
    return out


def _attributes(ran: Ran, ctx: Context, slate: Slate) -> dict[str, Scores]:
    """The numeric attributes of records that boosts and relevance read."""
    out: dict[str, Scores] = {}
    if ran.plan.recipe.relevance is not None:
        out["of.words"] = text_lengths(ctx.view, slate.rows)
        out["of.named"] = named_in_text(ran.plan.recipe, ctx, slate)
    for label in ran.plan.boosting:
        inputs = ran.plan.recipe.boosts[label].inputs(ctx, slate)
        out |= {f"of.{name}": column for name, column in inputs.items()}
    return out


def _move(name: str, move: Moved) -> dict[str, object]:
    """An ordering as data: the places it kept in its input, its details and its other inputs."""
    out: dict[str, object] = {"name": name, "kept": move.at.tolist()}
    if move.details:
        out["beside"] = {key: packed_column(values) for key, values in move.details.items()}
    return {**out, "looked": dict(move.looked)} if move.looked else out


def _evidence(lanes: Lanes, row: int) -> dict[str, object]:
    """The evidence of each lane that found a row."""
    return {label: hits[row].why.to_dict() for label, hits in lanes.items() if row in hits}


# -- vectors ---------------------------------------------------------------------------------------


def _vectors(ran: Ran, ctx: Context, rows: Rows) -> dict[str, object]:
    """The vectors behind the cosines of the answer: `best` parts by space, `units` for MMR."""
    out: dict[str, object] = {}
    lanes = [ran.plan.recipe.lanes[label] for label in ran.proposed]
    if any(lane.generation == "vectors" for lane in lanes):
        best: dict[str, dict[str, str]] = {}
        for lane in lanes:
            for space, vectors in lane.vectors(ctx, rows).items():
                encoded = {str(row): _encoded(vector) for row, vector in vectors.items()}
                best[space] = {**best.get(space, {}), **encoded}
        out["best"] = best
    if compared := _compared(ran, rows):
        units, known = unit_vectors(ctx.view, np.array(compared, np.int64))
        out["units"] = {str(r): _encoded(units[at]) for at, r in enumerate(compared) if known[at]}
    return out


def _compared(ran: Ran, rows: Rows) -> list[int]:
    """The rows whose vectors orderings compared, as far as they decide the rows of the answer."""
    wanted = set(rows.tolist())
    out: dict[int, None] = {}
    standing: NDArray[np.int64] = ran.scored.rows
    orderings = ran.plan.recipe.ordering_steps
    for name, move in ran.moves.items():
        if name in orderings:
            out |= dict.fromkeys(orderings[name].compared(move, standing, wanted))
        standing = standing[move.at]  # the next ordering starts with what this one kept
    return list(out)


def _encoded(vector: NDArray[np.float32]) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


# --- attributes that the filter tested --------------------------------------------------------
# `why/verify/filtering.py` evaluates the filter on them again. The words of a record (text, title,
# summary) are left out, as a receipt never holds them; tests on those are attested.

_PARTS: Final = "."


def is_filtered(recipe: Recipe, ctx: Context) -> bool:
    """Whether there is a filter, a scope within the tenant, or a trust that the recipe asks for."""
    query = ctx.query
    tests = query.where != EVERYTHING or bool(query.scope.filters())
    return tests or recipe.select.trust is not None


def filter_values(recipe: Recipe, ctx: Context, rows: Rows) -> list[dict[str, object] | None]:
    """For each hit the values of the tested attributes; None if it was forgotten meanwhile."""
    query = ctx.query
    tests = {test.attribute: test for test in _tests(query.where)}
    names = [*query.scope.filters(), *(["trust"] if recipe.select.trust is not None else [])]
    tests |= {name: Test(name, "exists", value=True) for name in names}
    from memoriter.why.verify.filtering import UNREAD  # noqa: PLC0415  # loads the verifier

    read = [test for name, test in sorted(tests.items()) if name not in UNREAD]
    records = ctx.fetch(rows.tolist())
    return [None if record is None else dict(_values(read, record)) for record in records]


def _tests(where: Where) -> Iterator[Test]:
    if isinstance(where, Test):
        yield where
    else:
        for part in (where.part,) if isinstance(where, Not) else where.parts:
            yield from _tests(part)


def _values(tests: list[Test], record: Record) -> Iterator[tuple[str, object]]:
    """The attributes that the record has."""
    for test in tests:
        if test.type == "json":
            yield from ((test.attribute, value) for value in _below(record.metadata, test.path))
            continue
        value: object = record
        for part in test.attribute.split(_PARTS):
            value = getattr(value, part)
        if isinstance(value, datetime):
            value = to_micros(value)
        several = test.type in ("strings", "numbers")
        if value is not None and (value or not several):
            yield test.attribute, list(value) if several else value  # pyright: ignore[reportUnknownArgumentType, reportArgumentType, reportCallIssue]  # a tuple of texts or numbers


def _below(value: Json, path: tuple[str, ...]) -> Iterator[Json]:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return
        value = value[key]
    yield value
