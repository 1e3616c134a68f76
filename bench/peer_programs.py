"""What other programs do with the texts and vectors of `bench.peers`; run by their own interpreter.

`python peer_programs.py NAME FOLDER` loads `texts.json` and `vectors.npy` of the folder and prints
one line of JSON about it. Then it answers each line of its input (the number of a question) with
the CPU milliseconds that the answer took and the numbers of its ten hits. It imports nothing of
ours, except in the program `memoriter`.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HITS = 10
POOL = 100
BATCH = 1000
Ask = Callable[[str, Any], Sequence[int]]
Peer = Callable[[Path, list[str], Any], Ask]


def any_word(question: str) -> str:
    """The words of a question in quotes, joined by OR: what FTS5 and tantivy read alike."""
    return " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question.lower()))


def reciprocal(*rankings: Sequence[int]) -> list[int]:
    """Reciprocal rank fusion with k = 60, as LanceDB's default has it."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, 1):
            scores[row] = scores.get(row, 0.0) + 1.0 / (60 + rank)
    return sorted(scores, key=lambda row: (-scores[row], row))[:HITS]


def memoriter(place: Path, texts: list[str], vectors: Any) -> Ask:
    """Ours: the default recipe with its own packaged embedder."""
    del vectors
    import memoriter as ours  # noqa: PLC0415  # only this program has it

    memory = ours.open(place / "m.db")
    for at in range(0, len(texts), BATCH):
        memory.remember_many(
            [{"text": text, "id": str(n)} for n, text in enumerate(texts[at : at + BATCH], at)]
        )
    memory.maintain()
    memory.close()  # at rest: a write-ahead log that is in use is not what a store takes
    memory = ours.open(place / "m.db")
    return lambda question, _: [int(hit.id) for hit in memory.recall(question, HITS)]


def fts5(place: Path, texts: list[str], vectors: Any) -> Ask:
    """SQLite FTS5, words only."""
    del vectors
    db = sqlite3.connect(place / "fts5.db")
    db.execute("CREATE VIRTUAL TABLE notes USING fts5(text, tokenize='porter')")
    for at in range(0, len(texts), BATCH):
        rows = [(n, text) for n, text in enumerate(texts[at : at + BATCH], at)]
        with db:
            db.executemany("INSERT INTO notes(rowid, text) VALUES (?,?)", rows)
    sql = f"SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT {HITS}"  # noqa: S608  # a constant
    return lambda question, _: [row for (row,) in db.execute(sql, (any_word(question),))]


def sqlite_vec(place: Path, texts: list[str], vectors: Any) -> Ask:
    """sqlite-vec and FTS5 in one file, fused by reciprocal ranks."""
    import apsw  # noqa: PLC0415  # its own interpreter has it
    import sqlite_vec as extension  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    db = apsw.Connection(str(place / "vec.db"))
    db.enable_load_extension(enable=True)
    db.load_extension(extension.loadable_path())
    db.execute("CREATE VIRTUAL TABLE notes USING fts5(text, tokenize='porter')")
    db.execute(f"CREATE VIRTUAL TABLE nearest USING vec0(vector float[{vectors.shape[1]}])")
    for at in range(0, len(texts), BATCH):
        span = range(at, min(at + BATCH, len(texts)))
        with db:
            db.executemany(
                "INSERT INTO notes(rowid, text) VALUES (?,?)", [(n, texts[n]) for n in span]
            )
            rows = [(n, vectors[n].tobytes()) for n in span]
            db.executemany("INSERT INTO nearest(rowid, vector) VALUES (?,?)", rows)
    words = f"SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT {POOL}"  # noqa: S608  # a constant
    near = f"SELECT rowid FROM nearest WHERE vector MATCH ? AND k = {POOL}"  # noqa: S608  # a constant

    def ask(question: str, vector: Any) -> list[int]:
        by_words = [row for (row,) in db.execute(words, (any_word(question),))]
        return reciprocal(by_words, [row for (row,) in db.execute(near, (vector.tobytes(),))])

    return ask


def lancedb(place: Path, texts: list[str], vectors: Any) -> Ask:
    """LanceDB: its own hybrid search with its reciprocal-rank reranker, no vector index."""
    import lancedb as lance  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
    from lancedb.rerankers import RRFReranker  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    rows = [{"n": n, "text": text, "vector": vectors[n]} for n, text in enumerate(texts)]
    notes = lance.connect(place / "lance").create_table("notes", rows)
    notes.create_fts_index("text")
    reranker = RRFReranker()

    def ask(question: str, vector: Any) -> list[int]:
        search = notes.search(query_type="hybrid").vector(vector).text(question)
        return [row["n"] for row in search.rerank(reranker).limit(HITS).to_list()]

    return ask


def tantivy(place: Path, texts: list[str], vectors: Any) -> Ask:
    """tantivy, words only."""
    del vectors
    import tantivy as library  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    folder = place / "tantivy"
    folder.mkdir()
    builder = library.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="en_stem")
    builder.add_integer_field("n", stored=True)
    index = library.Index(builder.build(), path=str(folder))
    writer = index.writer(heap_size=128_000_000, num_threads=1)
    for n, text in enumerate(texts):
        writer.add_document(library.Document(text=text, n=n))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def ask(question: str, vector: Any) -> list[int]:
        del vector
        query = index.parse_query(any_word(question), ["text"])
        return [searcher.doc(at)["n"][0] for _, at in searcher.search(query, HITS).hits]

    return ask


def chroma(place: Path, texts: list[str], vectors: Any) -> Ask:
    """Chroma, vectors only, its default index."""
    import chromadb  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    client = chromadb.PersistentClient(str(place / "chroma"))
    notes = client.create_collection("notes", metadata={"hnsw:space": "cosine"})
    for at in range(0, len(texts), BATCH):
        span = range(at, min(at + BATCH, len(texts)))
        notes.add(
            ids=[str(n) for n in span],
            documents=[texts[n] for n in span],
            embeddings=vectors[at : at + BATCH],
        )

    def ask(question: str, vector: Any) -> list[int]:
        del question
        return [int(n) for n in notes.query(query_embeddings=[vector], n_results=HITS)["ids"][0]]

    return ask


def engrava(place: Path, texts: list[str], vectors: Any) -> Ask:
    """engrava 0.7.2: its own hybrid search."""
    import aiosqlite  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
    import engrava as library  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    loop = asyncio.new_event_loop()

    async def fill() -> Any:
        db = await aiosqlite.connect(place / "engrava.db")
        db.row_factory = aiosqlite.Row
        core = library.SqliteEngravaCore(db)
        await core.ensure_schema()
        async with core.suspend_auto_commit():
            for n, text in enumerate(texts):
                thought = library.ThoughtRecord(
                    thought_id=str(n),
                    thought_type=library.ThoughtType.OBSERVATION,
                    essence=text[:200],
                    content=text,
                    lifecycle_status=library.LifecycleStatus.ACTIVE,
                    updated_cycle=0,
                    created_cycle=0,
                    priority=library.Priority.P2,
                    source="human",
                )
                await core.create_thought(thought)
                await core.store_embedding(str(n), vectors[n].tolist(), model_name="given")
        return core

    core = loop.run_until_complete(fill())

    def ask(question: str, vector: Any) -> list[int]:
        search = core.search_hybrid(
            question, vector.tolist(), top_k=HITS, fts_top_k=POOL, vector_top_k=POOL
        )
        return [int(n) for n, _ in loop.run_until_complete(search).results]

    return ask


PEERS: dict[str, Peer] = {
    "memoriter": memoriter,
    "lancedb": lancedb,
    "sqlite-vec": sqlite_vec,
    "fts5": fts5,
    "tantivy": tantivy,
    "chroma": chroma,
    "engrava": engrava,
}


def size_of(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    data: dict[str, list[str]] = json.loads((folder / "texts.json").read_text("utf-8"))
    vectors, asked = np.load(folder / "vectors.npy"), np.load(folder / "asked.npy")
    place = folder / name
    place.mkdir()
    start = time.process_time()
    ask = PEERS[name](place, data["texts"], vectors)
    loaded = time.process_time() - start
    print(json.dumps({"seconds": loaded, "bytes": size_of(place)}), flush=True)
    for line in sys.stdin:
        at = int(line)
        start = time.process_time()
        hits = list(ask(data["questions"][at], asked[at]))
        spent = 1000 * (time.process_time() - start)
        print(json.dumps({"ms": spent, "hits": hits}), flush=True)


if __name__ == "__main__":
    main()
