"""Runs where mnestic is installed: cases come in, its answers go out, as JSON lines."""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

mnestic: Any = importlib.import_module("mnestic")
_VECTORS = (
    "::hnsw create memory:vec {{dim: {dim}, m: 16, dtype: F32, fields: [emb], distance: Cosine, "
    "ef_construction: 200}}"
)
_WORDS = "::fts create memory:fts {extractor: text, tokenizer: Simple, filters: [Lowercase]}"


def opened(case: Any) -> Any:
    """The corpus in a store of theirs."""
    db = mnestic.CozoDbPy("mem", "", "{}")
    vectors = [each["vector"] for each in (*case["notes"], *case["questions"])]
    dim = max((len(vector) for vector in vectors if vector is not None), default=1)
    for script in (
        f":create memory {{id: String => text: String, emb: <F32; {dim}>?}}",
        ":create edge {from: String, to: String => w: Float}",
        _VECTORS.format(dim=dim),
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


def given(asked: Any, *names: str) -> dict[str, Any]:
    """The options that a question has; mnestic has a default for each."""
    return {name: asked[name] for name in names if name in asked}


def answer(db: Any, asked: Any) -> Any:
    """Its items in their order, with their fused scores."""
    call: dict[str, Any] = {"relation": "memory", **given(asked, "rrf_k", "limit")}
    if asked["vector"] is not None:
        call |= {"vector_index": "vec", "query_vector": asked["vector"]}
        call |= given(asked, "vector_k", "ef")
    if asked["text"]:
        call |= {"fts_index": "fts", "query_text": asked["text"], **given(asked, "fts_k")}
    call["graph_legs"] = [leg(each) for each in asked["legs"]]
    if asked["lists"]:
        put = "?[id, s] <- $rows :replace mine {id: String => s: Float}"
        db.run_script(put, {"rows": asked["lists"]}, False)  # noqa: FBT003  # as below
        call["extra_lists"] = [{"label": "mine", "rule_body": "*mine{id, s}, score = s"}]
    if asked["mmr"] is not None:
        call |= {"mmr": {"lambda": asked["mmr"][0], "k": asked["mmr"][1]}, "detailed": True}
    if not {"vector_index", "fts_index", "extra_lists"} & set(call) and not asked["legs"]:
        return []  # it refuses to search by nothing
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
