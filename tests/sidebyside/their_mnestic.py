"""Runs where mnestic is installed: cases come in, its answers go out, as JSON lines."""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

mnestic: Any = importlib.import_module("mnestic")
_VECTORS = (
    "::hnsw create memory:vec {dim: 6, m: 16, dtype: F32, fields: [emb], distance: Cosine, "
    "ef_construction: 200}"
)
_WORDS = "::fts create memory:fts {extractor: text, tokenizer: Simple, filters: [Lowercase]}"


def opened(case: Any) -> Any:
    """The corpus in a store of theirs."""
    db = mnestic.CozoDbPy("mem", "", "{}")
    for script in (
        ":create memory {id: String => text: String, emb: <F32; 6>}",
        ":create edge {from: String, to: String => w: Float}",
        _VECTORS,
        _WORDS,
    ):
        db.run_script(script, {}, False)  # noqa: FBT003  # not read-only
    rows = [[note["id"], note["text"], note["vector"]] for note in case["notes"]]
    put = "?[id, text, emb] <- $rows :put memory {id => text, emb}"
    db.run_script(put, {"rows": rows}, False)  # noqa: FBT003  # as above
    if case["edges"]:
        put = "?[from, to, w] <- $rows :put edge {from, to => w}"
        db.run_script(put, {"rows": case["edges"]}, False)  # noqa: FBT003  # as above
    return db


def leg(spec: Any) -> dict[str, Any]:
    """A graph leg as it takes one."""
    out = {"edge_relation": "edge"}
    out |= {key: spec[key] for key in ("label", "seeds", "max_hops", "undirected")}
    if spec["max_nodes"] is not None:
        out |= {"max_nodes": spec["max_nodes"], "seed_from_legs": spec.get("from_legs", False)}
        out |= {"weight_col": "w"} if spec.get("cost", "weight") == "weight" else {}
        out |= {} if spec["max_cost"] is None else {"max_cost": spec["max_cost"]}
    return out


def answer(db: Any, asked: Any) -> Any:
    """Its items in their order, with their fused scores."""
    call: dict[str, Any] = {"relation": "memory", "rrf_k": asked["rrf_k"], "limit": asked["limit"]}
    if asked["vector"] is not None:
        call |= {"vector_index": "vec", "query_vector": asked["vector"], "ef": 1000}
        call |= {"vector_k": asked["vector_k"]}
    if asked["text"]:
        call |= {"fts_index": "fts", "query_text": asked["text"], "fts_k": 1000}
    call["graph_legs"] = [leg(each) for each in asked["legs"]]
    if asked["lists"]:
        put = "?[id, s] <- $rows :replace mine {id: String => s: Float}"
        db.run_script(put, {"rows": asked["lists"]}, False)  # noqa: FBT003  # as below
        call["extra_lists"] = [{"label": "mine", "rule_body": "*mine{id, s}, score = s"}]
    if asked["mmr"] is not None:
        call |= {"mmr": {"lambda": asked["mmr"][0], "k": asked["mmr"][1]}, "detailed": True}
    rows = db.hybrid_search(call)["rows"]
    if asked["mmr"] is None:
        return rows
    at = 1 if asked.get("places") else 2
    sign = -1 if asked.get("places") else 1
    return list({row[0]: [row[0], sign * row[at]] for row in rows}.values())  # one per item


def main() -> None:
    """Every line of the input is a case."""
    for line in sys.stdin:
        case = json.loads(line)
        db = opened(case)
        answers = [answer(db, asked) for asked in case["questions"]]
        sys.stdout.write(json.dumps(answers) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
