"""The word lane against SQLite FTS5 and tantivy: questions of 8 to 12 words, the best 50 records.

Each engine gets the same texts (15 to 35 words, every tenth 150) and the same questions, all words
joined by OR, and answers with ids and scores; no text is read. Ours counts reading the question,
selecting by tenant, and the exact top 50. With tantivy the default tokenizer, one merged segment.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

import apsw
from tests.inside import engine_of, query_of

import memoriter
from bench.tools import Corpus, Options, folder, profiled, table, timed
from memoriter.core.ranking import Ranking
from memoriter.memory.facade import Memory
from memoriter.memory.search import bind_query
from memoriter.pipeline.load import overridden, recipe_of

TOP = 50
Asking = Callable[[str], object]


def run(options: Options) -> None:
    rows: list[tuple[str, ...]] = []
    for count in (10_000,) if options.small else (10_000, 100_000, *options.more):
        rows += _measured(count, options)
    table(["words, best 50", "records", "CPU ms", "90th %", "against ours"], rows)


def _measured(count: int, options: Options) -> list[tuple[str, ...]]:
    corpus = Corpus()
    texts = corpus.records(count, long=0.1)
    questions = corpus.questions(20 if options.small else 100)
    out: dict[str, list[float]] = {}
    with folder() as place:
        with _ours(place, texts) as memory:
            lane = _lane(memory)
            out["memoriter"] = _times(lane, questions)
            out["… of a tenth of a percent"] = _times(_lane(memory, {"session": "rare"}), questions)
            out["… of one percent"] = _times(_lane(memory, {"session": "some"}), questions)
            with profiled(options, f"{len(questions)} × word lane, {count:,} records"):
                for question in questions:
                    lane(question)
        with memoriter.open(place / "m.db", embedder=None) as memory:
            _, spent = timed(lambda: _lane(memory)(questions[0]))
            out["opening and the first question"] = [1000 * spent.cpu]
        out["SQLite FTS5"] = _times(_fts5(place, texts), questions[:20])
        if (peer := _tantivy(place, texts)) is not None:
            out["tantivy"] = _times(peer, questions)
    base = statistics.median(out["memoriter"])
    return [
        (
            name,
            f"{count:,}",
            f"{statistics.median(spent):.2f}",
            f"{sorted(spent)[int(0.9 * (len(spent) - 1))]:.2f}",
            f"{statistics.median(spent) / base:.2f}×",
        )
        for name, spent in out.items()
    ]


def _times(ask: Asking, questions: list[str]) -> list[float]:
    for question in questions[:5]:
        ask(question)
    return [1000 * timed(lambda q=question: ask(q))[1].cpu for question in questions]


def _ours(place: Path, texts: list[str]) -> Memory:
    memory = memoriter.open(place / "m.db", embedder=None, maintenance="manual")
    memory.remember_many(
        {"text": text, "session": "some" if n % 100 == 0 else "rare" if n % 1000 == 1 else "most"}
        for n, text in enumerate(texts)
    )
    memory.maintain()
    return memory


def _lane(memory: Memory, where: dict[str, str] | None = None) -> Callable[[str], Ranking]:
    """The word lane of our default recipe with a pool of 50, and nothing above it."""
    engine = engine_of(memory)  # what recall itself uses
    changed = {"lanes.words.pool": TOP, "lanes.words.ladder": False}
    recipe = overridden(recipe_of("lexical"), changed)

    def ask(question: str) -> Ranking:
        query, _ = query_of(memory, question, TOP, {"where": where} if where else {})
        return recipe.lanes["words"].rank(bind_query(engine, query, recipe))

    return ask


def _fts5(place: Path, texts: list[str]) -> Asking:
    db = apsw.Connection(str(place / "fts5.db"))
    db.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61', content='')")
    with db:
        db.executemany("INSERT INTO t (rowid, text) VALUES (?,?)", enumerate(texts, 1))
    db.execute("INSERT INTO t (t) VALUES ('optimize')")
    sql = "SELECT rowid, rank FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?"
    return lambda question: db.execute(sql, (" OR ".join(question.split()), TOP)).fetchall()


def _tantivy(place: Path, texts: list[str]) -> Asking | None:
    try:
        import tantivy  # noqa: PLC0415  # pyright: ignore[reportMissingImports]  # a peer, not a dependency
    except ImportError:
        print("tantivy is not installed: no comparison with it (pip install tantivy)\n")
        return None
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="en_stem")
    builder.add_integer_field("row", stored=False, fast=True)
    (place / "tantivy").mkdir()
    index = tantivy.Index(builder.build(), path=str(place / "tantivy"))
    writer = index.writer(heap_size=200_000_000, num_threads=1)
    for row, text in enumerate(texts):
        writer.add_document(tantivy.Document(text=text, row=row))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    return lambda question: searcher.search(index.parse_query(question, ["text"]), TOP).hits
