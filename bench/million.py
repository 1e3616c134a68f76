"""A million records: memory while loading and serving, the first recall of a process, disk.

The texts are sentences of the benchmark data, put together anew (`--data` names another file of
JSON lines with a `text`, `--records` another number; `--small` takes 20,000). Loading and serving
are processes of their own. Memory is anonymous memory: mapped files do not count, since the system
may drop them at any time.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from tools.bench_data import MISSING, bench_data

import memoriter
from bench.peers import real_texts
from bench.tools import Options, folder, table
from memoriter.kernel.library import VARIABLE

_BATCH = 20_000
_WORDS = 23
"""Words of a text, about: as many as real ones have."""
_QUESTIONS = 60


def run(options: Options) -> None:
    beside = bench_data("distil")
    source = options.data or (None if beside is None else beside / "texts.jsonl.gz")
    if source is None:
        print(f"{MISSING}; --data names another file")
        return
    for size in options.more or ((20_000,) if options.small else (1_000_000,)):
        with folder() as place:
            loaded = _child("load", place, source, size)
            served = _child("serve", place, source, size)
            by_numpy = _child("serve", place, source, size, kernel="numpy")
            files = [each for each in place.rglob("*") if each.is_file()]
            disk = sum(each.stat().st_size for each in files)
        rows = [
            ("loading, records per CPU second", f"{size / loaded['cpu']:,.0f}"),
            ("loading, peak of anonymous memory", f"{loaded['peak'] / 1e6:,.0f} MB"),
            ("disk: log, index and reserve, bytes a record", f"{disk / size:,.0f}"),
            ("a fresh process, open and first recall, CPU", f"{served['first']:.2f} s"),
            ("recall, median CPU", f"{served['recall']:.1f} ms"),
            ("recall without the native kernel, median CPU", f"{by_numpy['recall']:.1f} ms"),
            ("a misspelt question, recipe `lexical`, median CPU", f"{served['misspelt']:.1f} ms"),
            ("serving, anonymous memory", f"{served['memory'] / 1e6:,.0f} MB"),
        ]
        table([f"{size:,} records", "measured"], rows)
        print()


def _child(
    what: str, place: Path, source: Path, size: int, kernel: str = "auto"
) -> dict[str, float]:
    call = [sys.executable, "-m", "bench.million", what, str(place), str(source), str(size)]
    chosen = {**os.environ, VARIABLE: kernel}
    done = subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True, env=chosen)  # noqa: S603  # our own
    return json.loads(done.stdout)


def _texts(source: Path, seed: int) -> Iterator[str]:
    """Texts without end: sentences of real ones, put together at random."""
    parts = [part for text in islice(real_texts(source), 100_000) for part in text.split(". ")]
    draw = random.Random(seed)  # not for secrets
    while True:
        words: list[str] = []
        while len(words) < _WORDS + 4:
            words += draw.choice(parts).split()
        yield " ".join(words[: _WORDS - 4 + draw.randrange(8)])


def _anonymous() -> int:
    """Bytes of anonymous memory of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


class _Peak(threading.Thread):
    """Watches the memory of this process."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.05):
            self.most = max(self.most, _anonymous())


def _load(place: Path, source: Path, size: int) -> dict[str, float]:
    texts, peak = _texts(source, 1), _Peak()
    next(texts)
    peak.start()
    begin, making = time.process_time(), 0.0
    with memoriter.open(place / "m.db") as memory:
        for at in range(0, size, _BATCH):
            before = time.thread_time()
            batch = list(islice(texts, min(_BATCH, size - at)))
            making += time.thread_time() - before
            memory.remember_many(batch)
            print(f"{at + len(batch):,} of {size:,}", file=sys.stderr)
        memory.maintain()
    peak.over.set()
    return {"cpu": time.process_time() - begin - making, "peak": peak.most}


def _serve(place: Path, source: Path, size: int) -> dict[str, float]:
    del size
    begin = time.process_time()
    with memoriter.open(place / "m.db", read_only=True) as memory:
        memory.recall("which port for ssh?")
        first = time.process_time() - begin
        asked = [" ".join(text.split()[:8]) for text in islice(_texts(source, 2), _QUESTIONS)]
        plain = [_spent(lambda q=query: memory.recall(q)) for query in asked]
        wrong = [_misspelt(query) for query in asked]
        lexical = [_spent(lambda q=query: memory.recall(q, recipe="lexical")) for query in wrong]
        medians = {"recall": statistics.median(plain), "misspelt": statistics.median(lexical)}
        return {"first": first, **medians, "memory": _anonymous()}


def _spent(work: object) -> float:
    begin = time.process_time()
    assert callable(work)
    work()
    return 1000 * (time.process_time() - begin)


def _misspelt(query: str) -> str:
    """The longest word of a query with two letters swapped: no text has it."""
    word = max(query.split(), key=len)
    return f"{word[:2]}{word[3:4]}{word[2:3]}{word[4:]}q"


if __name__ == "__main__":
    act = {"load": _load, "serve": _serve}[sys.argv[1]]
    print(json.dumps(act(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))))
