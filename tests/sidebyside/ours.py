"""Our answers to the same cases, with the overrides that the claims name."""

from __future__ import annotations

from typing import Any

from tests.sidebyside.compare import WITHIN

import memoriter
from memoriter.memory.facade import Memory

Rows = list[tuple[str, float]]


def _opened(case: Any) -> Memory:
    memory = memoriter.open(":memory:", embedder="given:6", maintenance="manual")
    drafts: list[Any] = [dict(note) for note in case["notes"]]
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


def engrava(case: Any) -> list[tuple[Rows, float]]:
    """Answers, each with how far scores may lie apart: the grid is finer than a weak word is."""
    with _opened(case) as memory:
        return [_engrava(memory, asked) for asked in case["questions"]]


def _engrava(memory: Memory, asked: Any) -> tuple[Rows, float]:
    listed = not asked["text"] and asked["vector"] is None  # there a plain list gains nothing
    options = {
        "graph_expansion_enabled": not listed, "order.0.enabled": True, "window": asked["top_k"],
        "include_archived": asked["archived"], **asked["knobs"],
    }  # fmt: skip
    for pool in ("fts_top_k", "vector_top_k"):  # there a limit widens them
        options[pool] = max(options.get(pool, 50), asked["top_k"])
    options["lanes.listing.pool"] = 4 * asked["top_k"]  # and is of the newest so many
    if not asked["reflections"]:  # there they lend their scores before they are left out
        options["reflection_topk_cap"] = 0.0
    where = [{f"metadata.{name}": {"in": values}} for name, values in asked["where"]]
    ask: dict[str, Any] = {"recipe": "engrava", "where": {"all": where}, "overrides": options}
    result = memory.recall(
        asked["text"], asked["top_k"], vector=asked["vector"], cycle=asked["cycle"], **ask
    )
    return result.rows(), _apart(memory, asked["text"], ask) if result else 0.0


def _apart(memory: Memory, text: str, ask: dict[str, Any]) -> float:
    """Scaling stretches what the grid rounds: the weaker the words, the more (EN-12)."""
    words = memory.keywords(text, ask["overrides"]["fts_top_k"], **ask).rows() if text else []
    spread = words[0][1] - words[-1][1] if words else 0.0
    return WITHIN + (2e-9 / spread if spread else 0.0)


def mnestic(case: Any) -> list[tuple[Rows, float]]:
    """Answers, whose scores agree to a millionth."""
    with _opened(case) as memory:
        return [(_mnestic(memory, asked), WITHIN) for asked in case["questions"]]


def _mnestic(memory: Memory, asked: Any) -> Rows:
    options: dict[str, Any] = {
        "rrf_k": asked["rrf_k"], "limit": asked["limit"], "fts_k": 100,
        "vector_k": asked["vector_k"], "vector_index": asked["vector"] is not None,
        "fts_index": bool(asked["text"]),
    }  # fmt: skip
    options |= {f"lanes.{leg['label']}": _leg(leg) for leg in asked["legs"]}
    if asked["mmr"] is not None:
        options |= {"mmr": True, "mmr.lambda": asked["mmr"][0], "mmr.k": asked["mmr"][1]}
    ask: dict[str, Any] = {"overrides": options, "vector": asked["vector"]}
    if asked["legs"]:
        ask["seeds"] = {leg["label"]: leg["seeds"] for leg in asked["legs"]}
    if asked["lists"]:
        ask["lists"] = {"mine": asked["lists"]}
    return memory.recall(asked["text"], recipe="mnestic", **ask).rows()


def _leg(leg: Any) -> dict[str, Any]:
    options = {
        "kind": "hops", "max_hops": leg["max_hops"],
        "direction": "both" if leg["undirected"] else "out",
    }  # fmt: skip
    if leg["max_nodes"] is not None:
        options |= {"kind": "cheapest", "max_nodes": leg["max_nodes"], "cost": "weight"}
        options |= {} if leg["max_cost"] is None else {"max_cost": leg["max_cost"]}
    return options
