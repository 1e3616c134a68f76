"""Recalls beside those of another checkout of this repository, question by question, in one run.

`--before PATH` names the other checkout, such as a worktree of the commit before. Both read one
store of real texts; answers and receipts must be equal to the last bit. Its native kernel is built
into a temporary place, with the C compiler.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from itertools import islice
from pathlib import Path

from tools.bench_data import MISSING, bench_data

import memoriter
from bench.peers import WORDS, real_texts
from bench.tools import Options, folder, table

RECIPES = ("memoriter", "lexical", "semantic")
HERE = Path(__file__).parents[1]
WORKER = """
import json, sys, time, memoriter
questions = json.load(open(sys.argv[2]))
with memoriter.open(sys.argv[1], maintenance="manual") as memory:
    for line in sys.stdin:
        at, recipe = json.loads(line)
        began = time.process_time()
        made = memory.recall(questions[at], recipe=recipe, now="2026-01-01")
        spent = 1000 * (time.process_time() - began)
        hits = [(hit.id, hit.score) for hit in made]
        print(json.dumps([spent, hits, made.receipt.digest]), flush=True)
"""


def run(options: Options) -> None:
    source = bench_data("distil")
    if source is None or options.before is None:
        print(MISSING if source is None else "--before names another checkout of this repository")
        return
    for size in options.more or (1_000 if options.small else 10_000,):
        with folder() as place:
            texts = list(islice(real_texts(source / "texts.jsonl.gz"), size + 100))
            questions = [" ".join(each.split()[:WORDS]) for each in texts[size:]]
            (place / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
            with memoriter.open(place / "m.db", maintenance="manual") as memory:
                memory.remember_many([{"text": text} for text in texts[:size]])
                memory.maintain()
            _compare(place, options.before.resolve(), 10 if options.small else 40, size)


def _compare(place: Path, other: Path, count: int, size: int) -> None:
    trees = {"before": (other, _built(other, place / "before")), "now": (HERE, None)}
    running = {
        (when, kernel): _started(place, tree, fast, kernel)
        for when, (tree, fast) in trees.items()
        for kernel in ("numpy", "native")
    }
    rows: list[tuple[str, ...]] = []
    for recipe in RECIPES:
        spent: dict[tuple[str, str], list[float]] = {key: [] for key in running}
        for at in range(count):
            order = list(running.items())
            answers: list[object] = []
            for key, process in order if at % 2 else order[::-1]:
                ms, answer = _asked(process, at, recipe)
                spent[key].append(ms)
                answers.append(answer)
            assert all(answer == answers[0] for answer in answers), (recipe, at)
        for kernel in ("numpy", "native"):
            # The first questions load what is loaded once.
            was, now = (spent[when, kernel][3:] for when in ("before", "now"))
            ratio = statistics.median(b / a for a, b in zip(was, now, strict=True))
            figures = (f"{statistics.median(each):.1f}" for each in (was, now))
            rows.append((recipe, f"{size:,}", kernel, *figures, f"{ratio:.2f} ×"))
    for process in running.values():
        process.terminate()
        process.wait()
    table(["recall", "records", "kernel", "before, CPU ms", "now", "now against before"], rows)


def _built(tree: Path, place: Path) -> Path:
    """Where the native kernel of a checkout was built."""
    how = ("--no-deps", "--no-index", "--no-build-isolation", "--target", str(place))
    call = [sys.executable, "-m", "pip", "install", "-q", *how, str(tree / "native")]
    subprocess.run(call, check=True)  # noqa: S603  # the checkout that the caller names
    return place


def _started(place: Path, tree: Path, fast: Path | None, kernel: str) -> subprocess.Popen[str]:
    paths = [str(tree / "src"), *([] if fast is None else [str(fast)])]
    chosen = {"PYTHONPATH": os.pathsep.join(paths), "MEMORITER_KERNEL": kernel}
    return subprocess.Popen(  # noqa: S603  # our own script
        [sys.executable, "-c", WORKER, str(place / "m.db"), str(place / "questions.json")],
        env={**os.environ, **chosen}, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip


def _asked(process: subprocess.Popen[str], at: int, recipe: str) -> tuple[float, object]:
    """(CPU milliseconds, hits and digest of the receipt)."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps([at, recipe]) + "\n")
    process.stdin.flush()
    ms, *answer = json.loads(process.stdout.readline())
    return ms, answer
