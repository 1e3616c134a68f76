"""What a receipt says about a search: all that running it again needs, and no effect is asked."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import BadQuery, Corrupt
from memoriter.core.names import EXACT_INT, integer, text
from memoriter.core.query import Query
from memoriter.lanes.port import Context, InSpace, Skipped
from memoriter.pipeline.load import parse_recipe
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.run import Ran
from memoriter.why.receipt import Receipt, read, sealed
from memoriter.why.result import Result
from memoriter.why.verify import NotAReceipt, check_version

Handed = Receipt | Result | str | Path | Mapping[str, object]
"""A receipt as somebody hands it in: itself, the answer it belongs to, a file, or its data."""
_HINT: Final = "result.receipt.save(path) writes one"


def handed(what: Handed) -> Receipt:
    """The receipt, after its digest was checked."""
    if isinstance(what, str | Path):
        return read(what)
    told = what.receipt if isinstance(what, Result) else what
    body = told.body if isinstance(told, Receipt) else told
    try:
        check_version(body)
    except NotAReceipt as error:
        raise BadQuery(f"receipt: {error}", hint=_HINT, field="receipt") from None
    try:
        rest = json.loads(sealed({k: v for k, v in body.items() if k != "digest"}).to_bytes())
    except (TypeError, ValueError, RecursionError) as error:
        raise BadQuery(f"receipt: is no JSON: {error}", hint=_HINT, field="receipt") from None
    if rest["digest"] != body.get("digest"):
        raise Corrupt("the receipt does not match its digest", field="receipt")
    return Receipt(rest)


@dataclass(frozen=True, slots=True)
class Generations:
    """What a view was read through: by fingerprint who read words, whose vectors, which kin."""

    words: str
    vectors: str
    kin: str | None


def noting(ran: Ran, ctx: Context, read_through: Generations) -> Ran:
    """The finished search with what its edge found out, for the receipt."""
    outcomes: dict[str, object] = {"generations": asdict(read_through)}
    if ctx.wording.unread is not None:
        outcomes["unread"] = ctx.wording.unread
    serving, *others = ctx.spaces
    if serving.lacks is not None:
        outcomes["no_vector"] = _why(serving.lacks)
    if serving.name:
        outcomes["space"] = serving.name
    if others:
        outcomes["beside"] = [_space(each) for each in others]
    return replace(ran, outcomes={**ran.outcomes, **outcomes})


def _space(each: InSpace) -> dict[str, object]:
    none = {} if each.lacks is None else {"no_vector": _why(each.lacks)}
    return {"name": each.name, **none}


def _why(skipped: Skipped) -> dict[str, object]:
    return {"reason": skipped.reason, "idle": skipped.idle}


@dataclass(frozen=True, slots=True)
class Finished:
    """A search that ran, what it looked at, and its answer."""

    ran: Ran
    ctx: Context
    result: Result


Judgement = Mapping[int, float] | str | None
"""What a reranker said: scores by row, why there are none, or None where it had no part."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A search, as its receipt tells it."""

    query: Query
    recipe: Recipe
    seq: int
    generations: Generations
    vector: NDArray[np.float32] | Skipped | None
    """None where nobody asked for one."""
    unread: str | None
    recorded: int | None
    judgement: Judgement
    space: str = ""
    """What the space that served was called."""
    beside: Mapping[str, NDArray[np.float32] | Skipped | None] = field(
        default_factory=dict[str, NDArray[np.float32] | Skipped | None]
    )
    """The query's vector in each space that was read beside it."""

    @classmethod
    def of(cls, receipt: Receipt) -> Case:
        """What a receipt tells, every part checked."""
        view, outcomes = _part(receipt.body, "view"), _part(receipt.body, "outcomes")
        recipe = parse_recipe(_part(_part(receipt.body, "recipe"), "data"), "receipt: recipe")
        query = Query.of(receipt.body.get("query"))
        if view.get("tenant") != query.scope.tenant:
            raise BadQuery("receipt: its view and its query are of two tenants", field="view")
        recorded = outcomes.get("recorded")
        unread = outcomes.get("unread")
        return cls(
            query,
            recipe,
            integer(view.get("seq"), "view.seq", 0, EXACT_INT, BadQuery),
            _generations(_part(outcomes, "generations")),
            _vector(outcomes),
            None if unread is None else text(unread, "unread", BadQuery),
            None if recorded is None else integer(recorded, "recorded", 0, EXACT_INT, BadQuery),
            _judgement(outcomes),
            text(outcomes.get("space", ""), "outcomes.space", BadQuery),
            _beside(outcomes),
        )


def _part(body: Mapping[str, object], key: str) -> Mapping[str, object]:
    found = body.get(key)
    if not isinstance(found, dict):
        raise BadQuery(f"receipt: has no {key}", hint=_HINT, field=key)
    return cast("dict[str, object]", found)


def _generations(told: Mapping[str, object]) -> Generations:
    kin = told.get("kin")
    return Generations(
        text(told.get("words"), "generations.words", BadQuery),
        text(told.get("vectors"), "generations.vectors", BadQuery),
        None if kin is None else text(kin, "generations.kin", BadQuery),
    )


def _vector(outcomes: Mapping[str, object]) -> NDArray[np.float32] | Skipped | None:
    """The query's vector, or why there was none."""
    if "vector" in outcomes:
        return _spelled(outcomes["vector"])
    return _not(outcomes, "no_vector") if "no_vector" in outcomes else None


def _beside(outcomes: Mapping[str, object]) -> dict[str, NDArray[np.float32] | Skipped | None]:
    """The query in the spaces beside, in the order in which they were read."""
    told = outcomes.get("beside", [])
    if not isinstance(told, list):
        raise BadQuery("receipt: its spaces cannot be read", field="beside")
    made: Mapping[str, object] = _part(outcomes, "vectors") if "vectors" in outcomes else {}
    out: dict[str, NDArray[np.float32] | Skipped | None] = {}
    for each in cast("list[object]", told):
        space = cast("dict[str, object]", each if isinstance(each, dict) else {})
        name = text(space.get("name"), "beside", BadQuery)
        out[name] = _not(space, "no_vector") if "no_vector" in space else None
        if name in made:
            out[name] = _spelled(made[name])
    return out


def _spelled(told: object) -> NDArray[np.float32]:
    spelled = text(told, "outcomes.vector", BadQuery)
    try:
        found = np.frombuffer(base64.b64decode(spelled, validate=True), "<f4")
    except (binascii.Error, ValueError):
        found = np.full(1, np.nan, np.float32)
    if not np.isfinite(found).all():
        raise BadQuery("receipt: its vector cannot be read", field="vector")
    return found


def _not(outcomes: Mapping[str, object], key: str) -> Skipped:
    told = _part(outcomes, key)
    return Skipped(text(told.get("reason"), key, BadQuery), told.get("idle") is True)


def _judgement(outcomes: Mapping[str, object]) -> Judgement:
    if "rerank" not in outcomes:
        return None
    told = _part(outcomes, "rerank")
    if "failed" in told:
        return text(told["failed"], "rerank", BadQuery)
    rows, scores = told.get("rows", []), told.get("scores", [])
    if not isinstance(rows, Sequence) or not isinstance(scores, Sequence):
        raise BadQuery("receipt: what the reranker said cannot be read", field="rerank")
    try:
        pairs = zip(cast("Sequence[Any]", rows), cast("Sequence[Any]", scores), strict=True)
        return {int(row): float(score) for row, score in pairs}
    except (TypeError, ValueError):
        raise BadQuery("receipt: what the reranker said cannot be read", field="rerank") from None
