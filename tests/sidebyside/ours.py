"""Our answers to the same cases, with the overrides that the claims name."""

from __future__ import annotations

from typing import Any

import recollect
from recollect.memory.facade import Memory

Rows = list[tuple[str, float]]


def _opened(case: Any) -> Memory:
    memory = recollect.open(":memory:", embedder="given:6", maintenance="manual")
    drafts = [dict(note) for note in case["notes"]]
    drafts += [
        {**{k: v for k, v in made.items() if k != "sources"}, "kind": "reflection"}
        for made in case.get("reflections", ())
    ]
    memory.remember_many(drafts)
    for one, two, weight in case["edges"]:
        memory.link(one, two, weight=weight)
    for made in case.get("reflections", ()):
        for id, weight in made["sources"]:
            memory.link(made["id"], id, "consolidated_from", weight=weight)
    return memory


def engrava(case: Any) -> list[tuple[Rows, float]]:
    """Answers, each with how far scores may lie apart: the grid is finer than a weak word is."""
    out: list[tuple[Rows, float]] = []
    with _opened(case) as memory:
        for asked in case["questions"]:
            told = {
                "graph_expansion_enabled": True, "order.0.enabled": True, "window": asked["top_k"],
                **asked["weights"],
            }  # fmt: skip
            if not asked["reflections"]:  # there they lend their scores before they are left out
                told["reflection_topk_cap"] = 0.0
            ask: dict[str, Any] = {"vector": asked["vector"], "cycle": asked["cycle"]}
            result = memory.recall(
                asked["text"], asked["top_k"], recipe="engrava", overrides=told, **ask
            )
            out.append((result.rows(), _apart(memory, asked["text"])))
    return out


def _apart(memory: Memory, text: str) -> float:
    """Scaling stretches what the grid rounds: the weaker the words, the more."""
    words = memory.keywords(text, 50, recipe="engrava").rows() if text else []
    spread = words[0][1] - words[-1][1] if words else 0.0
    return 1e-6 + (2e-9 / spread if spread else 0.0)


def mnestic(case: Any) -> list[tuple[Rows, float]]:
    """Answers, whose scores agree to a millionth."""
    with _opened(case) as memory:
        return [(_mnestic(memory, asked), 1e-6) for asked in case["questions"]]


def _mnestic(memory: Memory, asked: Any) -> Rows:
    told: dict[str, Any] = {
        "rrf_k": asked["rrf_k"], "limit": asked["limit"], "fts_k": 100,
        "vector_k": asked["vector_k"], "vector_index": asked["vector"] is not None,
        "fts_index": bool(asked["text"]),
    }  # fmt: skip
    told |= {f"lanes.{leg['label']}": _leg(leg) for leg in asked["legs"]}
    if asked["mmr"] is not None:
        told |= {"mmr": True, "mmr.lambda": asked["mmr"][0], "mmr.k": asked["mmr"][1]}
    ask: dict[str, Any] = {"overrides": told, "vector": asked["vector"]}
    if asked["legs"]:
        ask["seeds"] = {leg["label"]: leg["seeds"] for leg in asked["legs"]}
    if asked["lists"]:
        ask["lists"] = {"mine": asked["lists"]}
    return memory.recall(asked["text"], recipe="mnestic", **ask).rows()


def _leg(leg: Any) -> dict[str, Any]:
    told = {
        "kind": "hops", "max_hops": leg["max_hops"],
        "direction": "both" if leg["undirected"] else "out",
    }  # fmt: skip
    if leg["max_nodes"] is not None:
        told |= {"kind": "cheapest", "max_nodes": leg["max_nodes"], "cost": "weight"}
        told |= {} if leg["max_cost"] is None else {"max_cost": leg["max_cost"]}
    return told
