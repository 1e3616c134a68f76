"""Our answers to the cases for engrava, with the overrides that the claims name."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.sidebyside.compare import WITHIN, Answer, Documented
from tests.sidebyside.known_engrava import known
from tests.sidebyside.ours import Rows, opened

from memoriter.memory.facade import Memory


def answers(case: Any) -> list[Answer]:
    """Answers, each with how far scores may lie apart: the grid is finer than a weak word is."""
    if case["questions"][0]["verb"] == "consolidate":
        return [_consolidated(case, case["questions"][0])]
    with opened(case) as memory:
        return [_answer(memory, asked, case) for asked in case["questions"]]


def _consolidated(case: Any, asked: Any) -> Answer:
    """What `reflect` makes; and if cycles of associations are equal, what it makes in its order."""
    edges: list[Any] = case["edges"]
    rows = _reflections(case, asked, sorted(edges, key=lambda edge: edge[4]))
    dreamt = [edge[4] for edge in edges if edge[3] == "ASSOCIATED" and edge[5] == "DREAMING"]
    if len({*dreamt}) == len(dreamt):
        return Answer(rows)

    def known() -> Documented:
        # SQLite reads them from an index: those of a cycle by target, then as they were written.
        latest_first = sorted(edges, key=lambda edge: (-edge[4], edge[1]))
        theirs = _reflections(case, asked, latest_first[::-1])
        return Documented(("associations of equal cycles",), theirs)

    return Answer(rows, documented=known)


def _reflections(case: Any, asked: Any, edges: list[Any]) -> Rows:
    """Members and keywords of what a run makes, by how many members."""
    gates = asked["gates"]
    links = [(*edge[:3], _kind(*edge[3:])) for edge in edges]
    how: dict[str, Any] = {"algorithm": "linked", "archived": "show"}
    if "cluster_algorithm" in gates:
        how = {"algorithm": gates["cluster_algorithm"], "kinds": ("observation",)}
        how |= {"similarity": gates["cluster_similarity_threshold"], "candidates": 200}
    with opened({**case, "edges": links}) as memory:
        made = memory.reflect(**how, cycle=asked["cycle"]).created
        rows = [
            (
                f"{memory.get(each.id).source.channel} {' '.join(each.members)}: "
                f"{' '.join(each.keywords)}",
                float(len(each.members)),
            )
            for each in made
        ]
    return sorted(rows)


def _kind(kind: str, cycle: int, source: str) -> str:
    """As the importer has it: what its consolidation associated is kept apart."""
    return "related_to" if kind == "ASSOCIATED" and source != "DREAMING" else kind


def _answer(memory: Memory, asked: Any, case: Any) -> Answer:
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
    ask |= {"vector": asked["vector"], "cycle": asked["cycle"]}
    result = memory.recall(asked["text"], top_k, **ask)
    within = _apart(memory, asked["text"], ask) if result else WITHIN
    documented = partial(known, case, asked, ask, within)
    return Answer(result.rows(), within, sorted(result.signals), documented)


def _apart(memory: Memory, text: str, ask: dict[str, Any]) -> float:
    """Scaling stretches what the grid rounds: the weaker the words, the more (EN-12)."""
    plain = {key: ask[key] for key in ("recipe", "where", "overrides")}
    words = memory.keywords(text, plain["overrides"]["fts_top_k"], **plain).rows() if text else []
    spread = words[0][1] - words[-1][1] if words else 0.0
    return WITHIN + (2e-9 / spread if spread else 0.0)
