"""The verifier reads a filter as the engine does: hits pass, and what was left out would not."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.property.strategies import conditions, drafts, wheres
from tests.property.worlds import open_toy
from tests.unit.receipts import resealed

import memoriter


@given(st.lists(drafts(), min_size=1, max_size=5), conditions() | wheres())
def test_every_hit_passes_the_recorded_filter(corpus: list[Any], where: dict[str, Any]) -> None:
    with open_toy() as memory:
        memory.remember_many(corpus)
        listed = {"mine": [(record.id, 1.0) for record in memory.browse(limit=100)]}
        if not listed["mine"]:
            return
        result = memory.recall("", 100, where=where, lists=listed)
        verdict = memoriter.verify(result.receipt)
        assert verdict.ok, verdict.problems
        opposite = memory.recall("", 100, where={"not": where}, lists=listed)
    # The hits of the opposite filter, under a query that asks for the filter itself.
    body = json.loads(opposite.receipt.to_bytes())
    if not body["hits"]:
        return
    body["query"]["where"] = json.loads(result.receipt.to_bytes())["query"]["where"]
    forged = memoriter.verify(resealed(body))
    unread = [f"filtered/{n}/passes" in forged.attested for n in range(len(body["hits"]))]
    assert all(
        unread[n] or any(p.startswith(f"filtered/{n}: ") for p in forged.problems)
        for n in range(len(body["hits"]))
    )
