"""`remember_many`, words indexed (row 3: at least 5,000 records/s, row 4 with vectors: 3,000)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import memoriter
from bench.tools import (
    BATCH,
    Corpus,
    Options,
    Spent,
    bare,
    folder,
    median,
    profiled,
    table,
    timed,
)

EMBEDDERS = {"no embedder": None, "packaged embedder": "table"}


def run(options: Options) -> None:
    count, rounds = (2_000, 1) if options.small else (20_000, 3)
    texts = Corpus().records(count)
    _warm(texts)
    spent: dict[str, list[Spent]] = {}
    for _ in range(rounds):
        for label, embedder in EMBEDDERS.items():
            with folder() as place:
                written, until_found = _ours(place / "m.db", texts, embedder)
            spent.setdefault(f"remember_many, {label}", []).append(written)
            spent.setdefault(f"… until a recall sees them, {label}", []).append(
                written + until_found
            )
        with folder() as place:
            spent.setdefault("bare executemany of the same texts", []).append(
                _peer(place / "bare.db", texts)
            )
    middle = {label: median(times) for label, times in spent.items()}
    rows = [
        (label, _rate(count, each.wall), _rate(count, each.cpu)) for label, each in middle.items()
    ]
    table([f"{count:,} records, median of {rounds}", "records/s wall", "per CPU s"], rows)
    for label, embedder in EMBEDDERS.items() if options.profile else ():
        with (
            folder() as place,
            memoriter.open(place / "p.db", embedder=embedder, maintenance="manual") as memory,
        ):
            with profiled(options, f"remember_many, {label}"):
                memory.remember_many(texts)
            with profiled(options, f"first recall after it, {label}"):
                memory.recall(texts[-1])


def _warm(texts: list[str]) -> None:
    """Load the table and the modules before anything is timed."""
    with memoriter.open() as memory:
        memory.remember_many(texts[:100])
        memory.recall(texts[0])


def _ours(path: Path, texts: list[str], embedder: str | None) -> tuple[Spent, Spent]:
    """(time of writing, time from then until the last record was found)."""
    with memoriter.open(path, embedder=embedder) as memory:
        _, written = timed(partial(memory.remember_many, texts))
        answer, until_found = timed(partial(memory.recall, texts[-1], recipe="lexical"))
        assert answer[0].record.text == texts[-1]
    return written, until_found


def _peer(path: Path, texts: list[str]) -> Spent:
    connection = bare(path)

    def write() -> None:
        for at in range(0, len(texts), BATCH):
            connection.execute("BEGIN IMMEDIATE")
            bodies = [(text.encode(),) for text in texts[at : at + BATCH]]
            connection.executemany("INSERT INTO bodies (body) VALUES (?)", bodies)
            connection.execute("COMMIT")

    _, spent = timed(write)
    connection.close()
    return spent


def _rate(count: int, seconds: float) -> str:
    return f"{count / seconds:,.0f}"
