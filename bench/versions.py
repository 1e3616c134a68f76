"""The CPU of everyday calls on two versions of the package, in turns.

`--before PATH` names another checkout, such as a worktree of an earlier commit; without it this
version runs beside itself, which shows the noise. Each version has a process of its own that
opens its own store of the same texts; call by call the two take turns. Only calls that do the same
work in both versions are here: a recipe of a fixed formula, not the default one, which changes.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.tools import Corpus, Options, folder, table

HERE = Path(__file__).resolve().parent.parent
CALLS = Path(__file__).with_name("version_calls.py")
RECORDS, SMALL = 10_000, 300
TURNS, FEW = 60, 4


def run(options: Options) -> None:
    turns = FEW if options.small else TURNS
    sources = tuple(each / "src" for each in (options.before or HERE, HERE))
    corpus = Corpus()
    material = {
        "records": corpus.records(SMALL if options.small else RECORDS),
        "questions": corpus.questions(turns),
        "more": corpus.records(turns * 102),
    }
    with folder() as place:
        texts = place / "texts.json"
        texts.write_text(json.dumps(material))
        started = [Version(src, place / f"{n}.db", texts) for n, src in enumerate(sources)]
        try:
            spent: dict[str, tuple[list[float], list[float]]] = {
                name: ([], []) for name in started[0].calls()
            }
            for turn in range(turns):
                for at in (0, 1) if turn % 2 else (1, 0):
                    for name, pair in spent.items():
                        pair[at].append(started[at].ask({"call": name, "turn": turn}))
        finally:
            for each in started:
                each.end()
    rows: list[tuple[str, ...]] = []
    for name, (before, now) in spent.items():
        one, two = (1000 * statistics.median(each) for each in (before, now))
        rows.append((name, f"{one:.2f}", f"{two:.2f}", f"{two / one:.2f}"))
    table(["CPU ms, median", "before", "now", "now / before"], rows)


class Version:
    """A process that runs one version; it answers each line with one line."""

    def __init__(self, source: Path, store: Path, texts: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (our own file)
            [sys.executable, CALLS, store, texts],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONPATH": str(source.resolve())},
        )  # fmt: skip
        loaded = self._read()
        if Path(loaded["package"]).resolve().parent.parent != source.resolve():
            raise SystemExit(f"{loaded['package']} was loaded, not {source}: is it a checkout?")
        self._names: list[str] = loaded["calls"]

    def calls(self) -> list[str]:
        return self._names

    def ask(self, request: dict[str, Any]) -> float:
        stdin = self._process.stdin
        assert stdin
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        return self._read()["cpu"]

    def _read(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout
        if line := stdout.readline():
            return json.loads(line)
        raise SystemExit("a version ended; its error is above")

    def end(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
