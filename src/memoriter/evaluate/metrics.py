"""Ranking metrics against known relevant records (gold); every question has the same weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
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


def all_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 if all gold records are among the first k, else 0.

    >>> all_at(2, ["a", "b", "c"], {"a", "b"}), all_at(2, ["a", "b", "c"], {"a", "c"})
    (1.0, 0.0)
    """
    return float(set(gold) <= set(ranked[:k]))


METRICS: Final[Mapping[str, Metric]] = {
    "hit@1": lambda ranked, gold: hit_at(1, ranked, gold),
    "hit@3": lambda ranked, gold: hit_at(3, ranked, gold),
    "hit@10": lambda ranked, gold: hit_at(10, ranked, gold),
    "R@10": lambda ranked, gold: recall_at(10, ranked, gold),
    "R@20": lambda ranked, gold: recall_at(20, ranked, gold),
    "nDCG@10": lambda ranked, gold: ndcg_at(10, ranked, gold),
    "MRR": lambda ranked, gold: reciprocal_rank(ranked[:DEPTH], gold),
    "all@10": lambda ranked, gold: all_at(10, ranked, gold),
}
PRINTED: Final = ("hit@1", "hit@3", "R@10", "nDCG@10", "all@10")
"""The metrics of a printed table, where the protocol has any of them; JSON has all."""
_NEEDS_ALL: Final = frozenset({"list", "twohop"})
"""The types of questions that only all gold records together answer: `all@10` is for them."""

MEANING: Final = (
    "hit@k: any gold record among the first k. R@k: share of the gold records there. nDCG@k: "
    "binary gains, log2 discount. all@k: all of them there, for questions of type list and twohop. "
    f"MRR: 1 / rank of the first gold record, within {DEPTH}. All are means over questions that "
    "can be answered."
)


def metrics_of(
    ranked: Sequence[str], gold: Collection[str], category: str = ""
) -> dict[str, float]:
    """All metrics of one ranking, by name; `all@10` only where the type of question needs it."""
    return {
        name: metric(ranked, gold)
        for name, metric in METRICS.items()
        if name != "all@10" or category in _NEEDS_ALL
    }
