"""Our answers to the cases for MentisDB: a row for each number of each hit."""

from __future__ import annotations

from typing import Any

from tests.sidebyside.compare import Answer

import memoriter
from memoriter.memory.facade import Memory

WITHIN = 1e-5
"""An element of a vector is a multiple of 2^-23, and a cosine may count 18 times."""
PARTS = (
    "lexical", "vector", "graph", "relation", "seed_support", "importance", "confidence",
    "recency", "session_cohesion", "rrf", "total",
)  # fmt: skip


def answers(case: Any) -> list[Answer]:
    """Answers to every question; agents are registered only where the case says more of them."""
    with memoriter.open(":memory:", embedder="given:6", maintenance="manual") as memory:
        for agent, entry in case["agents"].items():
            memory.agents.upsert(agent, **{k: v for k, v in entry.items() if k != "aliases"})
            for alias in entry["aliases"]:
                memory.agents.alias(agent, alias)
        drafts: list[Any] = [
            {
                **{key: value for key, value in note.items() if value is not None},
                "links": [{"target": to, "kind": kind} for to, kind in note["links"]],
            }
            for note in case["notes"]
        ]
        memory.remember_many(drafts)
        return [_answer(memory, asked) for asked in case["questions"]]


def _answer(memory: Memory, asked: Any) -> Answer:
    overrides: dict[str, Any] = {
        name: asked[name] for name in ("graph", "max_depth", "max_visited", "mode")
    }
    overrides |= {"enable_reranking": asked["reranking"], "rerank_k": 1000}
    kinds = asked["thought_types"]
    more: dict[str, Any] = {} if kinds is None else {"where": {"kind": {"in": kinds}}}
    result = memory.recall(
        asked["text"], asked["limit"], recipe="mentisdb", vector=asked["vector"],
        overrides=overrides, **more,
    )  # fmt: skip
    rows: list[tuple[str, float]] = []
    for hit in result:
        rows.append((hit.id, hit.score))
        rows += [(f"{hit.id} {name}", hit.scores[name]) for name in PARTS]
    return Answer(rows, WITHIN)
