"""A whole hybrid recall (row 18): words, meaning and a walk over links, fused, ten hits explained.

Synthetic texts and random vectors of 256 numbers, each record linked to two others; the question's
vector is given, so nobody embeds. Two rows for a size: the store at rest, and a recall right after
a write, which sees it. Where engrava 0.7.2 is installed (`pip install engrava==0.7.2`), the same
10,000 records go through its own hybrid search; with `MEMORITER_NIGHT=1` also through that of
mnestic 0.18.0, where that is installed: it takes a quarter of an hour to load them.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import memoriter
from bench.tools import Corpus, Options, folder, profiled, table, timed
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.why.result import Result

WIDTH = 256
POOL = 100
LINKS = 2
RECIPE: dict[str, Any] = {
    "name": "bench-hybrid",
    "version": 1,
    "analyzer": "memoriter",
    "lanes": {
        "words": {
            "kind": "bm25",
            "pool": POOL,
            "k1": 1.2,
            "b": 0.75,
            "expert": True,
            "fields": {"text": 1.0, "title": 1.0, "tags": 1.0},
        },
        "meaning": {"kind": "vector", "pool": POOL, "min_cosine": 0.0},
        "links": {"kind": "walk", "seeds": ["words", "meaning"], "seed_count": 10, "pool": POOL},
    },
    "pass": [
        {
            "fuse": {
                "kind": "weighted",
                "scale": "max",
                "weights": {"words": 0.4, "meaning": 0.4, "links": 0.2},
            }
        }
    ],
}


def run(options: Options) -> None:
    rows: list[tuple[str, ...]] = []
    for count in (10_000,) if options.small else (10_000, 100_000, *options.more):
        rows += _measured(count, options)
    table(["hybrid recall", "records", "CPU ms", "90th %", "wall ms"], rows)


def _measured(count: int, options: Options) -> list[tuple[str, ...]]:
    corpus = Corpus()
    texts, questions = corpus.records(count), corpus.questions(20 if options.small else 60)
    random = np.random.default_rng(1)
    vectors = random.standard_normal((len(questions), WIDTH)).tolist()
    with folder() as place:
        memory = _memory(place, texts, random)
        ask = _ask(memory)
        _check(ask(questions[0], vectors[0]))
        out = {"memoriter": _times(ask, questions, vectors)}
        with profiled(options, f"{len(questions)} × hybrid recall, {count:,} records"):
            for question, vector in zip(questions, vectors, strict=True):
                ask(question, vector)
        out["… after a write"] = _times(ask, questions, vectors, before=lambda: _write(memory))
        with profiled(options, f"10 × hybrid recall after a write, {count:,} records"):
            for question, vector in zip(questions[:10], vectors[:10], strict=True):
                _write(memory)
                ask(question, vector)
        memory.close()
        if count <= 10_000 and (peer := _engrava(place, texts)) is not None:
            out["engrava 0.7.2"] = _times(peer.ask, questions, vectors)
            peer.close()
        if count <= 10_000 and (other := _mnestic(texts)) is not None:
            out["mnestic 0.18.0"] = _times(other, questions, vectors)
    return [(name, f"{count:,}", *spent) for name, spent in out.items()]


def _times(
    ask: Callable[[str, list[float]], object],
    questions: list[str],
    vectors: list[list[float]],
    before: Callable[[], object] = lambda: None,
) -> tuple[str, str, str]:
    spent = []
    for at, (question, vector) in enumerate(zip(questions, vectors, strict=True)):
        before()
        _, took = timed(lambda q=question, v=vector: ask(q, v))
        spent += [took] if at >= 5 else []
    cpu = sorted(1000 * each.cpu for each in spent)
    wall = statistics.median(1000 * each.wall for each in spent)
    return f"{statistics.median(cpu):.2f}", f"{cpu[int(0.9 * (len(cpu) - 1))]:.2f}", f"{wall:.2f}"


def _memory(place: Path, texts: list[str], random: np.random.Generator) -> Memory:
    memory = memoriter.open(place / "m.db", embedder=f"given:{WIDTH}", maintenance="manual")
    memory.remember_many(_draft(n, text, random) for n, text in enumerate(texts))
    memory.maintain()
    return memory


def _draft(n: int, text: str, random: np.random.Generator) -> Any:
    targets = {int(random.integers(n)) for _ in range(LINKS if n else 0)}
    return {
        "id": f"r{n}",
        "text": text,
        "vector": random.standard_normal(WIDTH).tolist(),
        "links": [{"target": f"r{target}", "kind": "related_to"} for target in targets],
    }


def _ask(memory: Memory) -> Callable[[str, list[float]], Result]:
    recipe = recipe_of(RECIPE)
    return lambda question, vector: memory.recall(question, 10, recipe=recipe, vector=vector)


def _write(memory: Memory) -> None:
    memory.remember("a note that was just written", vector=[1.0] * WIDTH)


def _check(result: Result) -> None:
    """Every lane took part, and every hit says why."""
    assert result.used == ("words", "meaning", "links")
    assert len(result) == 10
    assert all(hit.explanation.parts for hit in result)


class _Engrava:
    """The same records in engrava 0.7.2, through its own hybrid search."""

    def __init__(self, place: Path, texts: list[str]) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.run_until_complete(self._fill(place / "engrava.db", texts))

    async def _fill(self, path: Path, texts: list[str]) -> None:
        import aiosqlite  # noqa: PLC0415  # pyright: ignore[reportMissingImports]  # comes with the peer
        import engrava  # noqa: PLC0415  # pyright: ignore[reportMissingImports]  # a peer, not a dependency

        self._db = await aiosqlite.connect(path)
        self._db.row_factory = aiosqlite.Row
        self._core = engrava.SqliteEngravaCore(self._db)
        await self._core.ensure_schema()
        random = np.random.default_rng(1)
        async with self._core.suspend_auto_commit():
            for n, text in enumerate(texts):
                await self._add(engrava, _draft(n, text, random))

    async def _add(self, engrava: Any, draft: dict[str, Any]) -> None:
        plain = {"created_cycle": 0, "priority": engrava.Priority.P2, "source": "human"}
        thought = engrava.ThoughtRecord(
            thought_id=draft["id"],
            thought_type=engrava.ThoughtType.OBSERVATION,
            essence=draft["text"][:200],
            content=draft["text"],
            lifecycle_status=engrava.LifecycleStatus.ACTIVE,
            updated_cycle=0,
            **plain,
        )
        await self._core.create_thought(thought)
        await self._core.store_embedding(draft["id"], draft["vector"], model_name="given")
        for link in draft["links"]:
            edge = engrava.EdgeRecord(
                edge_id=f"{draft['id']}-{link['target']}",
                from_thought_id=draft["id"],
                to_thought_id=link["target"],
                edge_type=engrava.EdgeType.ASSOCIATED,
                weight=1.0,
                created_cycle=0,
                source=engrava.KnowledgeSource.EXPERIENCE,
            )
            await self._core.create_edge(edge)

    def ask(self, question: str, vector: list[float]) -> object:
        search = self._core.search_hybrid(
            question, vector, top_k=10, fts_top_k=POOL, vector_top_k=POOL, graph_weight=0.2
        )
        return self._loop.run_until_complete(search)

    def close(self) -> None:
        self._loop.run_until_complete(self._db.close())
        self._loop.close()


def _engrava(place: Path, texts: list[str]) -> _Engrava | None:
    if importlib.util.find_spec("engrava") is None:
        print("engrava is not installed: no comparison with it (pip install engrava==0.7.2)\n")
        return None
    return _Engrava(place, texts)


_MNESTIC = (
    f":create memory {{id: String => text: String, emb: <F32; {WIDTH}>}}",
    ":create edge {from: String, to: String => w: Float}",
    f"::hnsw create memory:vec {{dim: {WIDTH}, m: 16, dtype: F32, fields: [emb], "
    "distance: Cosine, ef_construction: 200}",
    "::fts create memory:fts {extractor: text, tokenizer: Simple, filters: [Lowercase]}",
)


def _mnestic(texts: list[str]) -> Callable[[str, list[float]], object] | None:
    """The same records in mnestic 0.18.0, through its own hybrid search."""
    if os.environ.get("MEMORITER_NIGHT") != "1" or importlib.util.find_spec("mnestic") is None:
        print("no comparison with mnestic: MEMORITER_NIGHT=1 and mnestic==0.18.0 make one\n")
        return None
    import mnestic  # noqa: PLC0415  # pyright: ignore[reportMissingImports]  # a peer, not a dependency

    db = mnestic.CozoDbPy("mem", "", "{}")

    def script(text: str, rows: list[Any] | None = None) -> None:
        db.run_script(text, {} if rows is None else {"rows": rows}, False)  # noqa: FBT003  # it writes

    for text in _MNESTIC:
        script(text)
    random = np.random.default_rng(1)
    drafts = [_draft(n, text, random) for n, text in enumerate(texts)]
    for at in range(0, len(drafts), 100):
        rows = [[d["id"], d["text"], d["vector"]] for d in drafts[at : at + 100]]
        script("?[id, text, emb] <- $rows :put memory {id => text, emb}", rows)
    edges = [[d["id"], link["target"], 1.0] for d in drafts for link in d["links"]]
    script("?[from, to, w] <- $rows :put edge {from, to => w}", edges)
    leg = {
        "label": "links", "edge_relation": "edge", "max_hops": 2, "undirected": True,
        "max_nodes": 128, "weight_col": "w", "seed_from_legs": True,
    }  # fmt: skip

    def ask(question: str, vector: list[float]) -> object:
        return db.hybrid_search(
            {
                "relation": "memory", "limit": 10, "graph_legs": [leg],
                "vector_index": "vec", "query_vector": vector, "vector_k": POOL, "ef": POOL,
                "fts_index": "fts", "query_text": question, "fts_k": POOL,
            }
        )  # fmt: skip

    return ask
