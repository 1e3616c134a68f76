"""Loading, size and CPU per question beside what one would take instead, on real texts.

LanceDB, sqlite-vec with FTS5, FTS5 and tantivy alone, Chroma and engrava are installed from the
package index into an environment of their own, or into the one that MEMORITER_PEERS_VENV names. All
get the same texts and the vectors of our packaged embedder, except ours, which embeds by itself.
Questions go to all of them in turns, ten at a time: whoever has waited for the others finds cold
caches and a slow clock, so the first of each ten has a column of its own. One that does not install
or fails is left out and named.
`--records` takes another number of texts, `--data` another file of JSON lines with a `text`. The
chart `docs/images/peers.svg` is drawn from the same run.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import subprocess
import sys
import venv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tools.bench_data import MISSING, bench_data

from bench.tools import Options, folder, table
from memoriter.embed.static import Static

PACKAGES = {
    "lancedb": ("lancedb",),
    "sqlite-vec": ("sqlite-vec", "apsw"),
    "fts5": (),
    "tantivy": ("tantivy",),
    "chroma": ("chromadb",),
    "engrava": ("engrava==0.7.2",),
}
KINDS = {
    "memoriter": "hybrid",
    "lancedb": "hybrid",
    "sqlite-vec": "hybrid",
    "fts5": "words only",
    "tantivy": "words only",
    "chroma": "vectors only",
    "engrava": "hybrid",
}
SLOW = ("engrava", "chroma")
"""Those that take more than ten minutes to load 100,000 texts."""
WORDS = 8
IN_A_ROW = 10
SCRIPT = Path(__file__).with_name("peer_programs.py")
CHART = Path(__file__).parents[1] / "docs" / "images" / "peers.svg"


class Measured(NamedTuple):
    """What a program took."""

    name: str
    per_second: float
    per_record: float
    ms: list[float]
    after_pause: list[float]


def run(options: Options) -> None:
    beside = bench_data("distil")
    source = options.data or (None if beside is None else beside / "texts.jsonl.gz")
    if source is None:
        print(f"{MISSING}; --data names another file")
        return
    sizes = options.more or ((1_000,) if options.small else (10_000,))
    with folder() as place:
        pythons = _installed(Path(os.environ.get("MEMORITER_PEERS_VENV", place / "venv")))
        for size in sizes:
            texts = list(islice(real_texts(source), size + 250))
            questions = [" ".join(each.split()[:WORDS]) for each in texts[size:]]
            here = place / str(size)
            here.mkdir()
            _written(here, texts[:size], questions[: 20 if options.small else 200])
            measured = list(_measured(here, pythons, size))
            _shown(measured, size)
            if not options.small:
                CHART.write_text(chart(measured, size), encoding="utf-8")


def real_texts(source: Path) -> Iterator[str]:
    """Texts of at least eight words."""
    opened = gzip.open if source.suffix == ".gz" else open
    with opened(source, "rt", encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["text"]
            if len(text.split()) >= WORDS:
                yield text


def _written(place: Path, texts: list[str], questions: list[str]) -> None:
    data = json.dumps({"texts": texts, "questions": questions})
    (place / "texts.json").write_text(data, encoding="utf-8")
    np.save(place / "vectors.npy", _embedded(texts))
    np.save(place / "asked.npy", _embedded(questions))


def _embedded(texts: list[str]) -> Any:
    nothing = np.zeros(Static().dimension, np.float32)
    made = Static().embed(texts, "record")
    return np.stack([nothing if vector is None else vector for vector in made])


def _installed(place: Path) -> dict[str, Path]:
    """The interpreter of each program that could be installed; ours has this one."""
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
    out = {"memoriter": Path(sys.executable)}
    for name, packages in PACKAGES.items():
        call = [str(python), "-m", "pip", "install", "-q", "numpy", *packages]
        done = subprocess.run(call, check=False, capture_output=True, text=True)  # noqa: S603  # names of ours
        if done.returncode:
            print(f"{name} is left out, pip says: {done.stderr.strip()[-200:]}")
        else:
            out[name] = python
    return out


def _measured(place: Path, pythons: dict[str, Path], size: int) -> Iterator[Measured]:
    """Load one program after the other, then ask all of them in turns."""
    running: dict[str, subprocess.Popen[str]] = {}
    loaded: dict[str, dict[str, float]] = {}
    for name, python in pythons.items():
        if name in SLOW and size > 20_000:
            print(f"{name} is left out at {size:,} records: it loads too slowly")
            continue
        process = subprocess.Popen(  # noqa: S603  # our own script
            [str(python), "-P", str(SCRIPT), name, str(place)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            print(f"{name} is left out: it ended with {process.wait()}")
            continue
        running[name], loaded[name] = process, json.loads(line)
    spent: dict[str, list[float]] = {name: [] for name in running}
    questions = len(json.loads((place / "texts.json").read_text("utf-8"))["questions"])
    for start in range(0, questions, IN_A_ROW):
        for name, process in list(running.items()):
            answers = [_asked(process, at) for at in range(start, start + IN_A_ROW)]
            spent[name] += [each["ms"] for each in answers if each is not None]
            if None in answers:
                print(f"{name} is left out: it gave no answer")
                del running[name]
    for name, process in running.items():
        process.terminate()
        process.wait()
        each = loaded[name]
        ms = spent[name][IN_A_ROW:]  # the first questions load what is loaded once
        paused = ms[::IN_A_ROW]
        del ms[::IN_A_ROW]
        yield Measured(name, size / each["seconds"], each["bytes"] / size, ms, paused)


def _asked(process: subprocess.Popen[str], at: int) -> dict[str, Any] | None:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(f"{at}\n")
        process.stdin.flush()
    except OSError:
        return None
    line = process.stdout.readline()
    return json.loads(line) if line else None


def _shown(measured: list[Measured], size: int) -> None:
    rows = [
        (
            f"{each.name}, {KINDS[each.name]}",
            f"{each.per_second:,.0f}",
            f"{each.per_record:,.0f}",
            f"{statistics.median(each.ms):.2f}",
            f"{sorted(each.ms)[int(0.9 * (len(each.ms) - 1))]:.2f}",
            f"{statistics.median(each.after_pause):.2f}",
        )
        for each in measured
    ]
    heads = [
        "records per CPU second",
        "bytes a record",
        "p50 CPU ms",
        "p90 CPU ms",
        "after a pause",
    ]
    table([f"{size:,} real texts", *heads], rows)
    print()


def chart(measured: list[Measured], size: int) -> str:
    """Bars of the median CPU of a question, on a logarithmic scale, as SVG."""
    wide, high, left, full = 720, 30, 210, 420
    times = {each.name: statistics.median(each.ms) for each in measured}
    least, most = min(times.values()) / 2, max(times.values())
    span = np.log(most / least)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high * len(times) + 50}" '
        'font-family="sans-serif" font-size="14">',
        f"<title>CPU milliseconds of one question over {size:,} real texts</title>",
        f'<text x="10" y="22">CPU ms of a question, {size:,} real texts (logarithmic)</text>',
    ]
    for at, (name, ms) in enumerate(sorted(times.items(), key=lambda each: each[1])):
        y, length = 36 + high * at, full * float(np.log(ms / least) / span)
        colour = "#2a6f97" if name == "memoriter" else "#a9b4bd"
        lines += [
            f'<text x="10" y="{y + 15}">{name}, {KINDS[name]}</text>',
            f'<rect x="{left}" y="{y}" width="{length:.0f}" height="20" fill="{colour}"/>',
            f'<text x="{left + length + 8:.0f}" y="{y + 15}">{ms:.2f}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])
