"""A corpus of the generators in a memory of ours."""

from __future__ import annotations

from typing import Any

import memoriter
from memoriter.memory.facade import Memory

Rows = list[tuple[str, float]]
"""As `result.rows()` gives them."""


def opened(case: Any) -> Memory:
    """Its notes, edges and reflections."""
    memory = memoriter.open(":memory:", embedder="given:6", maintenance="manual")
    drafts: list[Any] = [
        {**note, "kind": note.get("kind", "note").lower()} for note in case["notes"]
    ]
    drafts += [
        {**{k: v for k, v in made.items() if k != "sources"}, "kind": "reflection"}
        for made in case.get("reflections", ())
    ]
    memory.remember_many(drafts)
    for one, two, weight, *kind in case["edges"]:
        memory.link(one, two, *(each.lower() for each in kind), weight=weight)
    for made in case.get("reflections", ()):
        for id, weight in made["sources"]:
            memory.link(made["id"], id, "consolidated_from", weight=weight)
    return memory
