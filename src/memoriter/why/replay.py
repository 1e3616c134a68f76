"""The outcome of running a search again on the view of its receipt.

`memory.receipts` runs the search; the functions here compare the two receipts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from memoriter.core.differing import differing
from memoriter.core.errors import Expired
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.other_words import Hinting
from memoriter.core.query import Query
from memoriter.core.shown import counted, shown
from memoriter.index.ids import rows_by_id
from memoriter.index.view import View
from memoriter.why.case import Case
from memoriter.why.receipt import Receipt
from memoriter.why.result import Result

_MAX_DIFFERENCES: Final = 50
"""How many differences are listed at most."""


@dataclass(frozen=True, slots=True)
class Replay(Hinting):
    """The outcome of a replay."""

    receipt: Receipt
    """The receipt of the original search."""
    result: Result
    """The result of the new one."""
    same: bool
    """Whether both receipts are equal, byte for byte, and the packaged table gives the recorded
    query vector."""
    gone: tuple[str, ...] = ()
    """The ids of candidates, seeds and listed records that were forgotten since."""
    forgotten: int = 0
    """How many records of the view were forgotten since, candidates or not."""
    differences: tuple[str, ...] = ()
    """The paths where the receipts differ, at most 50, those of the hits first."""

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
    """The ids of all records that a receipt names: its candidates, seeds and lists."""
    slate = cast("Mapping[str, Any]", receipt.body.get("slate") or {})
    names: list[str] = [*slate.get("ids", ())]
    names += [one for ids in query.seeds.values() for one in ids]
    names += [one for pairs in query.lists.values() for one, _ in pairs]
    return list(dict.fromkeys(names))


def missing_from(view: View, ids: Iterable[str]) -> tuple[str, ...]:
    """Those ids that a view does not have. If it had them once, they were forgotten since."""
    wanted = list(ids)
    present = rows_by_id(view, wanted, view.visible)
    return tuple(one for one in wanted if one not in present)


def replay_of(
    receipt: Receipt,
    result: Result,
    gone: tuple[str, ...],
    forgotten: int,
    wrong: tuple[str, ...] = (),
) -> Replay:
    """The replay of a receipt, given the new result and the records forgotten since.

    `wrong` are paths of recorded outcomes that a new computation does not confirm.
    """
    now = result.receipt.to_bytes()
    if receipt.to_bytes() == now:
        return Replay(receipt, result, same=not wrong, differences=wrong)
    paths = (path for path, _, _ in differing(receipt.body, json.loads(now)) if path != "digest")
    every = sorted((*wrong, *paths), key=lambda path: not path.startswith("hits"))
    first = tuple(every)[:_MAX_DIFFERENCES]
    return Replay(receipt, result, same=False, gone=gone, forgotten=forgotten, differences=first)


def check_vectors(case: Case, receipt: Receipt, result: Result) -> None:
    """Raise Expired if a lane that compared vectors then cannot any more.

    Such a replay would differ although the query, the recipe and the records are the same.
    """
    then = cast("Mapping[str, str]", receipt.body.get("skipped") or {})
    lanes = {label for label, lane in case.recipe.lanes.items() if lane.generation == "vectors"}
    for label in sorted(lanes & set(result.skipped) - set(then)):
        raise Expired(
            f"lane {label} needs the vector space {case.generations.vectors}, which cannot be"
            f" searched any more: {result.skipped[label]}",
            hint="the command `memoriter verify` checks the receipt without the memory",
        )
