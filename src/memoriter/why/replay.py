"""The same search again, on the view that its receipt names: the same bytes, or what is gone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from memoriter.core.differing import differing
from memoriter.core.errors import Expired
from memoriter.core.query import Query
from memoriter.core.shown import counted, shown
from memoriter.index.ids import rows_by_id
from memoriter.index.view import View
from memoriter.why.case import Case
from memoriter.why.receipt import Receipt
from memoriter.why.result import Result

_TOLD: Final = 50
"""So many differences are listed."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What became of running a search again."""

    receipt: Receipt
    """Of the search then."""
    result: Result
    """The answer now."""
    same: bool
    """Whether both have the same receipt, byte for byte."""
    gone: tuple[str, ...] = ()
    """Candidates, seeds and listed records that were forgotten since."""
    forgotten: int = 0
    """How many records of the view were forgotten since, candidates or not."""
    differences: tuple[str, ...] = ()
    """Where the two receipts differ, the hits before all; the first of them."""

    def __repr__(self) -> str:
        if self.same:
            return shown("Replay", f"same, {counted(len(self.result), 'hit')}")
        gone = f", {len(self.gone)} gone" if self.gone else ""
        return shown("Replay", f"differs in {counted(len(self.differences), 'place')}{gone}")

    def to_dict(self) -> dict[str, object]:
        """The replay as plain data."""
        return {
            "same": self.same,
            "gone": list(self.gone),
            "forgotten": self.forgotten,
            "differences": list(self.differences),
            "receipt": {"then": self.receipt.digest, "now": self.result.receipt.digest},
            "hits": {
                "then": list(cast("list[str]", self.receipt.body["hits"])),
                "now": [hit.id for hit in self.result],
            },
            "result": self.result.to_dict(),
        }


def named_in(receipt: Receipt, query: Query) -> list[str]:
    """The ids of everything that a receipt names: its candidates, seeds and lists."""
    slate = cast("Mapping[str, Any]", receipt.body.get("slate") or {})
    told: list[str] = [*slate.get("ids", ())]
    told += [one for ids in query.seeds.values() for one in ids]
    told += [one for pairs in query.lists.values() for one, _ in pairs]
    return list(dict.fromkeys(told))


def missing_from(view: View, ids: Iterable[str]) -> tuple[str, ...]:
    """Those of these ids that a view does not have: of a view that had them, the forgotten ones."""
    wanted = list(ids)
    there = rows_by_id(view, wanted, view.visible)
    return tuple(one for one in wanted if one not in there)


def compared(receipt: Receipt, result: Result, gone: tuple[str, ...], forgotten: int) -> Replay:
    """A replay, from the search then and the answer now."""
    now = result.receipt.to_bytes()
    if receipt.to_bytes() == now:
        return Replay(receipt, result, same=True)
    paths = (path for path, _, _ in differing(receipt.body, json.loads(now)) if path != "digest")
    told = tuple(sorted(paths, key=lambda path: not path.startswith("hits")))[:_TOLD]
    return Replay(receipt, result, same=False, gone=gone, forgotten=forgotten, differences=told)


def check_vectors(case: Case, receipt: Receipt, result: Result) -> None:
    """Refuse where a lane that compared vectors then has none to compare any more."""
    then = cast("Mapping[str, str]", receipt.body.get("skipped") or {})
    lanes = {label for label, lane in case.recipe.lanes.items() if lane.generation == "vectors"}
    for label in sorted(lanes & set(result.skipped) - set(then)):
        raise Expired(
            f"the vectors of space {case.generations.vectors} are gone, and {label} compared them",
            hint=result.skipped[label],
        )
