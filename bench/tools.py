"""What every bench needs: clocks, a corpus, a table, what was running."""

from __future__ import annotations

import contextlib
import cProfile
import io
import os
import platform
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path
from typing import TypeVar

import apsw
import numpy as np

import memoriter
from memoriter.evaluate.metrics import metrics_of

T = TypeVar("T")
SHOWN = ("hit@1", "hit@3", "R@10", "nDCG@10")
"""The metrics of a ranking that are printed."""
BATCH = 1000
"""Records per transaction, as `remember_many` has it, for peers to do the same."""


@dataclass(frozen=True)
class Options:
    small: bool
    profile: bool
    more: tuple[int, ...] = ()
    """Further sizes to measure, in records."""
    data: Path | None = None
    """The data set to take."""
    before: Path | None = None
    """Another checkout of this repository."""


@dataclass(frozen=True)
class Spent:
    wall: float
    cpu: float

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.cpu + other.cpu)


def timed(work: Callable[[], T]) -> tuple[T, Spent]:
    """Wall and CPU seconds, the CPU of all threads of this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    done = work()
    return done, Spent(time.perf_counter() - wall, time.process_time() - cpu)


def median(spent: Sequence[Spent]) -> Spent:
    return Spent(
        statistics.median(each.wall for each in spent),
        statistics.median(each.cpu for each in spent),
    )


def header(command: Sequence[str]) -> str:
    names = ("numpy", "PyStemmer", "pydantic")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in names)
    return (
        f"$ {' '.join(command)}\n"
        f"memoriter {memoriter.__version__}, Python {platform.python_version()}, {versions}, "
        f"apsw {apsw.apsw_version()}, SQLite {apsw.sqlite_lib_version()}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs"
    )


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Markdown, so that it can be pasted; the first column to the left, numbers to the right."""
    cells = [[str(cell) for cell in row] for row in (heads, *rows)]
    wide = [max(len(row[at]) for row in cells) for at in range(len(heads))]
    rule = ["-" * wide[0], *("-" * (width - 1) + ":" for width in wide[1:])]
    for row in (cells[0], rule, *cells[1:]):
        first, *rest = [(cell, width) for cell, width in zip(row, wide, strict=True)]
        padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
        print("| " + " | ".join(padded) + " |")
    sys.stdout.flush()


def figures(answers: Iterable[tuple[Sequence[str], Collection[str]]]) -> list[str]:
    """The means of the shown metrics over answers (ids, gold), in percent; those without gold are
    left out.
    """
    made = [metrics_of(ids, gold) for ids, gold in answers if gold]
    if not made:
        return ["–"] * len(SHOWN)
    return [f"{100 * sum(each[name] for each in made) / len(made):.1f}" for name in SHOWN]


@contextlib.contextmanager
def profiled(options: Options, label: str) -> Iterator[None]:
    """With --profile, the functions that take the most time themselves."""
    if not options.profile:
        yield
        return
    watch = cProfile.Profile()
    with watch:
        yield
    text = io.StringIO()
    pstats.Stats(watch, stream=text).strip_dirs().sort_stats("tottime").print_stats(25)
    print(f"\n{label}, under cProfile (slower than it is):\n{text.getvalue().strip()}")


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="memoriter-bench-") as name:
        yield Path(name)


class Corpus:
    """Synthetic English: real words by Zipf's law, the same for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        table = resources.files("memoriter.embed") / "static_en" / "vocab.txt"
        words = table.read_text(encoding="utf-8").split("\n")
        self._words = np.array([w for w in words if w.isalpha() and w.isascii() and len(w) > 1])
        weights = 1.0 / (np.arange(self._words.size) + 2.7)
        self._up_to = np.cumsum(weights / weights.sum())
        self._random = np.random.default_rng(seed)

    def _drawn(self, lengths: Sequence[int]) -> list[str]:
        at = np.searchsorted(self._up_to, self._random.random(sum(lengths)))
        words = iter(self._words[np.minimum(at, self._words.size - 1)].tolist())
        return [" ".join(next(words) for _ in range(length)) for length in lengths]

    def records(self, count: int, long: float = 0.0) -> list[str]:
        """Texts of 15 to 35 words, 25 in the mean; a share of them long, of 150 words."""
        lengths = self._random.integers(15, 36, count)
        lengths[self._random.random(count) < long] = 150
        return self._drawn(lengths.tolist())

    def questions(self, count: int) -> list[str]:
        """Questions of 8 to 12 words."""
        return self._drawn(self._random.integers(8, 13, count).tolist())


def bare(path: Path) -> apsw.Connection:
    """The peer of a write: SQLite as safe as ours, and nothing else."""
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", 2)
    connection.execute("CREATE TABLE bodies (row INTEGER PRIMARY KEY, body BLOB) STRICT")
    return connection
