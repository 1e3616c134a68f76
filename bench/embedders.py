"""What each embedder is worth: the packaged table, MiniLM as it is, the packaged model.

The default recipe on the development sets of `tools/bench_data.py`, none of which was trained on,
and the vectors alone on the scenes that training leaves out (`tools/train/pairs.py`). 95 %
intervals. MiniLM is left out where its packages are not installed (docs/embedders.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from tools.bench_data import MISSING, bench_data
from tools.train.pairs import Scene, scenes

from bench.tools import SHOWN, Options, table
from memoriter.core.errors import MemoriterError
from memoriter.evaluate.data import Dataset
from memoriter.evaluate.find import find_datasets
from memoriter.evaluate.metrics import metrics_of
from memoriter.evaluate.resampling import mean_estimate
from memoriter.evaluate.run import EvalOptions, evaluate
from memoriter.memory.embedders import embedder_of
from memoriter.pipeline.load import recipe_of

NAMES = ("table", "minilm", "memory-en")
SETS = ("everyday", "locomo", "longmemeval", "scifact")


def run(options: Options) -> None:
    if bench_data() is None:
        print(MISSING)
        return
    known = [name for name in NAMES if _installed(name)]
    rows = [
        (dataset.name, name, *_shown(_asked(dataset, name)))
        for dataset in _datasets(SETS[:1] if options.small else SETS)
        for name in known
    ]
    table(["default recipe", "embedder", *SHOWN], rows)
    print()
    held = [scene for scene in scenes() if scene.held]
    some = held[:20] if options.small else held
    rows = [(f"{len(some)} scenes", name, *_shown(_first(some, name))) for name in known]
    table(["vectors alone, within a scene", "embedder", *SHOWN], rows)


def _installed(name: str) -> bool:
    try:
        embedder_of(name)
    except MemoriterError as missing:
        print(f"{name}: {missing.message}")
        return False
    return True


def _datasets(names: Sequence[str]) -> Iterator[Dataset]:
    for name in names:
        place = bench_data(name)
        sets = find_datasets(place) if place else []
        yield from sets[-1:]  # of LongMemEval all questions in one store


def _asked(dataset: Dataset, name: str) -> list[dict[str, float]]:
    (done,) = evaluate(
        dataset,
        {"memoriter": recipe_of("memoriter")},
        lambda answered: None,
        EvalOptions(embedders=(name,)),
    )
    return [
        metrics_of(each.reply.ids, each.question.gold)
        for each in done.outcomes
        if each.question.gold
    ]


def _first(some: Sequence[Scene], name: str) -> list[dict[str, float]]:
    embedder: Any = embedder_of(name)
    zero = np.zeros(embedder.dimension, np.float32)

    def vectors(texts: Sequence[str], side: str) -> np.ndarray:
        return np.array([zero if v is None else v for v in embedder.embed(texts, side)])

    out: list[dict[str, float]] = []
    for scene in some:
        asked = [question for question, _ in scene.answerable]
        near = vectors(asked, "query") @ vectors(scene.memories, "record").T
        for (_, gold), cosines in zip(scene.answerable, near, strict=True):
            ranked = [str(place) for place in np.argsort(-cosines, kind="stable")]
            out.append(metrics_of(ranked, frozenset(map(str, gold))))
    return out


def _shown(rows: Sequence[dict[str, float]]) -> Iterator[str]:
    for metric in SHOWN:
        made = mean_estimate([row[metric] for row in rows])
        assert made is not None
        low, high = 100 * made.low, 100 * made.high
        yield f"{100 * made.value:.1f} [{low:.1f}, {high:.1f}]"
