"""What gets dearer as a store grows? CPU milliseconds of one call at growing sizes, and the ratio.

Versions of one record, tenants in the cache of a process, words of the vocabulary (a misspelt
question), edges of the graph, and a recall right after a write beside one at rest. The last column
is the largest size over the smallest: 1 is flat.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count

from tests.inside import view_of

import memoriter
from bench.tools import Corpus, Options, folder, table
from memoriter.memory.tenants import Tenants

Calls = Mapping[str, Callable[[], object]]
ROUNDS = 15


def run(options: Options) -> None:
    small = options.small
    sizes = (10, 100) if small else (10, 1_000, 10_000)
    _curve("versions of the record", sizes, _versions)
    _curve("tenants in use", (1, 30) if small else (1, 100, 1_000), _tenants)
    _curve("words of the vocabulary", (500, 2_000) if small else (2_000, 20_000, 100_000), _words)
    _curve("edges", (100, 1_000) if small else (1_000, 10_000, 100_000), _edges)
    _curve("records", (100, 500) if small else (1_000, 10_000), _tail)


def _curve(what: str, sizes: Sequence[int], at_size: Callable[[int], Iterator[Calls]]) -> None:
    spent: dict[str, list[float]] = {}
    for size in sizes:
        for calls in at_size(size):
            for name, call in calls.items():
                spent.setdefault(name, []).append(_cpu(call))
    rows = [
        (name, *(f"{ms:.2f}" for ms in each), f"{each[-1] / max(each[0], 1e-6):.1f}×")
        for name, each in spent.items()
    ]
    table([f"CPU ms, by {what}", *(f"{size:,}" for size in sizes), "growth"], rows)
    print()


def _cpu(call: Callable[[], object]) -> float:
    """The median CPU milliseconds of a call, after one that is not counted."""
    call()
    spent: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        spent.append(1000 * (time.process_time() - start))
    return statistics.median(spent)


def _versions(size: int) -> Iterator[Calls]:
    with folder() as place, memoriter.open(place / "m.db", maintenance="manual") as memory:
        memory.remember("the port is 0", id="port")
        number = count(1)
        for _ in range(size - 1):
            memory.update("port", importance=next(number) % 100 / 100)
        memory.recall("port")
        yield {
            "update": lambda: memory.update("port", importance=next(number) % 100 / 100),
            "get": partial(memory.get, "port"),
        }


def _tenants(size: int) -> Iterator[Calls]:
    with folder() as place, Tenants(place / "m.db", maintenance="manual") as tenants:
        for n in range(size):
            memory = tenants.memory(f"t{n}")
            memory.remember("the port is 22")
            memory.recall("port")
        memory = tenants.memory("t0")
        yield {"recall": partial(memory.recall, "port")}


def _words(size: int) -> Iterator[Calls]:
    """Texts of ten words that no other text has, so that the vocabulary grows as told."""
    spelled = (f"{word}{n}" for n, word in enumerate(_spellings(size)))
    texts = [" ".join(some) for some in zip(*[spelled] * 10, strict=False)]
    with folder() as place, memoriter.open(place / "m.db", maintenance="manual") as memory:
        memory.remember_many([*texts, "kubernetes upgrade"])
        memory.maintain()
        assert memory.recall("kubernets", recipe="lexical")
        yield {"misspelt question": partial(memory.recall, "kubernets", recipe="lexical")}


def _spellings(size: int) -> Iterator[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    for n in range(size):
        yield "".join(letters[(n * step + step) % 26] for step in (1, 7, 11, 17, 23, 5))


def _edges(size: int) -> Iterator[Calls]:
    nodes = max(size // 10, 20)
    with (
        folder() as place,
        memoriter.open(place / "m.db", embedder=None, maintenance="manual") as memory,
    ):
        memory.remember_many([{"text": f"note {n}", "id": f"n{n}"} for n in range(nodes)])
        memory.remember_many(
            {
                "text": f"link {n}",
                "links": [
                    {"target": f"n{(n * 10 + at) % nodes}", "kind": "related_to"}
                    for at in range(10)
                ],
            }
            for n in range(size // 10)
        )
        memory.maintain()
        number = count()

        def linked(weight: float, target: int) -> int:
            memory.link("n0", f"n{target}", "grown", weight=weight)
            return view_of(memory).graph.adjacency.to.size

        _ = view_of(memory).graph.adjacency.to.size
        yield {
            "a new edge, and the graph": lambda: linked(1.0, 1 + next(number)),
            "an edge that replaces one": lambda: linked(next(number) % 50 / 50, 1),
        }


def _tail(size: int) -> Iterator[Calls]:
    corpus = Corpus()
    questions = corpus.questions(ROUNDS + 1)
    with folder() as place, memoriter.open(place / "m.db", maintenance="manual") as memory:
        memory.remember_many(corpus.records(size))
        memory.maintain()
        at = count()

        def after_write() -> object:
            memory.remember("a note that came just now")
            return memory.recall(questions[next(at) % len(questions)])

        rest = count()
        yield {
            "recall at rest": lambda: memory.recall(questions[next(rest) % len(questions)]),
            "remember": lambda: memory.remember("a note that came just now"),
            "remember, then recall": after_write,
        }
