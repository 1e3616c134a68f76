"""Ranking metrics against known relevant records (gold); every question has the same weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

DEPTH: Final = 20
"""How many hits are requested per question."""
Metric = Callable[[Sequence[str], Collection[str]], float]


def recall_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """The share of the gold records among the first k.

    >>> recall_at(2, ["a", "b", "c"], {"a", "c"})
    0.5
    """
    return len(set(ranked[:k]) & set(gold)) / len(gold)


def hit_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 if any gold record is among the first k, else 0."""
    return float(not set(gold).isdisjoint(ranked[:k]))


def ndcg_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """Normalised discounted cumulative gain with gain 1 per gold record, discount log2(rank + 1).

    Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, 2002.
    """
    gain = math.fsum(_discount(at) for at, name in enumerate(ranked[:k], 1) if name in gold)
    return gain / math.fsum(_discount(at) for at in range(1, min(k, len(gold)) + 1))


def _discount(rank: int) -> float:
    return 1.0 / math.log2(rank + 1)


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / rank of the first gold record, 0 if there is none.

    >>> reciprocal_rank(["a", "b"], {"b"})
    0.5
    """
    return next((1.0 / at for at, name in enumerate(ranked, 1) if name in gold), 0.0)


METRICS: Final[Mapping[str, Metric]] = {
    "R@5": lambda ranked, gold: recall_at(5, ranked, gold),
    "R@10": lambda ranked, gold: recall_at(10, ranked, gold),
    "R@20": lambda ranked, gold: recall_at(20, ranked, gold),
    "hit@10": lambda ranked, gold: hit_at(10, ranked, gold),
    "nDCG@10": lambda ranked, gold: ndcg_at(10, ranked, gold),
    "MRR": lambda ranked, gold: reciprocal_rank(ranked[:DEPTH], gold),
}

MEANING: Final = (
    "R@k: share of the gold records among the first k. hit@k: any of them there. nDCG@k: binary "
    f"gains, log2 discount. MRR: 1 / rank of the first gold record, within {DEPTH}. All are means "
    "over questions."
)


def metrics_of(ranked: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """All metrics of one ranking, by name."""
    return {name: metric(ranked, gold) for name, metric in METRICS.items()}


def mean(scores: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric over questions; empty if there are none."""
    rows = list(scores)
    return {name: math.fsum(row[name] for row in rows) / len(rows) for name in METRICS if rows}
