"""One durable `remember`, against a bare SQLite commit of the same bytes (row 5: + 1 ms CPU)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import apsw

import memoriter
from bench.tools import Corpus, Options, Spent, bare, folder, median, profiled, table, timed

EMBEDDERS = {"no embedder": None, "packaged embedder": "table"}


def run(options: Options) -> None:
    count = 50 if options.small else 300
    texts = Corpus().records(count)
    rows: list[tuple[str, ...]] = []
    for label, embedder in EMBEDDERS.items():
        ours, theirs, size = _interleaved(texts, embedder)
        cpu, wall = 1000 * (ours.cpu - theirs.cpu), 1000 * (ours.wall - theirs.wall)
        rows.append((f"remember, {label}", _ms(ours.cpu), _ms(ours.wall), f"{size:.0f}"))
        rows.append(("  bare commit of the same bytes", _ms(theirs.cpu), _ms(theirs.wall), ""))
        rows.append(("  difference", f"{cpu:+.2f}", f"{wall:+.2f}", ""))
    table([f"median of {count}, interleaved", "CPU ms", "wall ms", "bytes"], rows)
    with folder() as place, memoriter.open(place / "p.db") as memory:
        memory.remember("warm")
        with profiled(options, f"{count} × remember, packaged embedder"):
            for text in texts:
                memory.remember(text)


def _interleaved(texts: list[str], embedder: str | None) -> tuple[Spent, Spent, float]:
    with folder() as place:
        sizes = _sizes(place / "sizes.db", texts, embedder)
        peer = bare(place / "bare.db")
        ours: list[Spent] = []
        theirs: list[Spent] = []
        with memoriter.open(place / "ours.db", embedder=embedder) as memory:
            memory.remember("warm")
            for text, size in zip(texts, sizes, strict=True):
                ours.append(timed(partial(memory.remember, text))[1])
                body = b"x" * size
                theirs.append(timed(partial(_commit, peer, body))[1])
        peer.close()
        return median(ours), median(theirs), sum(sizes) / len(sizes)


def _commit(peer: apsw.Connection, body: bytes) -> None:
    peer.execute("BEGIN IMMEDIATE")
    peer.execute("INSERT INTO bodies (body) VALUES (?)", (body,))
    peer.execute("COMMIT")


def _sizes(path: Path, texts: list[str], embedder: str | None) -> list[int]:
    """Bytes of body, words and vector that the store keeps for each text."""
    with memoriter.open(path, embedder=embedder) as memory:
        memory.remember_many(texts)
    sql = (
        "SELECT length(r.body) + coalesce((SELECT sum(length(w.body)) FROM words w "
        "WHERE w.tenant = r.tenant AND w.row = r.row), 0) + coalesce((SELECT sum(length(v.body)) "
        "FROM vectors v WHERE v.tenant = r.tenant AND v.row = r.row), 0) FROM records r "
        "ORDER BY r.row"
    )
    connection = apsw.Connection(str(path))
    try:
        return [size for (size,) in connection.execute(sql)]
    finally:
        connection.close()


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2f}"
