"""Wall milliseconds of one recall: alone, beside a writer, and beside a writer and merges.

One process: a thread asks, one writes twenty records at a time, and in the last row one forgets an
old record again and again, each time until it is erased, which merges the largest segment anew.
The ratio compares the 99th percentile with that of the first row, in the same run. A wall clock on
a busy machine says little by itself.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import memoriter
from bench.tools import Corpus, Options, folder, table
from memoriter.memory.facade import Memory

BATCH = 20
PAUSE_S = 0.2
"""Between two batches of the writer: a hundred records a second."""


def run(options: Options) -> None:
    rows: list[tuple[str, ...]] = []
    for count in (10_000,) if options.small else (100_000, *options.more):
        rows += _measured(count, 100 if options.small else 300)
    table(["recall", "records", "median ms", "99th %", "ratio", "merges"], rows)


def _measured(count: int, asked: int) -> list[tuple[str, ...]]:
    corpus = Corpus()
    texts, questions = corpus.records(count), corpus.questions(asked)
    more = iter(corpus.records(50_000))
    with folder() as place, memoriter.open(place / "m.db", maintenance="manual") as memory:
        ids = memory.remember_many(texts).ids
        memory.maintain()
        merges = iter(ids)

        def write() -> None:
            memory.remember_many([next(more) for _ in range(BATCH)])
            time.sleep(PAUSE_S)

        def merge() -> None:
            memory.forget(next(merges), now=True)

        for question in questions[:20]:
            memory.recall(question)
        quiet = _asked(memory, questions)
        with _beside(write):
            written = _asked(memory, questions)
        with _beside(write), _beside(merge) as done:
            merged = _asked(memory, questions)
            while not done:
                merged += _asked(memory, questions)
    out: list[tuple[str, ...]] = []
    for name, spent, merges_done in (
        ("alone", quiet, 0),
        ("beside a writer", written, 0),
        ("beside a writer and merges", merged, len(done)),
    ):
        middle, high = _at(spent, 0.5), _at(spent, 0.99)
        ratio = f"{high / _at(quiet, 0.99):.1f}"
        figures = f"{middle:.1f}", f"{high:.1f}", ratio, str(merges_done)
        out.append((name, f"{count:,}", *figures))
    return out


def _asked(memory: Memory, questions: Sequence[str]) -> list[float]:
    """Milliseconds of each recall."""
    spent: list[float] = []
    for question in questions:
        begin = time.perf_counter()
        memory.recall(question)
        spent.append(1000 * (time.perf_counter() - begin))
    return spent


def _at(spent: Sequence[float], share: float) -> float:
    return sorted(spent)[int(share * (len(spent) - 1))]


@contextlib.contextmanager
def _beside(work: Callable[[], None]) -> Iterator[list[int]]:
    """Do some work again and again on a thread; yields a list that grows each time."""
    over, done = threading.Event(), list[int]()

    def again() -> None:
        while not over.is_set():
            work()
            done.append(len(done))

    thread = threading.Thread(target=again)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()
