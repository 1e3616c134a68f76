"""The native kernel beside numpy: the same questions in turn, question by question, in one run.

Each question is asked under both kernels, twice, and the answers must be equal to the last bit.
`once` are questions that nobody asked before, in turns: one at rest, one right after a write, which
reads what it wrote into the index.
The last table has the recalls of a second that one, two and four threads get together, by wall
time; more than one core is needed for more than one. Each thread begins with another question.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import memoriter
from bench.tools import Corpus, Options, folder, profiled, table, timed
from memoriter.kernel.library import VARIABLE, kernel_choice
from memoriter.memory.facade import Memory

RECIPES = ("memoriter", "lexical", "semantic")
THREADS = (1, 2, 4)
Asking = Callable[[str], object]


def run(options: Options) -> None:
    kernels = ("numpy", "native") if _has_native() else ("numpy",)
    if len(kernels) == 1:
        print("memoriter-fast is not installed: pip install ./native\n")
    rows: list[tuple[str, ...]] = []
    together: list[tuple[str, ...]] = []
    for count in (10_000,) if options.small else (10_000, 100_000, *options.more):
        corpus = Corpus()
        texts, questions = corpus.records(count), corpus.questions(60 if options.small else 180)
        with folder() as place, memoriter.open(place / "m.db", maintenance="manual") as memory:
            memory.remember_many([{"text": text} for text in texts])
            memory.maintain()
            rows += _recalls(memory, questions, kernels, count)
            together += _threads(memory, questions[:60], kernels, count)
            with (
                kernel(kernels[-1]),
                profiled(options, f"60 × recall, {kernels[-1]}, {count:,} records"),
            ):
                for question in questions[:60]:
                    memory.recall(question)
    table(["recall", "records", "kernel", "CPU ms", "90th %"], rows)
    print()
    heads = ["recalls a second", "records", *(f"{n} thread{'s' * (n > 1)}" for n in THREADS)]
    table([*heads, f"{THREADS[-1]} against 1"], together)


@contextlib.contextmanager
def kernel(name: str) -> Iterator[None]:
    """Inside, this kernel works."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = name
    kernel_choice.cache_clear()
    try:
        yield
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before
        kernel_choice.cache_clear()


def _has_native() -> bool:
    with kernel("auto"):
        return kernel_choice().name == "native"


def _recalls(
    memory: Memory, questions: Sequence[str], kernels: Sequence[str], count: int
) -> list[tuple[str, ...]]:
    asks: dict[str, Asking] = {name: partial(memory.recall, recipe=name) for name in RECIPES}
    names = (*asks, "memoriter, once", "a write", "… memoriter after it, once")
    out = {(name, each): list[float]() for name in names for each in kernels}
    share = len(questions) // 3
    for question in questions[:share]:
        for name, ask in asks.items():
            answers: list[list[tuple[str, float]]] = []
            for each in kernels:
                with kernel(each):
                    ask(question)  # what is derived once, such as bytes of vectors, is derived
                    made, spent = timed(partial(ask, question))
                answers.append([(hit.id, hit.score) for hit in made])  # pyright: ignore
                out[name, each].append(1000 * spent.cpu)
            assert answers[0] == answers[-1], question
    for nth, each in enumerate(kernels, 1):
        own = questions[nth * share : (nth + 1) * share]
        with kernel(each):
            for rest, after in zip(own[::2], own[1::2], strict=False):
                memory.recall(questions[0])  # so that nothing is left to do after the last write
                calls = (
                    partial(memory.recall, rest),
                    partial(memory.remember, f"A note about {after}."),
                    partial(memory.recall, after),
                )
                for name, call in zip(names[-3:], calls, strict=True):
                    out[name, each].append(1000 * timed(call)[1].cpu)
    return [
        (name, f"{count:,}", each, f"{statistics.median(spent):.1f}", f"{_late(spent):.1f}")
        for (name, each), spent in out.items()
    ]


def _late(spent: Sequence[float]) -> float:
    return sorted(spent)[int(0.9 * (len(spent) - 1))]


def _threads(
    memory: Memory, questions: Sequence[str], kernels: Sequence[str], count: int
) -> list[tuple[str, ...]]:
    out: list[tuple[str, ...]] = []
    for each in kernels:
        rates: dict[int, list[float]] = {readers: [] for readers in THREADS}
        with kernel(each):
            for _ in range(7):  # in turn, so that a busy machine is busy for all of them
                for readers in THREADS:
                    rates[readers].append(_rate(memory, questions, readers))
        usual = {readers: statistics.median(some) for readers, some in rates.items()}
        shown = (f"{rate:.0f}" for rate in usual.values())
        out.append((each, f"{count:,}", *shown, f"{usual[THREADS[-1]] / usual[1]:.2f} ×"))
    return out


def _rate(memory: Memory, questions: Sequence[str], readers: int) -> float:
    """Recalls a second of some threads together, by wall time."""

    def read(first: int) -> None:
        for question in (*questions[first:], *questions[:first]):
            memory.recall(question)

    starts = range(0, len(questions), len(questions) // readers)
    threads = [threading.Thread(target=read, args=(first,)) for first in starts[:readers]]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return readers * len(questions) / (time.perf_counter() - began)
