"""Runs where engrava is installed: cases come in, its answers go out, as JSON lines."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import traceback
from typing import Any

engrava: Any = importlib.import_module("engrava")
aiosqlite: Any = importlib.import_module("aiosqlite")
dreaming: Any = importlib.import_module("engrava.extensions.dreaming")
Core: Any = importlib.import_module("engrava.infrastructure.sqlite.engrava_core").SqliteEngravaCore


async def opened(case: Any) -> Any:
    """The corpus in a store of theirs."""
    db = await aiosqlite.connect(":memory:")
    db.row_factory = aiosqlite.Row
    core = Core(db)
    await core.ensure_schema()
    thoughts = [(note, note["kind"]) for note in case["notes"]]
    thoughts += [(note, "REFLECTION") for note in case["reflections"]]
    for note, kind in thoughts:
        archived = note.get("archived", False)
        await core.create_thought(
            engrava.ThoughtRecord(
                thought_id=note["id"],
                thought_type=engrava.ThoughtType[kind],
                essence=note["summary"],
                content=note["text"],
                priority=engrava.Priority(note["priority"]),
                lifecycle_status=engrava.LifecycleStatus["ARCHIVED" if archived else "ACTIVE"],
                created_cycle=note["cycle"],
                updated_cycle=note["cycle"],
                source="human",
                expires_at=note["expires"],
                metadata=note["metadata"],
            )
        )
        if note["vector"] is not None:
            await core.store_embedding(note["id"], note["vector"], model_name="given")
    plain = 0, "EXPERIENCE"
    edges = [(*edge[:4], *(edge[4:] or plain)) for edge in case["edges"]]
    for made in case["reflections"]:
        sources = made["sources"]
        edges += [(made["id"], id, weight, "CONSOLIDATED_FROM", *plain) for id, weight in sources]
    for n, (one, two, weight, kind, cycle, by) in enumerate(edges):
        await core.create_edge(
            engrava.EdgeRecord(
                edge_id=f"e{n:06}",
                from_thought_id=one,
                to_thought_id=two,
                edge_type=engrava.EdgeType[kind],
                weight=weight,
                created_cycle=cycle,
                source=engrava.KnowledgeSource[by],
            )
        )
    return core


def narrowed(where: Any) -> Any:
    """The tests of the metadata as it takes them."""
    tests = [(f"$.{name}", values) for name, values in where]
    one, many = engrava.FieldOp.EQ, engrava.FieldOp.IN
    return engrava.MetadataFilter(
        [
            engrava.FieldPredicate(path, one, values[0])
            if len(values) == 1
            else engrava.FieldPredicate(path, many, values)
            for path, values in tests
        ]
    )


async def reflections(core: Any, asked: Any) -> Any:
    """What a run of its consolidation makes: members and keywords, by how many members."""
    gates = engrava.DreamingGates(**asked["gates"])
    config = engrava.DreamingConfig(enabled=True, gates=gates)
    await dreaming.DreamingExtension(config).run_consolidation(core, asked["cycle"])
    made = await core.list_thoughts(thought_type="REFLECTION", limit=1000)
    bodies = [(thought.source, json.loads(thought.content)) for thought in made]
    return {"rows": sorted([_row(*each), float(each[1]["member_count"])] for each in bodies)}


def _row(source: str, body: Any) -> str:
    return f"{source} {' '.join(body['member_ids'])}: {' '.join(body['keywords'])}"


async def answer(core: Any, asked: Any) -> Any:
    """Its pairs of id and score and the signals that it names."""
    if asked["verb"] == "consolidate":
        return await reflections(core, asked)
    if asked["verb"] == "keywords":
        hits = await core.search_fts(
            asked["text"], top_k=asked["top_k"], include_archived=asked["archived"]
        )
        return {"rows": [[id, score] for id, score in hits]}
    hits = await core.search_hybrid(
        asked["text"],
        asked["vector"],
        top_k=asked["top_k"],
        current_cycle=asked["cycle"],
        include_reflections=asked["reflections"],
        include_archived=asked["archived"],
        filters=narrowed(asked["where"]),
        **asked["knobs"],
    )
    return {
        "rows": [[id, score] for id, score in hits.results],
        "notes": sorted(hits.backends_used),
    }


async def answers(case: Any) -> list[Any]:
    """What it answers to every question."""
    core = await opened(case)
    return [await answer(core, asked) for asked in case["questions"]]


async def main() -> None:
    """Every line of the input is a case."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(await answers(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # its threads may never end; who asks counts the answers
