"""Our answers to the cases for mnestic, with the overrides that the claims name."""

from __future__ import annotations

from typing import Any

from tests.sidebyside.compare import WITHIN, Answer, Documented
from tests.sidebyside.ours import Rows, opened

from memoriter.memory.facade import Memory


def answers(case: Any) -> list[Answer]:
    """Answers, whose scores agree to a millionth."""
    with opened(case) as memory:
        return [_stated(memory, asked) for asked in case["questions"]]


def _stated(memory: Memory, asked: Any) -> Answer:
    """An answer; where the program has its own order, it has as many of the same candidates."""
    rows = _answer(memory, asked)
    if "differs" not in asked:
        return Answer(rows, WITHIN)
    every = {id for id, _ in _answer(memory, {**asked, "limit": 1000, "mmr": None})}
    known = Documented((asked["differs"],), rows, among=every)
    return Answer(rows, WITHIN, documented=lambda: known)


def _answer(memory: Memory, asked: Any) -> Rows:
    options: dict[str, Any] = {
        "rrf_k": asked["rrf_k"], "limit": asked["limit"], "fts_k": asked["fts_k"],
        "vector_k": asked["vector_k"], "vector_index": asked["vector"] is not None,
        "fts_index": bool(asked["text"]),
    }  # fmt: skip
    options |= {f"lanes.{leg['label']}": _leg(leg, asked) for leg in asked["legs"]}
    if asked["mmr"] is not None:
        options |= {"mmr": True, "mmr.lambda": asked["mmr"][0], "mmr.k": asked["mmr"][1]}
    ask: dict[str, Any] = {"overrides": options, "vector": asked["vector"]}
    if asked["legs"]:
        ask["seeds"] = {leg["label"]: leg["seeds"] for leg in asked["legs"]}
    if asked["lists"]:
        ask["lists"] = {"mine": asked["lists"]}
    rows = memory.recall(asked["text"], recipe="mnestic", **ask).rows()
    if asked.get("places"):
        return [(id, -float(place)) for place, (id, _) in enumerate(rows, start=1)]
    return rows


def _leg(leg: Any, asked: Any) -> dict[str, Any]:
    options = {
        "kind": "hops", "max_hops": leg["max_hops"],
        "direction": "both" if leg["undirected"] else "out",
    }  # fmt: skip
    if leg["max_nodes"] is not None:
        cost = leg.get("cost", "weight")
        options |= {"kind": "cheapest", "max_nodes": leg["max_nodes"], "cost": cost}
        given = {"semantic": asked["vector"] is not None, "text": asked["text"]}
        lists = [label for label, has in given.items() if has and leg.get("from_legs")]
        options |= {"seeds": lists, "seed_count": 1000} if lists else {}
        options |= {} if leg["max_cost"] is None else {"max_cost": leg["max_cost"]}
    return options
