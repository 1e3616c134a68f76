"""Reads from a receipt everything that is needed to run its search again.

Models are not called for that: their answers (query vectors, rerank scores) are in the receipt.
`memory.receipts` runs a `Case` for replay and why-not; `why.diff` compares two.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import BadQuery, Corrupt
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import EXACT_INT, integer, text
from memoriter.core.query import Query
from memoriter.lanes.port import Context, InSpace, Skipped
from memoriter.pipeline.load import parse_recipe
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.run import Ran
from memoriter.why.receipt import CHANGED, Receipt, sealed
from memoriter.why.result import Result

ReceiptLike = Receipt | Result | str | Path | Mapping[str, object]
"""A receipt, the result it belongs to, the path of a saved one, or its data."""
_HINT: Final = "give a receipt that recall(…).receipt.save(path) wrote"
_DAMAGED: Final = (
    "give the receipt as it was saved; the command `memoriter verify` shows what is wrong in this"
    " one"
)


def receipt_from(what: ReceiptLike) -> Receipt:
    """The receipt, after its digest was checked.

    Raises BadQuery if it is not a receipt of this version, and Corrupt if the digest is wrong.
    """
    from memoriter.why.read_receipt import read_receipt  # noqa: PLC0415  # no search verifies
    from memoriter.why.verify import (  # noqa: PLC0415  # as above
        NotAReceipt,
        check_version,
    )

    if isinstance(what, str | Path):
        return read_receipt(what)
    receipt = what.receipt if isinstance(what, Result) else what
    body = receipt.body if isinstance(receipt, Receipt) else receipt
    try:
        check_version(body)
    except NotAReceipt as error:
        raise BadQuery(f"receipt: {error}", hint=_HINT, field="receipt") from None
    # A round trip through canonical JSON: the body may hold tuples and other values that only look
    # like JSON, and the code below compares and indexes plain data.
    try:
        rest = json.loads(sealed({k: v for k, v in body.items() if k != "digest"}).to_bytes())
    except (TypeError, ValueError, RecursionError) as error:
        raise BadQuery(
            f"receipt: has values that JSON cannot have ({error})", hint=_HINT, field="receipt"
        ) from None
    if rest["digest"] != body.get("digest"):
        raise Corrupt("the receipt does not match its digest", hint=CHANGED, field="receipt")
    return Receipt(rest)


@dataclass(frozen=True, slots=True)
class Generations:
    """The fingerprints of what a search read its view with."""

    words: str
    """The analyzer."""
    vectors: str
    """The embedding space."""
    kin: str | None
    """The kin table."""


def with_outcomes(ran: Ran, ctx: Context, read_through: Generations) -> Ran:
    """The search with the outcomes that its receipt needs: generations, spaces, missing vectors."""
    names = ("words", "vectors", "kin")
    outcomes: dict[str, object] = {"generations": {n: getattr(read_through, n) for n in names}}
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
    """A search that ran, its context and its result."""

    ran: Ran
    ctx: Context
    result: Result


Judgement = Mapping[int, float] | str | None
"""A reranker's scores by row, the reason why it failed, or None if it was not called."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A search as its receipt describes it."""

    query: Query
    recipe: Recipe
    seq: int
    generations: Generations
    vector: NDArray[np.float32] | Skipped | None
    """The query's vector, or why there was none; None if no lane needed one."""
    unread: str | None
    """Why the recipe's analyzer could not be used on the store; None if it could."""
    recorded: int | None
    """The sequence number that `as_of` by append time was resolved to."""
    judgement: Judgement
    space: str = ""
    """The name of the embedding space that answered."""
    beside: Mapping[str, NDArray[np.float32] | Skipped | None] = field(
        default_factory=dict[str, NDArray[np.float32] | Skipped | None]
    )
    """The query's vector in each further space that was searched."""

    @classmethod
    def of(cls, receipt: Receipt) -> Case:
        """The case of a receipt; raises BadQuery if a part is missing or malformed."""
        view, outcomes = _part(receipt.body, "view"), _part(receipt.body, "outcomes")
        recipe = parse_recipe(_part(_part(receipt.body, "recipe"), "data"), "receipt: recipe")
        query = Query.of(receipt.body.get("query"))
        if view.get("tenant") != query.scope.tenant:
            raise BadQuery(
                "receipt: its view and its query belong to different tenants, so the receipt was"
                " changed",
                field="view",
            )
        recorded = outcomes.get("recorded")
        unread = outcomes.get("unread")
        return cls(
            query=query,
            recipe=recipe,
            seq=integer(view.get("seq"), "view.seq", 0, EXACT_INT, BadQuery),
            generations=_generations(_part(outcomes, "generations")),
            vector=_vector(outcomes),
            unread=None if unread is None else text(unread, "unread", BadQuery),
            recorded=None
            if recorded is None
            else integer(recorded, "recorded", 0, EXACT_INT, BadQuery),
            judgement=_judgement(outcomes),
            space=text(outcomes.get("space", ""), "outcomes.space", BadQuery),
            beside=_beside(outcomes),
        )


def _part(body: Mapping[str, object], key: str) -> Mapping[str, object]:
    part = body.get(key)
    if not isinstance(part, dict):
        raise BadQuery(
            f"receipt: the part {key} is missing",
            hint=_HINT,
            field=key,
        )
    return cast("dict[str, object]", part)


def _generations(data: Mapping[str, object]) -> Generations:
    kin = data.get("kin")
    return Generations(
        text(data.get("words"), "generations.words", BadQuery),
        text(data.get("vectors"), "generations.vectors", BadQuery),
        None if kin is None else text(kin, "generations.kin", BadQuery),
    )


def _vector(outcomes: Mapping[str, object]) -> NDArray[np.float32] | Skipped | None:
    """The query's vector, or why there was none."""
    if "vector" in outcomes:
        return _decoded(outcomes["vector"])
    return _skipped(outcomes, "no_vector") if "no_vector" in outcomes else None


def _beside(outcomes: Mapping[str, object]) -> dict[str, NDArray[np.float32] | Skipped | None]:
    """The query's vector in each further space, in the order in which they were searched."""
    spaces = outcomes.get("beside", [])
    if not isinstance(spaces, list):
        raise BadQuery(
            "receipt: its part outcomes.beside (the other vector spaces) is damaged",
            hint=_HINT,
            field="beside",
        )
    vectors: Mapping[str, object] = _part(outcomes, "vectors") if "vectors" in outcomes else {}
    out: dict[str, NDArray[np.float32] | Skipped | None] = {}
    for each in cast("list[object]", spaces):
        space = cast("dict[str, object]", each if isinstance(each, dict) else {})
        name = text(space.get("name"), "beside", BadQuery)
        out[name] = _skipped(space, "no_vector") if "no_vector" in space else None
        if name in vectors:
            out[name] = _decoded(vectors[name])
    return out


def _decoded(value: object) -> NDArray[np.float32]:
    encoded = text(value, "outcomes.vector", BadQuery)
    try:
        vector = np.frombuffer(base64.b64decode(encoded, validate=True), "<f4")
    except (binascii.Error, ValueError):
        vector = np.full(1, np.nan, np.float32)  # refused below, like a NaN inside a vector
    if not np.isfinite(vector).all():
        raise BadQuery(
            "receipt: the vector of its question is damaged",
            hint=_DAMAGED,
            field="vector",
        )
    return vector


def _skipped(outcomes: Mapping[str, object], key: str) -> Skipped:
    data = _part(outcomes, key)
    return Skipped(text(data.get("reason"), key, BadQuery), data.get("idle") is True)


def _judgement(outcomes: Mapping[str, object]) -> Judgement:
    if "rerank" not in outcomes:
        return None
    outcome = _part(outcomes, "rerank")
    if "failed" in outcome:
        return text(outcome["failed"], "rerank", BadQuery)
    rows, scores = outcome.get("rows", []), outcome.get("scores", [])
    if not isinstance(rows, Sequence) or not isinstance(scores, Sequence):
        raise BadQuery(
            "receipt: its part outcomes.rerank (the reranker's scores) is damaged",
            hint=_DAMAGED,
            field="rerank",
        )
    try:
        pairs = zip(cast("Sequence[Any]", rows), cast("Sequence[Any]", scores), strict=True)
        return {int(row): float(score) for row, score in pairs}
    except (TypeError, ValueError):
        raise BadQuery(
            "receipt: its part outcomes.rerank (the reranker's scores) is damaged",
            hint=_DAMAGED,
            field="rerank",
        ) from None
