"""A receipt: canonical JSON with every input of a ranking, bound by a digest.

The envelope is final: `receipt` (its version), `recipe`, `query`, `view`, `digest`, where the
digest is SHA-256 over the canonical JSON of everything else. What stands inside grows under that
version.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recollect.core.canonical import canonical, digest
from recollect.core.errors import BadQuery, Corrupt
from recollect.core.query import Query
from recollect.core.ranking import Scores
from recollect.core.slate import Slate
from recollect.pipeline.orderings.port import Moved
from recollect.pipeline.run import Ran

VERSION: Final = 1
_TAG: Final = "recollect/receipt/1"


@dataclass(frozen=True, slots=True)
class Receipt:
    """The account of one search."""

    body: Mapping[str, object]

    @property
    def digest(self) -> str:
        """Binds everything in the receipt."""
        return str(self.body["digest"])

    def to_bytes(self) -> bytes:
        """The receipt as canonical JSON."""
        return canonical(self.body)

    def save(self, path: str | Path) -> None:
        """Write the receipt to a file."""
        Path(path).write_bytes(self.to_bytes() + b"\n")


def sealed(body: Mapping[str, object]) -> Receipt:
    """A receipt with its digest."""
    return Receipt({**body, "digest": digest(_TAG, canonical(body)).hex()})


def receipt_of(ran: Ran, query: Query, ids: list[str], outcomes: Mapping[str, object]) -> Receipt:
    """The receipt of a search; `ids` name its candidates, outcomes are what effects answered."""
    recipe = ran.plan.recipe
    return sealed(
        {
            "receipt": VERSION,
            "recipe": {"fingerprint": recipe.fingerprint, "data": recipe.to_data()},
            "query": query.to_dict(),
            "view": {"tenant": ran.plan.tenant, "seq": ran.plan.seq},
            "outcomes": dict(outcomes),
            "skipped": ran.plan.skipped,
            "slate": _slate(ran.scored, ids),
            "moves": [_move(name, move) for name, move in ran.moves.items()],
            "hits": _hits(ran, ids, query.limit),
        }
    )


def _hits(ran: Ran, ids: list[str], limit: int) -> list[str]:
    name = dict(zip(ran.scored.rows.tolist(), ids, strict=True))
    return [name[row] for row in ran.slate.rows[:limit].tolist()]


def _move(name: str, move: Moved) -> dict[str, object]:
    """What an ordering kept, by place in what it was given, and what it noted of each row."""
    beside = {key: _numbers(values) for key, values in move.beside.items()}
    return {"name": name, "kept": move.at.tolist(), **({"beside": beside} if beside else {})}


def _numbers(column: Scores) -> list[float | None]:
    return [None if math.isnan(value) else value for value in column.tolist()]


def _slate(slate: Slate, ids: list[str]) -> dict[str, object]:
    columns = {name: _numbers(column) for name, column in slate.columns.items()}
    steps = [
        {"stage": s.stage, "op": s.op, "inputs": list(s.inputs), "out": s.out} for s in slate.steps
    ]
    return {"ids": ids, "rows": slate.rows.tolist(), "columns": columns, "steps": steps}


def _not_json(word: str) -> object:
    raise ValueError(f"{word} is not JSON")


def read(path: str | Path) -> Receipt:
    """A receipt from a file, after its digest was checked."""
    try:
        body = json.loads(Path(path).read_bytes(), parse_constant=_not_json)
    except (OSError, ValueError, RecursionError) as error:
        raise BadQuery(f"{path}: cannot be read as a receipt: {error}") from None
    if not isinstance(body, dict) or body.get("receipt") != VERSION:  # pyright: ignore[reportUnknownMemberType]  # JSON from outside
        raise BadQuery(f"{path}: is not a receipt of version {VERSION}")
    rest = {key: value for key, value in body.items() if key != "digest"}  # pyright: ignore[reportUnknownVariableType]  # JSON from outside
    if sealed(rest).digest != body.get("digest"):  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]  # JSON from outside
        raise Corrupt(f"{path}: the receipt does not match its digest")
    return Receipt(body)  # pyright: ignore[reportUnknownArgumentType]  # JSON from outside


def columns_of(body: Mapping[str, object]) -> dict[str, list[float | None]]:
    """The columns of a receipt's slate as plain numbers; None where one says nothing of a row."""
    return json.loads(canonical(body["slate"]))["columns"]
