"""What a model is worth by its vectors alone: the development sets, none of which is trained on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from memoriter.evaluate.data import EvalCase
from memoriter.evaluate.find import find_datasets
from memoriter.evaluate.metrics import hit_at, ndcg_at, recall_at
from tools.bench_data import bench_data
from tools.train.pairs import Scene

Row = tuple[float, float, float, float]
Embed = Callable[[Sequence[str]], np.ndarray]
QUICK: Final = ("everyday", "locomo")
ALL: Final = ("everyday", "locomo", "longmemeval", "scifact")
SERIES: Final = {
    1: {"personal", "software", "organisations", "conversations"},
    2: {"mixed-up-life", "changes-and-lists", "software-logs", "passages", "long-friendships",
        "user-and-assistant", "organisations-hard", "short-and-odd"},
}  # fmt: skip


class Figures(NamedTuple):
    """Means over the questions of a set."""

    name: str
    hit1: float
    hit3: float
    recall: float
    ndcg: float
    seconds: float

    def __str__(self) -> str:
        numbers = " / ".join(f"{100 * each:.1f}" for each in self[1:5])
        return f"{self.name:28} {numbers}   ({self.seconds:.0f} s)"


def _figures(name: str, rows: Sequence[Row], seconds: float) -> Figures:
    hit1, hit3, recall, ndcg = np.mean(rows, axis=0).tolist()
    return Figures(name, hit1, hit3, recall, ndcg, seconds)


def _case(case: EvalCase, embed: Embed) -> Iterator[Row]:
    texts = [f"{r.title}\n{r.text}" if r.title else r.text for r in case.records]
    ids = [record.id for record in case.records]
    asked = [each for each in case.questions if each.gold]
    near = embed([each.text for each in asked]) @ embed(texts).T
    created = np.array([record.created or 0 for record in case.records])
    for question, row in zip(asked, near, strict=True):
        if case.replay and question.now is not None:
            row[created > question.now] = -2.0
        best = (
            np.argpartition(-row, min(10, row.size - 1))[:10]
            if row.size > 10
            else np.arange(row.size)
        )
        ranked = [ids[at] for at in best[np.argsort(-row[best], kind="stable")]]
        gold = question.gold
        yield (
            hit_at(1, ranked, gold),
            hit_at(3, ranked, gold),
            recall_at(10, ranked, gold),
            ndcg_at(10, ranked, gold),
        )


def measured(embed: Embed, names: Sequence[str] = QUICK) -> Iterator[Figures]:
    """Hit@1, hit@3, R@10 and nDCG@10 of each public or everyday set."""
    for name in names:
        place = bench_data(name)
        for dataset in find_datasets(place) if place else ():
            if name == "longmemeval" and "pooled" not in dataset.name:
                continue
            began = time.process_time()
            rows = [row for case in dataset.cases for row in _case(case, embed)]
            yield _figures(dataset.name, rows, time.process_time() - began)


def first_of_scene(embed: Embed, scenes: Sequence[Scene]) -> Iterator[Figures]:
    """The same within each scene, by series and for all; its recall is R@3."""
    by_series: dict[int, list[Row]] = {1: [], 2: [], 3: []}
    began = time.process_time()
    for scene in scenes:
        case = [str(at) for at in range(len(scene.memories))]
        near = embed([question for question, _ in scene.answerable]) @ embed(scene.memories).T
        series = next((number for number, files in SERIES.items() if scene.file in files), 3)
        for (_, gold), row in zip(scene.answerable, near, strict=True):
            ranked = [case[at] for at in np.argsort(-row, kind="stable")]
            wanted = frozenset(str(at) for at in gold)
            by_series[series].append(
                (
                    hit_at(1, ranked, wanted),
                    hit_at(3, ranked, wanted),
                    recall_at(3, ranked, wanted),
                    ndcg_at(10, ranked, wanted),
                )
            )
    spent = time.process_time() - began
    for number, rows in by_series.items():
        if rows:
            yield _figures(f"pairs-dev, series {number} ({len(rows)})", rows, spent)
    whole = [row for rows in by_series.values() for row in rows]
    if whole:
        yield _figures(f"pairs-dev, all ({len(whole)})", whole, spent)
