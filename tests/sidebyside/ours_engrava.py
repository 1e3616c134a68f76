"""Our answers to the cases for engrava, with the overrides that the claims name."""

from __future__ import annotations

from typing import Any

from tests.sidebyside.compare import WITHIN, Answer
from tests.sidebyside.ours import opened

from memoriter.memory.facade import Memory


def answers(case: Any) -> list[Answer]:
    """Answers, each with how far scores may lie apart: the grid is finer than a weak word is."""
    with opened(case) as memory:
        return [_answer(memory, asked) for asked in case["questions"]]


def _reflections(memory: Memory, asked: Any) -> Answer:
    """What a run of `reflect` makes: members and keywords, by how many members."""
    gates = asked["gates"]
    algorithm: Any = {"agglomerative": "agglomerative"}.get(
        gates.get("cluster_algorithm"), "linked"
    )
    made = memory.reflect(
        algorithm=algorithm, similarity=gates.get("cluster_similarity_threshold", 0.7),
        kinds=("observation",), candidates=200, cycle=asked["cycle"],
    ).created  # fmt: skip
    rows = [
        (
            f"{memory.get(each.id).source.channel} {' '.join(each.members)}: "
            f"{' '.join(each.keywords)}",
            float(len(each.members)),
        )
        for each in made
    ]
    return Answer(sorted(rows))


def _answer(memory: Memory, asked: Any) -> Answer:
    if asked["verb"] == "consolidate":
        return _reflections(memory, asked)
    top_k: int = asked["top_k"]
    listed = not asked["text"].strip() and asked["vector"] is None
    options = {
        # There a plain list gains nothing by reflections.
        "graph_expansion_enabled": not listed, "order.0.enabled": True, "window": top_k,
        "include_archived": asked["archived"], **asked["knobs"],
    }  # fmt: skip
    for pool in ("fts_top_k", "vector_top_k"):  # there a limit widens them
        options[pool] = max(options.get(pool, 50), top_k)
    options["lanes.origins.seed_count"] = options["fts_top_k"] + options["vector_top_k"]
    options["lanes.listing.pool"] = 4 * top_k  # and is of the newest so many
    if not asked["reflections"]:  # there they lend their scores before they are left out
        options["reflection_topk_cap"] = 0.0
    where = [{f"metadata.{name}": {"in": values}} for name, values in asked["where"]]
    ask: dict[str, Any] = {"recipe": "engrava", "where": {"all": where}, "overrides": options}
    if asked["verb"] == "keywords":
        del ask["where"]
        return Answer(memory.keywords(asked["text"], top_k, **ask).rows())
    result = memory.recall(
        asked["text"], top_k, vector=asked["vector"], cycle=asked["cycle"], **ask
    )
    notes = sorted(result.signals)
    if not result and asked["cycle"] is not None:
        theirs = sorted({*notes, "recency"})
        return Answer([], WITHIN, notes, "an empty answer with a cycle", theirs)
    within = _apart(memory, asked["text"], ask) if result else WITHIN
    return Answer(result.rows(), within, notes)


def _apart(memory: Memory, text: str, ask: dict[str, Any]) -> float:
    """Scaling stretches what the grid rounds: the weaker the words, the more (EN-12)."""
    words = memory.keywords(text, ask["overrides"]["fts_top_k"], **ask).rows() if text else []
    spread = words[0][1] - words[-1][1] if words else 0.0
    return WITHIN + (2e-9 / spread if spread else 0.0)
